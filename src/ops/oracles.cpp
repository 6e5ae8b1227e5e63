#include "ops/act_quant/oracle/oracle.hpp"
#include "ops/attention/oracle/oracle.hpp"
#include "ops/expert_layer/oracle/oracle.hpp"
#include "ops/flash_decode/oracle/oracle.hpp"
#include "ops/fp8_gemm/oracle/oracle.hpp"
#include "ops/merge_attention/oracle/oracle.hpp"
#include "ops/quantize_copy_kv/oracle/oracle.hpp"
#include "ops/silu_mul_quant/oracle/oracle.hpp"
#include "ops/sin/oracle/oracle.hpp"
#include "ops/weight_dequant/oracle/oracle.hpp"
#include "ops/weight_quant/oracle/oracle.hpp"
#include "oracle/oracle.hpp"

namespace isomer::oracle {

const std::vector<Oracle>& oracles() {
  static const std::vector<Oracle> list = {
      ops::sin::oracle(),
      ops::act_quant::oracle(),
      ops::silu_mul_quant::oracle(),
      ops::weight_dequant::oracle(),
      ops::weight_quant::oracle(),
      ops::fp8_gemm::oracle(),
      ops::fp8_gemm::grouped_oracle(),
      ops::fp8_gemm::linear_oracle(),
      ops::expert_layer::oracle(),
      ops::quantize_copy_kv::oracle(),
      ops::flash_decode::oracle(),
      ops::flash_decode::stage1::oracle(),
      ops::flash_decode::stage2::oracle(),
      ops::attention::oracle(),
      ops::merge_attention::oracle(),
  };
  return list;
}

}  // namespace isomer::oracle
