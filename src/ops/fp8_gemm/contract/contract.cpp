#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"

namespace isomer::ops::fp8_gemm {

std::optional<std::string> broken_b_ready(std::int64_t b_ready) {
  if (b_ready == 0 || b_ready == 1) return {};
  return core::say("b_ready is ", b_ready, ", expected 0 or 1");
}

const core::Contract& contract() {
  using Args = Fp8GemmArgs;
  using CArgs = isomer_fp8_gemm_args;
  static const core::Contract contract = core::finish({
      .op = "fp8_gemm",
      .summary = "c = sum over kb of (sum over k in kb of a*b) * a_s[m,kb] * b_s[n/128,kb], + bias + addend",
      .source = "DeepSeek-V3 inference/kernel.py (fp8_gemm)",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::a, &CArgs::a>(
              {.dtypes = {DType::e4m3fn},
               .shapes = {"... K"},
               .meaning = "left operand; the leading dimensions together are the M rows"}),
          core::tensor<&Args::a_s, &CArgs::a_s>(
              {.dtypes = {DType::f32},
               .shapes = {"... ceil(K/128)"},
               .strides = core::Strides::any,
               .meaning = "scale per row and 128 columns of a, row- or column-major"}),
          core::tensor<&Args::b, &CArgs::b>(
              {.dtypes = {DType::e4m3fn}, .shapes = {"N K"}, .meaning = "right operand, K contiguous"}),
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
      .options = core::options<Fp8GemmOptions, isomer_fp8_gemm_options>(
          core::option<&Fp8GemmOptions::b_ready, &isomer_fp8_gemm_options::b_ready>(
              "1 promises that nothing which is still under way in the queue writes b")),
      .clauses = {{.text = "b_ready is 0 or 1",
                   .broken =
                       [](const core::Call& call) {
                         return broken_b_ready(call.options<Fp8GemmOptions>().b_ready);
                       }}},
      .tolerance = "u_c*|ref| + 2^-20*(sum over kb of |a_s*b_s|*sum|a*b|, + |bias| + |addend|), u_c = 2^-24 "
                   "f32, 2^-11 "
                   "f16, 2^-8 bf16; never below half a subnormal of c; where "
                   "Hopper's tensor cores sum e4m3 products 2^-9 of the products' magnitude more",
      .work = work_of<Args>,
  });
  return contract;
}

core::Call bind(const Fp8GemmArgs& args, const Fp8GemmOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::fp8_gemm

namespace isomer {

void fp8_gemm(const Queue& queue, const Fp8GemmArgs& args, const Fp8GemmOptions& options) {
  core::dispatch(queue, ops::fp8_gemm::bind(args, options));
}

Explanation explain(const Queue& queue, const Fp8GemmArgs& args, const Fp8GemmOptions& options) {
  return core::explain(queue, ops::fp8_gemm::bind(args, options));
}

Plan<Fp8GemmArgs> plan(const Queue& queue, const Fp8GemmArgs& args, const Fp8GemmOptions& options) {
  return core::PlanAccess::make_for<Fp8GemmArgs>(queue, ops::fp8_gemm::bind(args, options));
}

}  // namespace isomer
