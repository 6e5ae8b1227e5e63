#include "core/block_scales.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

namespace isomer::ops::fp8_gemm {
namespace {

using core::Call;
using core::say;

std::optional<std::string> broken_depth(const Call& call) {
  const std::int64_t depth = call.args<Fp8LinearArgs>().x.size(-1);
  if (depth % kScaleBlock == 0) return {};
  return say("x has ", depth, " elements in its last dimension, expected a multiple of ", kScaleBlock);
}

std::optional<std::string> broken_floor(const Call& call) {
  return core::broken_amax_floor(call.options<Fp8LinearOptions>().amax_floor);
}

}  // namespace

const core::Contract& linear_contract() {
  using Args = Fp8LinearArgs;
  using CArgs = isomer_fp8_linear_args;
  using Options = Fp8LinearOptions;
  using COptions = isomer_fp8_linear_options;
  static const core::Contract contract = core::finish({
      .op = "fp8_linear",
      .summary = "c = fp8_gemm of act_quant of x in blocks of 128, + bias + addend",
      .source = "DeepSeek-V3 inference/model.py, linear, with act_quant and fp8_gemm of inference/kernel.py",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::x, &CArgs::x>(
              {.dtypes = {DType::f32, DType::f16, DType::bf16},
               .shapes = {"... K"},
               .meaning = "activations; the leading dimensions together are the M rows"}),
          core::tensor<&Args::b, &CArgs::b>(
              {.dtypes = {DType::e4m3fn}, .shapes = {"N K"}, .meaning = "weights, K contiguous"}),
          core::tensor<&Args::b_s, &CArgs::b_s>({.dtypes = {DType::f32},
                                                 .shapes = {"ceil(N/128) ceil(K/128)"},
                                                 .strides = core::Strides::any,
                                                 .meaning = "scale per 128x128 block of b"}),
          core::tensor<&Args::c, &CArgs::c>(
              {.role = core::Role::out,
               .dtypes = {DType::f32, DType::f16, DType::bf16},
               .shapes = {"... N"},
               .meaning = "product; the same view as addend accumulates in place",
               .may_alias = "addend"}),
          core::tensor<&Args::bias, &CArgs::bias>({.optional = true,
                                                   .dtypes = {DType::f32, DType::f16, DType::bf16},
                                                   .shapes = {"N"},
                                                   .strides = core::Strides::any,
                                                   .meaning = "added to every row in f32"}),
          core::tensor<&Args::addend, &CArgs::addend>({.optional = true,
                                                       .dtypes = {DType::f32, DType::f16, DType::bf16},
                                                       .shapes = {"... N"},
                                                       .meaning = "added to the product in f32",
                                                       .dtype_same_as = "c"})),
      .options = core::options<Options, COptions>(
          core::option<&Options::scale_format, &COptions::scale_format>(
              "ue8m0: the scales of x rounded up to a power of two"),
          core::option<&Options::amax_floor, &COptions::amax_floor>("least amax of a block of x"),
          core::option<&Options::b_ready, &COptions::b_ready>(
              "1 promises that nothing which is still under way in the queue writes b")),
      .clauses = {{.text = "K is a multiple of 128", .broken = broken_depth},
                  {.text = "amax_floor is finite and not negative", .broken = broken_floor},
                  {.text = "scale_format is an enumerator", .broken = core::not_an_enumerator},
                  {.text = "b_ready is 0 or 1",
                   .broken =
                       [](const Call& call) {
                         return broken_b_ready(call.options<Fp8LinearOptions>().b_ready);
                       }}},
      .tolerance = "that of fp8_gemm, of the codes and scales that act_quant gives",
      .work = work_of<Args>,
  });
  return contract;
}

core::Call bind(const Fp8LinearArgs& args, const Fp8LinearOptions& options) {
  return core::bind(linear_contract(), args, options);
}

}  // namespace isomer::ops::fp8_gemm

namespace isomer {

void fp8_linear(const Queue& queue, const Fp8LinearArgs& args, const Fp8LinearOptions& options) {
  core::dispatch(queue, ops::fp8_gemm::bind(args, options));
}

Explanation explain(const Queue& queue, const Fp8LinearArgs& args, const Fp8LinearOptions& options) {
  return core::explain(queue, ops::fp8_gemm::bind(args, options));
}

Plan<Fp8LinearArgs> plan(const Queue& queue, const Fp8LinearArgs& args, const Fp8LinearOptions& options) {
  return core::PlanAccess::make_for<Fp8LinearArgs>(queue, ops::fp8_gemm::bind(args, options));
}

}  // namespace isomer
