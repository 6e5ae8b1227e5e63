#include "core/sentence.hpp"
#include "ops/flash_decode/gpu/blocks.hpp"
#include "ops/flash_decode/gpu/stages.hpp"

#include <algorithm>

namespace isomer::ops::flash_decode {
namespace {

using core::Call;

/// Of the grid's first dimension.
constexpr double kMostBlocks = 2147483647.0;

template <class Args, class Options>
Inputs inputs(const Call& call) {
  return inputs_of(call.args<Args>(), call.options<Options>());
}

/// Whether a launch may begin before the one ahead has ended.
std::string too_many_heads(const Tensor& q) {
  if (static_cast<double>(q.size(1)) <= kMostBlocks) return {};
  return core::say(q.size(1), " query heads are more than a launch has blocks for, ", kMostBlocks);
}

std::int64_t at_most(std::int64_t room, std::int64_t max_len) {
  return max_len > 0 ? std::min(room, max_len) : room;
}

class Stage1Plan : public gpu::Plan {
 public:
  Stage1Plan(const Call& call, const gpu::Facts& facts)
      : launch_(inputs<FlashDecodeStage1Args, FlashDecodeStage1Options>(call), facts,
                call.options<FlashDecodeStage1Options>().block_seq, blocks(call), longest(call)) {
    parameters_ = launch_.parameters;
    constants_ = launch_.constants;
    if (!launch_.empty) steps_.push_back(launch_.step);
  }
  static std::string refuse(const Call& call, const gpu::Facts&) {
    return too_many_heads(call.args<FlashDecodeStage1Args>().q);
  }

  void run(const Queue& queue, const Call& call, void*) const override {
    if (steps_.empty()) return;
    const auto& args = call.args<FlashDecodeStage1Args>();
    launch(queue, 0,
           launch_.arguments(inputs<FlashDecodeStage1Args, FlashDecodeStage1Options>(call),
                             {args.mid_out, args.mid_lse}));
  }

 private:
  static std::int64_t blocks(const Call& call) {
    const auto& args = call.args<FlashDecodeStage1Args>();
    return std::min(args.mid_lse.size(2),
                    ceil_div(longest(call), call.options<FlashDecodeStage1Options>().block_seq));
  }
  static std::int64_t longest(const Call& call) {
    const auto& args = call.args<FlashDecodeStage1Args>();
    const auto& options = call.options<FlashDecodeStage1Options>();
    const std::int64_t blocks = args.mid_lse.size(2), room = args.req_to_tokens.size(1);
    const bool all = blocks > room / options.block_seq;
    return at_most(all ? room : blocks * options.block_seq, options.max_len);
  }

  BlockLaunch launch_;
};

class Stage2Plan : public gpu::Plan {
 public:
  Stage2Plan(const Call& call, const gpu::Facts&)
      : launch_(args(call).out, args(call).mid_out.dtype, rows_of_16_bytes(args(call).mid_out),
                block_seq(call), longest(call)) {
    const Tensor& mid = args(call).mid_out;
    parameters_ = {{"batch", std::to_string(mid.size(0))},
                   {"heads", std::to_string(mid.size(1))},
                   {"head_dim", std::to_string(mid.size(3))}};
    constants_ = {{"block_seq", std::to_string(block_seq(call))}, {"blocks", std::to_string(mid.size(2))}};
    if (!launch_.empty) steps_.push_back(launch_.step);
  }
  static std::string refuse(const Call& call, const gpu::Facts&) {
    const Tensor& out = args(call).out;
    if (static_cast<double>(out.size(1)) * static_cast<double>(out.size(2)) <= kMostBlocks) return {};
    return core::say("heads of ", out.size(1), " times ", out.size(2),
                     " elements are more than a launch has blocks for");
  }

  void run(const Queue& queue, const Call& call, void*) const override {
    if (steps_.empty()) return;
    const auto& a = args(call);
    launch(queue, 0, launch_.arguments({a.mid_out, a.mid_lse}, a.b_seqlen, a.out));
  }

 private:
  static const FlashDecodeStage2Args& args(const Call& call) { return call.args<FlashDecodeStage2Args>(); }
  static std::int64_t block_seq(const Call& call) {
    return call.options<FlashDecodeStage2Options>().block_seq;
  }
  static std::int64_t longest(const Call& call) {
    const std::int64_t blocks = args(call).mid_lse.size(2), block = block_seq(call);
    return blocks > INT64_MAX / block ? INT64_MAX : blocks * block;
  }

  MergeLaunch launch_;
};

/// Both stages with the partial results in the workspace.
class FlashDecodePlan : public gpu::Plan {
 public:
  FlashDecodePlan(const Call& call, const gpu::Facts& facts)
      : block_seq_(block_seq(call, facts)),
        blocks_(ceil_div(longest(call), block_seq_)),
        rows_(args(call).q.size(0) * args(call).q.size(1)),
        head_dim_(args(call).q.size(2)),
        first_(inputs<FlashDecodeArgs, FlashDecodeOptions>(call), facts, block_seq_, blocks_, longest(call)),
        second_(args(call).out, DType::f32, true, block_seq_, longest(call)) {
    parameters_ = first_.parameters;
    constants_ = first_.constants;
    if (!first_.empty) steps_.push_back(first_.step);
    if (!second_.empty) {
      steps_.push_back(second_.step);
      steps_.back().overlap_previous = !first_.empty && gpu::launches_overlap(facts);
    }
  }
  static std::string refuse(const Call& call, const gpu::Facts& facts) {
    const Tensor& q = args(call).q;
    const double bytes = 4.0 * static_cast<double>(q.size(0)) * static_cast<double>(q.size(1)) *
                         static_cast<double>(q.size(2) + 1) *
                         static_cast<double>(ceil_div(longest(call), block_seq(call, facts)));
    if (bytes > 0x1p48)
      return core::say("the blocks of sequences as long as Lmax would need ", bytes,
                       " bytes of workspace; give max_len");
    return too_many_heads(q);
  }

  std::size_t workspace_bytes() const override { return first_.empty ? 0 : out_bytes() + f32_bytes(1); }
  void run(const Queue& queue, const Call& call, void* workspace) const override {
    if (steps_.empty()) return;
    const auto& a = args(call);
    auto* bytes = static_cast<std::byte*>(workspace);
    const std::int64_t batch = a.q.size(0), heads = a.q.size(1);
    const MidTensors mid = {
        Tensor(bytes, DType::f32, {batch, heads, blocks_, head_dim_}),
        Tensor(first_.empty ? nullptr : bytes + out_bytes(), DType::f32, {batch, heads, blocks_})};
    if (!first_.empty)
      launch(queue, 0, first_.arguments(inputs<FlashDecodeArgs, FlashDecodeOptions>(call), mid));
    launch(queue, steps_.size() - 1, second_.arguments(mid, a.b_seqlen, a.out));
  }

 private:
  static const FlashDecodeArgs& args(const Call& call) { return call.args<FlashDecodeArgs>(); }
  static std::int64_t longest(const Call& call) {
    return at_most(args(call).req_to_tokens.size(1), call.options<FlashDecodeOptions>().max_len);
  }
  static std::int64_t block_seq(const Call& call, const gpu::Facts& facts) {
    if (const std::int64_t given = call.options<FlashDecodeOptions>().block_seq; given > 0) return given;
    const BlockShape shape(inputs<FlashDecodeArgs, FlashDecodeOptions>(call), facts);
    const std::int64_t rows = args(call).q.size(0) * args(call).k.size(1) * shape.chunks;
    return even_blocks(longest(call), rows, facts.multiprocessors * shape.resident);
  }
  std::size_t f32_bytes(std::int64_t per_block) const {
    return static_cast<std::size_t>((rows_ * blocks_ * per_block * 4 + 63) / 64 * 64);
  }
  std::size_t out_bytes() const { return f32_bytes(head_dim_); }

  std::int64_t block_seq_, blocks_, rows_, head_dim_;
  BlockLaunch first_;
  MergeLaunch second_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::portable<FlashDecodePlan>(); }
std::vector<std::unique_ptr<const core::Implementation>> stage1::gpu() {
  return isomer::gpu::portable<Stage1Plan>();
}
std::vector<std::unique_ptr<const core::Implementation>> stage2::gpu() {
  return isomer::gpu::portable<Stage2Plan>();
}

}  // namespace isomer::ops::flash_decode
