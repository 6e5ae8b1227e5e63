#include "core/block_scales.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/act_quant/act_quant.hpp"

namespace isomer::ops::act_quant {
namespace {

using core::Call;
using core::say;

using Broken = std::optional<std::string>;

bool block_size_exists(std::int64_t size) { return size == 32 || size == 64 || size == 128 || size == 256; }

Broken block_size(const Call& call) {
  const auto size = call.options<ActQuantOptions>().block_size;
  if (block_size_exists(size)) return {};
  return say("block_size is ", size, ", expected 32, 64, 128 or 256");
}

Broken whole_blocks(const Call& call) {
  const auto size = call.options<ActQuantOptions>().block_size;
  const Tensor& x = call.args<ActQuantArgs>().x;
  if (x.size(-1) % size == 0) return {};
  return say("x has ", x.size(-1), " elements in its last dimension, expected a multiple of block_size ",
             size);
}

Broken amax_floor(const Call& call) {
  return core::broken_amax_floor(call.options<ActQuantOptions>().amax_floor);
}

Broken scale_strides(const Call& call) {
  return core::broken_scale_strides(call.args<ActQuantArgs>().s,
                                    call.options<ActQuantOptions>().scale_layout);
}

void lay_out(const Call& call, std::size_t arg, Tensor& form) {
  if (call.contract->args[arg].name == "s")
    core::lay_out_scales(form, call.options<ActQuantOptions>().scale_layout);
}

}  // namespace

const core::Contract& contract() {
  using Args = ActQuantArgs;
  using CArgs = isomer_act_quant_args;
  using Options = ActQuantOptions;
  using COptions = isomer_act_quant_options;
  static const core::Contract contract = core::finish({
      .op = "act_quant",
      .summary = "s = max(max|x|, amax_floor) / 448 by block, y = e4m3fn(x / s)",
      .source = "DeepSeek-V3 inference/kernel.py, act_quant",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::x, &CArgs::x>({.dtypes = {DType::f32, DType::f16, DType::bf16},
                                             .shapes = {"... K"},
                                             .meaning = "activations"}),
          core::tensor<&Args::y, &CArgs::y>({.role = core::Role::out,
                                             .dtypes = {DType::e4m3fn},
                                             .shapes = {"... K"},
                                             .meaning = "quantised activations"}),
          core::tensor<&Args::s, &CArgs::s>({.role = core::Role::out,
                                             .dtypes = {DType::f32},
                                             .shapes = {"... K/block_size"},
                                             .strides = core::Strides::any,
                                             .meaning = "scales: x is about y · s"})),
      .options = core::options<Options, COptions>(
          core::option<&Options::block_size, &COptions::block_size>(
              "elements of a row that share a scale: 32, 64, 128 or 256"),
          core::option<&Options::amax_floor, &COptions::amax_floor>("least amax of a block"),
          core::option<&Options::scale_format, &COptions::scale_format>(
              "ue8m0: the scale rounded up to a power of two"),
          core::option<&Options::scale_layout, &COptions::scale_layout>(
              "column_major: adjacent rows, columns a multiple of 4 apart")),
      .clauses = {{"block_size is 32, 64, 128 or 256", block_size},
                  {"K is a multiple of block_size", whole_blocks},
                  {"amax_floor is finite and not negative", amax_floor},
                  {"scale_format and scale_layout are enumerators", core::not_an_enumerator},
                  {"s lies as scale_layout says", scale_strides}},
      .tolerance = "exact",
      .symbols =
          [](const Call& call, core::Symbols& symbols) {
            // Where it does not divide K the clauses say so, better than a shape could.
            const auto size = call.options<ActQuantOptions>().block_size;
            const Tensor& x = call.args<ActQuantArgs>().x;
            if (block_size_exists(size) && x.rank > 0 && x.size(-1) % size == 0)
              symbols.set("block_size", size);
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

core::Call bind(const ActQuantArgs& args, const ActQuantOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::act_quant

namespace isomer {

void act_quant(const Queue& queue, const ActQuantArgs& args, const ActQuantOptions& options) {
  core::dispatch(queue, ops::act_quant::bind(args, options));
}

Explanation explain(const Queue& queue, const ActQuantArgs& args, const ActQuantOptions& options) {
  return core::explain(queue, ops::act_quant::bind(args, options));
}

Plan<ActQuantArgs> plan(const Queue& queue, const ActQuantArgs& args, const ActQuantOptions& options) {
  return core::PlanAccess::make_for<ActQuantArgs>(queue, ops::act_quant::bind(args, options));
}

}  // namespace isomer
