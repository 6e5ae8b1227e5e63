#include "core/codec.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "core/sentence.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

namespace isomer::ops::quantize_copy_kv {
namespace {

using core::Call;
using core::say;

using Broken = std::optional<std::string>;

Broken group(const Call& call) {
  const auto group = call.options<QuantizeCopyKvOptions>().group;
  if (group == 0 || group == 8) return {};
  return say("group is ", group, ", expected 0 for one scale a head, or 8");
}

Broken whole_groups(const Call& call) {
  const auto group = call.options<QuantizeCopyKvOptions>().group;
  const Tensor& k = call.args<QuantizeCopyKvArgs>().k;
  if (group == 0 || k.size(2) % group == 0) return {};
  return say("k has ", k.size(2), " channels, expected a multiple of group ", group);
}

Broken scale_rank(const Call& call) {
  const Tensor& scale = call.args<QuantizeCopyKvArgs>().out_scale;
  if (call.options<QuantizeCopyKvOptions>().group == 0 || scale.rank == 3) return {};
  return say("out_scale has ", scale.rank, " dimensions, expected 3 with group 8: [N, H, D/8]");
}

Broken dest_in_range(const Call& call) {
  const auto& args = call.args<QuantizeCopyKvArgs>();
  const std::int64_t rows = args.out.size(0);
  for (std::int64_t s = 0; s < args.dest.size(0); ++s) {
    const std::int64_t row =
        args.dest.dtype == DType::i32 ? *args.dest.at<std::int32_t>(s) : *args.dest.at<std::int64_t>(s);
    if (row < 0 || row >= rows)
      return say("dest[", s, "] is ", row, ", expected a row of out in [0, ", rows, ")");
  }
  return {};
}

}  // namespace

const core::Contract& contract() {
  using Args = QuantizeCopyKvArgs;
  using CArgs = isomer_quantize_copy_kv_args;
  using Options = QuantizeCopyKvOptions;
  using COptions = isomer_quantize_copy_kv_options;
  static const core::Contract contract = core::finish({
      .op = "quantize_copy_kv",
      .summary = "scale = max|k| / 127, out[dest[s]] = int8(trunc(k[s] / scale)), by head or by 8 channels",
      .source = "lightllm destindex_copy_kv.py and ppl_quant_copy_kv.py, destindex_copy_quantize_kv",
      .args = core::args<Args, CArgs>(
          core::tensor<&Args::k, &CArgs::k>({.dtypes = {DType::f32, DType::f16, DType::bf16},
                                             .shapes = {"S H D"},
                                             .strides = core::Strides::any,
                                             .meaning = "keys or values of the new tokens"}),
          core::tensor<&Args::dest, &CArgs::dest>({.dtypes = {DType::i32, DType::i64},
                                                   .shapes = {"S"},
                                                   .strides = core::Strides::any,
                                                   .meaning = "row of out that each token goes to"}),
          core::tensor<&Args::out, &CArgs::out>(
              {.role = core::Role::out,
               .dtypes = {DType::i8},
               .shapes = {"N H D"},
               .strides = core::Strides::any,
               .meaning = "cache; rows that dest does not name stay as they are"}),
          core::tensor<&Args::out_scale, &CArgs::out_scale>(
              {.role = core::Role::out,
               .dtypes = {DType::f32, DType::f16, DType::bf16},
               .shapes = {"N H groups", "N H"},
               .strides = core::Strides::any,
               .meaning = "scales; groups is 1, or D/8 with group = 8"})),
      .options = core::options<Options, COptions>(core::option<&Options::group, &COptions::group>(
          "channels that share a scale: 0 for the whole head, or 8")),
      .clauses = {{"group is 0 or 8", group},
                  {"D is a multiple of group", whole_groups},
                  {"out_scale has rank 3 with a group", scale_rank},
                  {"dest is in [0, N)", dest_in_range, true}},
      .tolerance = "exact; where k / scale lies within 4 ulp of an integer, out may differ by 1 from an "
                   "approximate divide",
      .symbols =
          [](const Call& call, core::Symbols& symbols) {
            const auto group = call.options<QuantizeCopyKvOptions>().group;
            const Tensor& k = call.args<QuantizeCopyKvArgs>().k;
            if (group == 0) symbols.set("groups", 1);
            if (group == 8 && k.rank == 3 && k.size(2) % 8 == 0) symbols.set("groups", k.size(2) / 8);
          },
      .work =
          [](const Call& call) {
            const auto& args = call.args<QuantizeCopyKvArgs>();
            const std::int64_t group = call.options<QuantizeCopyKvOptions>().group;
            const auto tokens = static_cast<double>(args.k.size(0) * args.k.size(1));
            const auto channels = static_cast<double>(args.k.size(2));
            const double scales = group == 0 ? 1.0 : channels / static_cast<double>(group);
            return core::Work{.bytes = core::bytes_of(args.k) + core::bytes_of(args.dest) +
                                       tokens * (channels + scales * size_of(args.out_scale.dtype)),
                              .flops = 2.0 * static_cast<double>(args.k.numel())};
          },
  });
  return contract;
}

core::Call bind(const QuantizeCopyKvArgs& args, const QuantizeCopyKvOptions& options) {
  return core::bind(contract(), args, options);
}

}  // namespace isomer::ops::quantize_copy_kv

namespace isomer {

void quantize_copy_kv(const Queue& queue, const QuantizeCopyKvArgs& args,
                      const QuantizeCopyKvOptions& options) {
  core::dispatch(queue, ops::quantize_copy_kv::bind(args, options));
}

Explanation explain(const Queue& queue, const QuantizeCopyKvArgs& args,
                    const QuantizeCopyKvOptions& options) {
  return core::explain(queue, ops::quantize_copy_kv::bind(args, options));
}

Plan<QuantizeCopyKvArgs> plan(const Queue& queue, const QuantizeCopyKvArgs& args, const QuantizeCopyKvOptions& options) {
  return core::PlanAccess::make_for<QuantizeCopyKvArgs>(queue, ops::quantize_copy_kv::bind(args, options));
}

}  // namespace isomer
