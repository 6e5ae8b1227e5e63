#include "core/registry.hpp"
#include "ops/act_quant/act_quant.hpp"
#include "ops/attention/attention.hpp"
#include "ops/expert_layer/expert_layer.hpp"
#include "ops/flash_decode/flash_decode.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/merge_attention/merge_attention.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"
#include "ops/sin/sin.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"
#include "ops/weight_quant/weight_quant.hpp"

namespace isomer::core {
namespace {

using Implementations = std::vector<std::unique_ptr<const Implementation>>;

Implementations join(Implementations first, Implementations second) {
  for (auto& implementation : second) first.push_back(std::move(implementation));
  return first;
}

}  // namespace

const Registry& Registry::builtin() {
  static const Registry registry = [] {
    Registry r;
    r.add(ops::sin::contract(), join(ops::sin::cpu(), ops::sin::gpu()));
    r.add(ops::act_quant::contract(), join(ops::act_quant::cpu(), ops::act_quant::gpu()));
    r.add(ops::silu_mul_quant::contract(), join(ops::silu_mul_quant::cpu(), ops::silu_mul_quant::gpu()));
    r.add(ops::weight_dequant::contract(), join(ops::weight_dequant::cpu(), ops::weight_dequant::gpu()));
    r.add(ops::weight_quant::contract(), join(ops::weight_quant::cpu(), ops::weight_quant::gpu()));
    r.add(ops::fp8_gemm::contract(), join(ops::fp8_gemm::cpu(), ops::fp8_gemm::gpu()));
    r.add(ops::fp8_gemm::grouped_contract(),
          join(ops::fp8_gemm::grouped_cpu(), ops::fp8_gemm::grouped_gpu()));
    r.add(ops::fp8_gemm::linear_contract(), ops::fp8_gemm::linear_implementations(r));
    r.add(ops::expert_layer::contract(), ops::expert_layer::implementations(r));
    r.add(ops::quantize_copy_kv::contract(),
          join(ops::quantize_copy_kv::cpu(), ops::quantize_copy_kv::gpu()));
    r.add(ops::flash_decode::contract(), join(ops::flash_decode::cpu(), ops::flash_decode::gpu()));
    r.add(ops::flash_decode::stage1::contract(),
          join(ops::flash_decode::stage1::cpu(), ops::flash_decode::stage1::gpu()));
    r.add(ops::flash_decode::stage2::contract(),
          join(ops::flash_decode::stage2::cpu(), ops::flash_decode::stage2::gpu()));
    r.add(ops::attention::contract(), join(ops::attention::cpu(), ops::attention::gpu()));
    r.add(ops::merge_attention::contract(), join(ops::merge_attention::cpu(), ops::merge_attention::gpu()));
    return r;
  }();
  return registry;
}

}  // namespace isomer::core
