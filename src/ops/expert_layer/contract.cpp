#include "core/block_scales.hpp"
#include "core/expert_rows.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/expert_layer/expert_layer.hpp"

#include <algorithm>

namespace isomer::ops::expert_layer {
namespace {

using core::Call;
using core::say;
using Broken = std::optional<std::string>;

Broken one_layout(const Call& call) {
  const auto& args = call.args<ExpertLayerArgs>();
  return core::broken_expert_layout(args.expert_ids, args.row_counts);
}

Broken ranks_fit(const Call& call) {
  const auto& args = call.args<ExpertLayerArgs>();
  const bool masked = args.row_counts.defined();
  const std::pair<const char*, const Tensor*> of_rows[] = {
      {"a", &args.a}, {"a_s", &args.a_s}, {"out", &args.out}};
  for (const auto& [name, tensor] : of_rows)
    if (tensor->rank != (masked ? 3 : 2))
      return say(name, " has rank ", tensor->rank, ", expected ",
                 masked ? "3 ([G, R, ...]) with row_counts" : "2 ([M, ...]) with expert_ids");
  return {};
}

Broken whole_blocks(const Call& call) {
  const Tensor& gate_up = call.args<ExpertLayerArgs>().gate_up;
  if (gate_up.size(1) % (2 * kBlock) == 0) return {};
  return say("gate_up has ", gate_up.size(1), " rows, expected a multiple of ", 2 * kBlock,
             ": two halves of blocks of ", kBlock);
}

Broken amax_floor(const Call& call) {
  return core::broken_amax_floor(call.options<ExpertLayerOptions>().amax_floor);
}

Broken ids_in_range(const Call& call) {
  const auto& args = call.args<ExpertLayerArgs>();
  return core::broken_expert_ids(args.expert_ids, args.gate_up.size(0));
}

Broken segments_are_aligned(const Call& call) {
  return core::broken_expert_segments(call.args<ExpertLayerArgs>().expert_ids);
}

Broken counts_in_range(const Call& call) {
  const auto& args = call.args<ExpertLayerArgs>();
  return args.row_counts.defined() ? core::broken_row_counts(args.row_counts, args.a.size(1)) : Broken();
}

core::Work work_of(const Call& call) {
  core::Work work;
  for (int i = 0; i < call.count; ++i) work.bytes += core::bytes_of(call.tensor(i));
  const auto& args = call.args<ExpertLayerArgs>();
  const std::int64_t rows = core::rows_of_experts(
      args.expert_ids, args.row_counts, args.out.numel() / std::max<std::int64_t>(args.out.size(-1), 1));
  const auto of_expert = [](const Tensor& weights) {
    return static_cast<double>(weights.size(1)) * static_cast<double>(weights.size(2));
  };
  work.flops = 2.0 * static_cast<double>(rows) * (of_expert(args.gate_up) + of_expert(args.down));
  return work;
}

}  // namespace

const core::Contract& contract() {
  using Args = ExpertLayerArgs;
  using CArgs = isomer_expert_layer_args;
  using Options = ExpertLayerOptions;
  using COptions = isomer_expert_layer_options;
  static const core::Contract contract = core::finish({
      .op = "expert_layer",
      .summary = "x = a * gate_up^T in bf16, h = silu_mul_quant of x, out = h * down^T, with the weights of "
                 "each row's expert",
      .source =
          "DeepSeek-V3 inference/model.py, Expert, with the products and act_quant of inference/kernel.py",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::a, &CArgs::a>(
              {.dtypes = {DType::e4m3fn},
               .shapes = {"M H", "G R H"},
               .meaning = "rows of all experts, or with row_counts R rows for each expert"}),
          core::tensor<&Args::a_s, &CArgs::a_s>({.dtypes = {DType::f32},
                                                 .shapes = {"M ceil(H/128)", "G R ceil(H/128)"},
                                                 .strides = core::Strides::any,
                                                 .meaning = "scale per row and 128 columns of a"}),
          core::tensor<&Args::gate_up, &CArgs::gate_up>(
              {.dtypes = {DType::e4m3fn},
               .shapes = {"G W H"},
               .meaning = "weights of each expert: the gate's rows and, behind them, what it multiplies"}),
          core::tensor<&Args::gate_up_s, &CArgs::gate_up_s>(
              {.dtypes = {DType::f32},
               .shapes = {"G W/128 ceil(H/128)"},
               .strides = core::Strides::any,
               .meaning = "scale per 128x128 block of gate_up"}),
          core::tensor<&Args::down, &CArgs::down>(
              {.dtypes = {DType::e4m3fn}, .shapes = {"G O W/2"}, .meaning = "weights of each expert"}),
          core::tensor<&Args::down_s, &CArgs::down_s>({.dtypes = {DType::f32},
                                                       .shapes = {"G ceil(O/128) W/256"},
                                                       .strides = core::Strides::any,
                                                       .meaning = "scale per 128x128 block of down"}),
          core::tensor<&Args::out, &CArgs::out>(
              {.role = core::Role::out,
               .dtypes = {DType::f32, DType::f16, DType::bf16},
               .shapes = {"M O", "G R O"},
               .meaning = "rows of padding become 0, rows past a count stay untouched"}),
          core::tensor<&Args::expert_ids, &CArgs::expert_ids>(
              {.optional = true,
               .dtypes = {DType::i32},
               .shapes = {"M"},
               .strides = core::Strides::any,
               .meaning =
                   "expert of each row, ascending, segments at multiples of 128; -1 is a padding row"}),
          core::tensor<&Args::row_counts, &CArgs::row_counts>({.optional = true,
                                                               .dtypes = {DType::i32},
                                                               .shapes = {"G"},
                                                               .strides = core::Strides::any,
                                                               .meaning = "rows that each expert has"})),
      .options = core::options<Options, COptions>(
          core::option<&Options::scale_format, &COptions::scale_format>(
              "ue8m0: the scales of h rounded up to a power of two"),
          core::option<&Options::amax_floor, &COptions::amax_floor>("least amax of a block of h")),
      .clauses =
          {{.text = "exactly one of expert_ids and row_counts is given", .broken = one_layout},
           {.text = "a, a_s and out have rank 2 with expert_ids, rank 3 with row_counts",
            .broken = ranks_fit},
           {.text = "W is a multiple of 256", .broken = whole_blocks},
           {.text = "amax_floor is finite and not negative", .broken = amax_floor},
           {.text = "scale_format is an enumerator", .broken = core::not_an_enumerator},
           {.text = "expert_ids are in [-1, G)", .broken = ids_in_range, .reads_data = true},
           {.text =
                "rows are sorted by expert, segments begin at multiples of 128, and padding fills the rest",
            .broken = segments_are_aligned,
            .reads_data = true},
           {.text = "row_counts are in [0, R]", .broken = counts_in_range, .reads_data = true}},
      .tolerance =
          "each product that of fp8_gemm; what x within its bound makes of the scales and codes of h, "
          "in the worst case or as six deviations of independent codes, whichever is less",
      .work = work_of,
  });
  return contract;
}

core::Call bind(const ExpertLayerArgs& args, const ExpertLayerOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::expert_layer

namespace isomer {

void expert_layer(const Queue& queue, const ExpertLayerArgs& args, const ExpertLayerOptions& options) {
  core::dispatch(queue, ops::expert_layer::bind(args, options));
}

Explanation explain(const Queue& queue, const ExpertLayerArgs& args, const ExpertLayerOptions& options) {
  return core::explain(queue, ops::expert_layer::bind(args, options));
}

Plan<ExpertLayerArgs> plan(const Queue& queue, const ExpertLayerArgs& args,
                           const ExpertLayerOptions& options) {
  return core::PlanAccess::make_for<ExpertLayerArgs>(queue, ops::expert_layer::bind(args, options));
}

}  // namespace isomer
