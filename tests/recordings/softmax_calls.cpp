#include "replay.hpp"

#include "ops/attention/attention.hpp"
#include "ops/flash_decode/flash_decode.hpp"

#include <stdexcept>

namespace isomer::recordings {
namespace {

/// Recorded is a merge of recorded parts, where the rule of the whole call would leave room for the first
/// stage.
Replay second_stage(Parts& parts, const Tensor& mid_out, const Tensor& mid_lse, std::int64_t block_seq) {
  return parts.make("flash_decode_stage2", ops::flash_decode::stage2::bind,
                    FlashDecodeStage2Args{.mid_out = mid_out,
                                          .mid_lse = mid_lse,
                                          .b_seqlen = parts.input("b_seqlen"),
                                          .out = parts.output("out")},
                    FlashDecodeStage2Options{.block_seq = block_seq});
}

}  // namespace

std::vector<Replay> flash_decode_calls(Parts& parts) {
  const std::string stage = parts.option<std::string>("stage", "");
  const auto block_seq = parts.option<std::int64_t>("block_seq", 0);
  if (stage == "2") return {second_stage(parts, parts.input("mid_out"), parts.input("mid_lse"), block_seq)};
  if (stage != "both") throw std::runtime_error("unknown stage " + stage);

  const auto max_len = parts.option<std::int64_t>("max_len", 0);
  const FlashDecodeArgs args{.q = parts.input("q"),
                             .k = parts.input("k"),
                             .v = parts.input("v"),
                             .req_to_tokens = parts.input("req_to_tokens"),
                             .b_req_idx = parts.input("b_req_idx"),
                             .b_seqlen = parts.input("b_seqlen"),
                             .out = parts.output("out")};
  const FlashDecodeStage1Args first{.q = args.q,
                                    .k = args.k,
                                    .v = args.v,
                                    .req_to_tokens = args.req_to_tokens,
                                    .b_req_idx = args.b_req_idx,
                                    .b_seqlen = args.b_seqlen,
                                    .mid_out = parts.output("mid_out"),
                                    .mid_lse = parts.output("mid_lse")};
  const Bundle& recorded = parts.recording().bundle;
  Replay second = second_stage(parts, recorded["mid_out"], recorded["mid_lse"], block_seq);
  second.outputs[0].rule = {Rule::Kind::tolerance, 1.0};
  second.outputs[0].departures.reset();  // counted for both stages together
  return {
      parts.make("flash_decode_stage1", ops::flash_decode::stage1::bind, first,
                 FlashDecodeStage1Options{.block_seq = block_seq, .max_len = max_len}),
      parts.make("flash_decode",
                 static_cast<core::Call (*)(const FlashDecodeArgs&, const FlashDecodeOptions&)>(
                     ops::flash_decode::bind),
                 args, FlashDecodeOptions{.block_seq = block_seq, .max_len = max_len}),
      second,
  };
}

std::vector<Replay> attention_calls(Parts& parts) {
  AttentionArgs args;
  args.q = parts.input("q");
  args.k = parts.input("k");
  args.v = parts.input("v");
  args.out = parts.output("out");
  args.lse = parts.optional_output("lse");
  args.cu_seqlens_q = parts.input("cu_seqlens_q");
  args.cu_seqlens_k = parts.input("cu_seqlens_k");
  args.seqused_k = parts.input("seqused_k");
  AttentionOptions options;
  options.causal = parts.option("causal", options.causal);
  options.scale = parts.option("scale", options.scale);
  options.window_left = parts.option("window_left", options.window_left);
  options.window_right = parts.option("window_right", options.window_right);
  options.max_seqlen_q = parts.option("max_seqlen_q", options.max_seqlen_q);
  options.max_seqlen_k = parts.option("max_seqlen_k", options.max_seqlen_k);
  return {parts.make<AttentionArgs, AttentionOptions>("attention", ops::attention::bind, args, options)};
}

}  // namespace isomer::recordings
