#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

namespace isomer::ops::weight_dequant {

const core::Contract& contract() {
  using Args = WeightDequantArgs;
  using CArgs = isomer_weight_dequant_args;
  using Options = WeightDequantOptions;
  using COptions = isomer_weight_dequant_options;
  static const core::Contract contract =
      core::finish(
          {
              .op = "weight_dequant",
              .summary = "y[m, n] = x[m, n] * s[m/B, n/B] in f32, rounded once to y's type",
              .source = "DeepSeek-V3 inference/kernel.py, weight_dequant",
              .args = core::args<Args, CArgs>(
                  core::tensor<&Args::x, &CArgs::x>(
                      {.dtypes = {DType::e4m3fn}, .shapes = {"M N"}, .meaning = "quantised weights"}),
                  core::tensor<&Args::s, &CArgs::s>(
                      {.dtypes = {DType::f32},
                       .shapes = {"ceil(M/block_size) ceil(N/block_size)"},
                       .meaning = "one scale for each block of block_size rows and columns"}),
                  core::tensor<&Args::y, &CArgs::y>({.role = core::Role::out,
                                                     .dtypes = {DType::f32, DType::f16, DType::bf16},
                                                     .shapes = {"M N"},
                                                     .meaning = "weights"})),
              .options =
                  core::options<Options, COptions>(core::option<&Options::block_size, &COptions::block_size>(
                      "rows and columns that share a scale, at least 1")),
              .clauses = {{"block_size is at least 1",
                           [](const core::Call& call) -> std::optional<std::string> {
                             const auto size = call.options<WeightDequantOptions>().block_size;
                             if (size >= 1) return {};
                             return core::say("block_size is ", size, ", expected at least 1");
                           }}},
              .tolerance = "exact",
              .symbols =
                  [](const core::Call& call, core::Symbols& symbols) {
                    const auto size = call.options<WeightDequantOptions>().block_size;
                    if (size >= 1) symbols.set("block_size", size);
                  },
              .work =
                  [](const core::Call& call) {
                    return core::Work{.bytes = core::bytes_of(call.tensor(0)) +
                                               core::bytes_of(call.tensor(1)) +
                                               core::bytes_of(call.tensor(2)),
                                      .flops = static_cast<double>(call.tensor(0).numel())};
                  },
          });
  return contract;
}

core::Call bind(const WeightDequantArgs& args, const WeightDequantOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::weight_dequant

namespace isomer {

void weight_dequant(const Queue& queue, const WeightDequantArgs& args, const WeightDequantOptions& options) {
  core::dispatch(queue, ops::weight_dequant::bind(args, options));
}

Explanation explain(const Queue& queue, const WeightDequantArgs& args, const WeightDequantOptions& options) {
  return core::explain(queue, ops::weight_dequant::bind(args, options));
}

Plan<WeightDequantArgs> plan(const Queue& queue, const WeightDequantArgs& args, const WeightDequantOptions& options) {
  return core::PlanAccess::make_for<WeightDequantArgs>(queue, ops::weight_dequant::bind(args, options));
}

}  // namespace isomer
