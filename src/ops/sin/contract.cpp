#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "ops/sin/sin.hpp"

namespace isomer::ops::sin {

const core::Contract& contract() {
  using Args = SinArgs;
  using CArgs = isomer_sin_args;
  static const core::
      Contract
          contract =
              core::
                  finish(
                      {
                          .op = "sin",
                          .summary = "y[i] = sin(x[i]), computed in f32",
                          .source = "TritonBench sin_kernel.py",
                          .args =
                              core::args<
                                  Args, CArgs>(core::tensor<&Args::x, &CArgs::x>({.dtypes =
                                                                                      {DType::f32, DType::f16, DType::bf16},
                                                                                  .shapes = {"..."},
                                                                                  .strides =
                                                                                      core::Strides::any,
                                                                                  .meaning = "angles in "
                                                                                             "radians"}),
                                               core::tensor<&Args::y, &CArgs::y>({.role = core::Role::out,
                                                                                  .dtypes = {DType::f32, DType::f16, DType::bf16},
                                                                                  .shapes = {"..."},
                                                                                  .strides =
                                                                                      core::Strides::any,
                                                                                  .meaning = "sines",
                                                                                  .may_alias = "x",
                                                                                  .dtype_same_as = "x"})),
                          .options = core::options<SinOptions, isomer_sin_options>(),
      .tolerance = "2 ulp for f32, 1 ulp for f16 and bf16",
                          .work =
                              [](const core::Call& call) {
                                return core::Work{
                                    .bytes = core::bytes_of(call.tensor(0)) + core::bytes_of(call.tensor(1)),
                                    .flops = static_cast<double>(call.tensor(0).numel())};
                              },
                      });
  return contract;
}

core::Call bind(const SinArgs& args, const SinOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::sin

namespace isomer {

void sin(const Queue& queue, const SinArgs& args, const SinOptions& options) {
  core::dispatch(queue, ops::sin::bind(args, options));
}

Explanation explain(const Queue& queue, const SinArgs& args, const SinOptions& options) {
  return core::explain(queue, ops::sin::bind(args, options));
}

Plan<SinArgs> plan(const Queue& queue, const SinArgs& args, const SinOptions& options) {
  return core::PlanAccess::make_for<SinArgs>(queue, ops::sin::bind(args, options));
}

}  // namespace isomer
