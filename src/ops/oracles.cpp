#include "core/oracle/oracle.hpp"
#include "ops/act_quant/oracle.hpp"
#include "ops/attention/oracle.hpp"
#include "ops/flash_decode/oracle.hpp"
#include "ops/fp8_gemm/oracle.hpp"
#include "ops/merge_attention/oracle.hpp"
#include "ops/quantize_copy_kv/oracle.hpp"
#include "ops/sin/oracle.hpp"
#include "ops/weight_dequant/oracle.hpp"

namespace isomer::core {

const std::vector<Oracle>& oracles() {
  static const std::vector<Oracle> list = {
      ops::sin::oracle(),
      ops::act_quant::oracle(),
      ops::weight_dequant::oracle(),
      ops::fp8_gemm::oracle(),
      ops::fp8_gemm::grouped_oracle(),
      ops::quantize_copy_kv::oracle(),
      ops::flash_decode::oracle(),
      ops::flash_decode::stage1::oracle(),
      ops::flash_decode::stage2::oracle(),
      ops::attention::oracle(),
      ops::merge_attention::oracle(),
  };
  return list;
}

}  // namespace isomer::core
