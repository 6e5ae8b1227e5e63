#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/flash_decode/gpu/blocks.hpp"
#include "ops/flash_decode/gpu/stages.hpp"

#include <algorithm>

namespace isomer::ops::flash_decode {
namespace {

using core::Call;

using gpu::kMostBlocks;

template <class Args, class Options>
Inputs inputs(const Call& call) {
  return inputs_of(call.args<Args>(), call.options<Options>());
}

/// Empty where a launch has a block for each.
std::string too_many_heads(const Tensor& q) {
  if (q.size(1) <= kMostBlocks) return {};
  return core::say(q.size(1), " query heads are more than a launch has blocks for, ", kMostBlocks);
}

std::int64_t at_most(std::int64_t room, std::int64_t max_len) {
  return max_len > 0 ? std::min(room, max_len) : room;
}

template <class Launch>
std::vector<gpu::Step> step_of(const Launch& launch) {
  if (launch.empty) return {};
  return {launch.step};
}

class Stage1Plan : public gpu::Plan {
 public:
  explicit Stage1Plan(BlockLaunch launch) : Plan(step_of(launch)), launch_(std::move(launch)) {}

  static gpu::Decided<BlockLaunch> decide(const Call& call, const gpu::Facts& facts) {
    if (std::string reason = too_many_heads(call.args<FlashDecodeStage1Args>().q); !reason.empty())
      return core::Refusal{std::move(reason)};
    return BlockLaunch(inputs<FlashDecodeStage1Args, FlashDecodeStage1Options>(call), facts,
                       call.options<FlashDecodeStage1Options>().block_seq, blocks(call), longest(call));
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = launch_.parameters();
    out.constants = launch_.constants();
  }

  void run(const Queue& queue, const Call& call, void*) const override {
    if (launch_.empty) return;
    const auto& args = call.args<FlashDecodeStage1Args>();
    const Inputs in = inputs<FlashDecodeStage1Args, FlashDecodeStage1Options>(call);
    if (in.scaled())
      launch(queue, 0, launch_.int8_arguments(in, {args.mid_out, args.mid_lse}));
    else
      launch(queue, 0, launch_.arguments(in, {args.mid_out, args.mid_lse}));
  }

 private:
  static std::int64_t blocks(const Call& call) {
    const auto& args = call.args<FlashDecodeStage1Args>();
    return std::min(args.mid_lse.size(2),
                    core::ceil_div(longest(call), call.options<FlashDecodeStage1Options>().block_seq));
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
  struct Decision {
    MergeLaunch launch;
    std::int64_t batch, heads, blocks, head_dim, block_seq;
  };
  explicit Stage2Plan(Decision decision) : Plan(step_of(decision.launch)), decision_(std::move(decision)) {}

  static gpu::Decided<Decision> decide(const Call& call, const gpu::Facts&) {
    const Tensor &out = args(call).out, &mid = args(call).mid_out;
    if (static_cast<double>(out.size(1)) * static_cast<double>(out.size(2)) >
        static_cast<double>(kMostBlocks))
      return core::Refusal{core::say("heads of ", out.size(1), " times ", out.size(2),
                                     " elements are more than a launch has blocks for")};
    return Decision{MergeLaunch(out, mid.dtype, rows_of_16_bytes(mid), block_seq(call), longest(call)),
                    mid.size(0),
                    mid.size(1),
                    mid.size(2),
                    mid.size(3),
                    block_seq(call)};
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = gpu::named(
        {{"batch", decision_.batch}, {"heads", decision_.heads}, {"head_dim", decision_.head_dim}});
    out.constants = gpu::named({{"block_seq", decision_.block_seq}, {"blocks", decision_.blocks}});
  }

  void run(const Queue& queue, const Call& call, void*) const override {
    if (decision_.launch.empty) return;
    const auto& a = args(call);
    launch(queue, 0, decision_.launch.arguments({a.mid_out, a.mid_lse}, a.b_seqlen, a.out));
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

  Decision decision_;
};

/// Both stages with the partial results in the workspace.
class FlashDecodePlan : public gpu::Plan {
 public:
  struct Decision {
    std::int64_t blocks, rows, head_dim;
    BlockLaunch first;
    MergeLaunch second;
    bool overlap;

    std::vector<gpu::Step> steps() const {
      std::vector<gpu::Step> list = step_of(first);
      if (second.empty) return list;
      list.push_back(second.step);
      list.back().overlap_previous = !first.empty && overlap;
      return list;
    }
  };
  explicit FlashDecodePlan(Decision decision) : Plan(decision.steps()), decision_(std::move(decision)) {}

  static gpu::Decided<Decision> decide(const Call& call, const gpu::Facts& facts) {
    const Tensor& q = args(call).q;
    const std::int64_t block = block_seq(call, facts), blocks = core::ceil_div(longest(call), block);
    const double bytes = 4.0 * static_cast<double>(q.size(0)) * static_cast<double>(q.size(1)) *
                         static_cast<double>(q.size(2) + 1) * static_cast<double>(blocks);
    if (bytes > 0x1p48)
      return core::Refusal{core::say("the blocks of sequences as long as Lmax would need ", bytes,
                                     " bytes of workspace; give max_len")};
    if (std::string reason = too_many_heads(q); !reason.empty()) return core::Refusal{std::move(reason)};
    return Decision{
        blocks,
        q.size(0) * q.size(1),
        q.size(2),
        BlockLaunch(inputs<FlashDecodeArgs, FlashDecodeOptions>(call), facts, block, blocks, longest(call)),
        MergeLaunch(args(call).out, DType::f32, true, block, longest(call)),
        facts.has.overlap};
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = decision_.first.parameters();
    out.constants = decision_.first.constants();
  }

  std::size_t workspace_bytes() const override {
    return decision_.first.empty ? 0 : out_bytes() + f32_bytes(1);
  }
  void run(const Queue& queue, const Call& call, void* workspace) const override {
    if (steps().empty()) return;
    const auto& a = args(call);
    auto* bytes = static_cast<std::byte*>(workspace);
    const std::int64_t batch = a.q.size(0), heads = a.q.size(1), blocks = decision_.blocks;
    const BlockLaunch& first = decision_.first;
    const MidTensors mid = {
        Tensor(bytes, DType::f32, {batch, heads, blocks, decision_.head_dim}),
        Tensor(first.empty ? nullptr : bytes + out_bytes(), DType::f32, {batch, heads, blocks})};
    const Inputs in = inputs<FlashDecodeArgs, FlashDecodeOptions>(call);
    if (!first.empty && in.scaled())
      launch(queue, 0, first.int8_arguments(in, mid));
    else if (!first.empty)
      launch(queue, 0, first.arguments(in, mid));
    launch(queue, steps().size() - 1, decision_.second.arguments(mid, a.b_seqlen, a.out));
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
    return static_cast<std::size_t>(
        core::align_up(decision_.rows * decision_.blocks * per_block * 4, core::kAlignment));
  }
  std::size_t out_bytes() const { return f32_bytes(decision_.head_dim); }

  Decision decision_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::everywhere<FlashDecodePlan>(); }
std::vector<std::unique_ptr<const core::Implementation>> stage1::gpu() {
  return isomer::gpu::everywhere<Stage1Plan>();
}
std::vector<std::unique_ptr<const core::Implementation>> stage2::gpu() {
  return isomer::gpu::everywhere<Stage2Plan>();
}

}  // namespace isomer::ops::flash_decode
