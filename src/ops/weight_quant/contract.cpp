#include "core/block_scales.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/weight_quant/weight_quant.hpp"

namespace isomer::ops::weight_quant {
namespace {

using core::Call;

std::optional<std::string> block_size(const Call& call) {
  const auto size = call.options<WeightQuantOptions>().block_size;
  if (size >= 1) return {};
  return core::say("block_size is ", size, ", expected at least 1");
}

std::optional<std::string> amax_floor(const Call& call) {
  return core::broken_amax_floor(call.options<WeightQuantOptions>().amax_floor);
}

std::optional<std::string> scale_strides(const Call& call) {
  return core::broken_scale_strides(call.args<WeightQuantArgs>().s,
                                    call.options<WeightQuantOptions>().scale_layout);
}

void lay_out(const Call& call, std::size_t arg, Tensor& form) {
  if (call.contract->args[arg].name == "s")
    core::lay_out_scales(form, call.options<WeightQuantOptions>().scale_layout);
}

}  // namespace

const core::Contract& contract() {
  using Args = WeightQuantArgs;
  using CArgs = isomer_weight_quant_args;
  using Options = WeightQuantOptions;
  using COptions = isomer_weight_quant_options;
  static const core::Contract contract = core::finish({
      .op = "weight_quant",
      .summary = "s = max(max|x|, amax_floor) / 448 by B x B block, y = e4m3fn(x / s)",
      .source = "the inverse of DeepSeek-V3 inference/kernel.py, weight_dequant",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::x, &CArgs::x>(
              {.dtypes = {DType::f32, DType::f16, DType::bf16}, .shapes = {"M N"}, .meaning = "weights"}),
          core::tensor<&Args::y, &CArgs::y>({.role = core::Role::out,
                                             .dtypes = {DType::e4m3fn},
                                             .shapes = {"M N"},
                                             .meaning = "quantised weights"}),
          core::tensor<&Args::s, &CArgs::s>(
              {.role = core::Role::out,
               .dtypes = {DType::f32},
               .shapes = {"ceil(M/block_size) ceil(N/block_size)"},
               .strides = core::Strides::any,
               .meaning = "one scale for each block of block_size rows and columns: x is about y · s"})),
      .options = core::options<Options, COptions>(
          core::option<&Options::block_size, &COptions::block_size>(
              "rows and columns that share a scale, at least 1"),
          core::option<&Options::amax_floor, &COptions::amax_floor>("least amax of a block"),
          core::option<&Options::scale_format, &COptions::scale_format>(
              "ue8m0: the scale rounded up to a power of two"),
          core::option<&Options::scale_layout, &COptions::scale_layout>(
              "column_major: adjacent rows, columns a multiple of 4 apart")),
      .clauses = {{"block_size is at least 1", block_size},
                  {"amax_floor is finite and not negative", amax_floor},
                  {"scale_format and scale_layout are enumerators", core::not_an_enumerator},
                  {"s lies as scale_layout says", scale_strides}},
      .tolerance = "exact",
      .symbols =
          [](const Call& call, core::Symbols& symbols) {
            const auto size = call.options<WeightQuantOptions>().block_size;
            if (size >= 1) symbols.set("block_size", size);
          },
      .work =
          [](const Call& call) {
            return core::Work{.bytes = core::bytes_of(call.tensor(0)) + core::bytes_of(call.tensor(1)) +
                                       core::bytes_of(call.tensor(2)),
                              .flops = 2.0 * static_cast<double>(call.tensor(0).numel())};
          },
      .lay_out = lay_out,
  });
  return contract;
}

core::Call bind(const WeightQuantArgs& args, const WeightQuantOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::weight_quant

namespace isomer {

void weight_quant(const Queue& queue, const WeightQuantArgs& args, const WeightQuantOptions& options) {
  core::dispatch(queue, ops::weight_quant::bind(args, options));
}

Explanation explain(const Queue& queue, const WeightQuantArgs& args, const WeightQuantOptions& options) {
  return core::explain(queue, ops::weight_quant::bind(args, options));
}

Plan<WeightQuantArgs> plan(const Queue& queue, const WeightQuantArgs& args,
                           const WeightQuantOptions& options) {
  return core::PlanAccess::make_for<WeightQuantArgs>(queue, ops::weight_quant::bind(args, options));
}

}  // namespace isomer
