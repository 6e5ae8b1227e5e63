#include "core/block_scales.hpp"
#include "core/expert_rows.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"

namespace isomer::ops::silu_mul_quant {
namespace {

using core::Call;
using core::say;
using Broken = std::optional<std::string>;

Broken ranks_fit(const Call& call) {
  const auto& args = call.args<SiluMulQuantArgs>();
  const bool masked = args.row_counts.defined();
  const std::pair<const char*, const Tensor*> tensors[] = {{"x", &args.x}, {"y", &args.y}, {"s", &args.s}};
  for (const auto& [name, tensor] : tensors)
    if (tensor->rank != (masked ? 3 : 2))
      return say(name, " has rank ", tensor->rank, ", expected ",
                 masked ? "3 ([G, R, ...]) with row_counts" : "2 ([M, ...]) without row_counts");
  return {};
}

Broken whole_blocks(const Call& call) {
  const Tensor& x = call.args<SiluMulQuantArgs>().x;
  if (x.size(-1) % (2 * kBlock) == 0) return {};
  return say("x has ", x.size(-1), " elements in its last dimension, expected a multiple of ", 2 * kBlock,
             ": two halves of blocks of ", kBlock);
}

Broken amax_floor(const Call& call) {
  return core::broken_amax_floor(call.options<SiluMulQuantOptions>().amax_floor);
}

Broken scale_strides(const Call& call) {
  return core::broken_scale_strides(call.args<SiluMulQuantArgs>().s,
                                    call.options<SiluMulQuantOptions>().scale_layout);
}

Broken counts_in_range(const Call& call) {
  const auto& args = call.args<SiluMulQuantArgs>();
  return args.row_counts.defined() ? core::broken_row_counts(args.row_counts, args.x.size(1)) : Broken();
}

void lay_out(const Call& call, std::size_t arg, Tensor& form) {
  if (call.contract->args[arg].name == "s")
    core::lay_out_scales(form, call.options<SiluMulQuantOptions>().scale_layout);
}

}  // namespace

const core::Contract& contract() {
  using Args = SiluMulQuantArgs;
  using CArgs = isomer_silu_mul_quant_args;
  using Options = SiluMulQuantOptions;
  using COptions = isomer_silu_mul_quant_options;
  static const core::Contract contract = core::finish({
      .op = "silu_mul_quant",
      .summary =
          "h = silu(first half of x) * second half, s = max(max|h|, amax_floor) / 448 by block of 128, "
          "y = e4m3fn(h / s)",
      .source = "DeepSeek-V3 inference/model.py, Expert, with act_quant of inference/kernel.py behind it",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::x, &CArgs::x>({.dtypes = {DType::f32, DType::f16, DType::bf16},
                                             .shapes = {"M W", "G R W"},
                                             .meaning = "gate and, behind it, what the gate multiplies"}),
          core::tensor<&Args::y, &CArgs::y>(
              {.role = core::Role::out,
               .dtypes = {DType::e4m3fn},
               .shapes = {"M W/2", "G R W/2"},
               .meaning = "quantised product; rows past a count stay untouched"}),
          core::tensor<&Args::s, &CArgs::s>({.role = core::Role::out,
                                             .dtypes = {DType::f32},
                                             .shapes = {"M W/256", "G R W/256"},
                                             .strides = core::Strides::any,
                                             .meaning = "scales: h is about y · s"}),
          core::tensor<&Args::row_counts, &CArgs::row_counts>({.optional = true,
                                                               .dtypes = {DType::i32},
                                                               .shapes = {"G"},
                                                               .strides = core::Strides::any,
                                                               .meaning = "rows that each entry has"})),
      .options = core::options<Options, COptions>(
          core::option<&Options::amax_floor, &COptions::amax_floor>("least amax of a block"),
          core::option<&Options::scale_format, &COptions::scale_format>(
              "ue8m0: the scale rounded up to a power of two"),
          core::option<&Options::scale_layout, &COptions::scale_layout>(
              "column_major: adjacent rows, columns a multiple of 4 apart")),
      .clauses = {{"x, y and s have rank 2, or 3 with row_counts", ranks_fit},
                  {"W is a multiple of 256", whole_blocks},
                  {"amax_floor is finite and not negative", amax_floor},
                  {"scale_format and scale_layout are enumerators", core::not_an_enumerator},
                  {"s lies as scale_layout says", scale_strides},
                  {.text = "row_counts are in [0, R]", .broken = counts_in_range, .reads_data = true}},
      .tolerance = "h within 2^-19 of itself; s and y as act_quant makes them of such an h",
      .work =
          [](const Call& call) {
            return core::Work{.bytes = core::bytes_of(call.tensor(0)) + core::bytes_of(call.tensor(1)) +
                                       core::bytes_of(call.tensor(2)),
                              .flops = 4.0 * static_cast<double>(call.tensor(0).numel())};
          },
      .lay_out = lay_out,
  });
  return contract;
}

core::Call bind(const SiluMulQuantArgs& args, const SiluMulQuantOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::silu_mul_quant

namespace isomer {

void silu_mul_quant(const Queue& queue, const SiluMulQuantArgs& args, const SiluMulQuantOptions& options) {
  core::dispatch(queue, ops::silu_mul_quant::bind(args, options));
}

Explanation explain(const Queue& queue, const SiluMulQuantArgs& args, const SiluMulQuantOptions& options) {
  return core::explain(queue, ops::silu_mul_quant::bind(args, options));
}

Plan<SiluMulQuantArgs> plan(const Queue& queue, const SiluMulQuantArgs& args,
                            const SiluMulQuantOptions& options) {
  return core::PlanAccess::make_for<SiluMulQuantArgs>(queue, ops::silu_mul_quant::bind(args, options));
}

}  // namespace isomer
