#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "cpu/implementation.hpp"
#include "ops/flash_decode/cpu/block.hpp"
#include "ops/flash_decode/cpu/merge.hpp"
#include "ops/flash_decode/flash_decode.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::flash_decode {
namespace {

using core::Call;

int workers_of(const Queue& queue) { return std::max(1, queue.executor().concurrency()); }

core::Launch launch(const char* kernel, std::int64_t tasks, std::size_t scratch = 0) {
  return {.kernel = kernel, .grid = {tasks, 1, 1}, .shared_bytes = static_cast<std::int64_t>(scratch)};
}

/// The blocks' results: [B, Hq, nb, D] and [B, Hq, nb] in any strides.
struct Partials {
  Tensor out, lse;
};

/// Stage 1: one task for each sequence, block and run of kv heads.
class BlockStage {
 public:
  BlockStage(const Inputs& in, cpu::Target target, int workers, std::int64_t block_seq, std::int64_t blocks)
      : target_(target),
        workers_(workers),
        dtype_(in.q.dtype),
        kv_dtype_(in.k.dtype),
        batch_(in.q.size(0)),
        heads_kv_(in.k.size(1)),
        group_(heads_kv_ > 0 ? in.q.size(1) / heads_kv_ : 0),
        head_dim_(in.q.size(2)),
        block_seq_(block_seq),
        blocks_(blocks),
        scale_(in.scale != 0.0f ? in.scale : 1.0f / std::sqrt(static_cast<float>(head_dim_))) {
    if (in.q.empty()) return;
    // Together the kv heads of a token are one stretch of memory; they part only where there are too few
    // tasks.
    const std::int64_t parts = std::max<std::int64_t>(
        1, core::ceil_div(4 * std::int64_t{workers}, std::max<std::int64_t>(1, batch_ * blocks_)));
    run_ = std::max<std::int64_t>(1, core::ceil_div(heads_kv_, parts));
    runs_ = core::ceil_div(heads_kv_, run_);
    scratch_ = block_scratch_bytes(run_ * group_, head_dim_);
    tasks_ = batch_ * blocks_ * runs_;
  }

  std::size_t scratch_bytes() const { return static_cast<std::size_t>(workers_) * scratch_; }

  void run(const Queue& queue, const Inputs& in, const Partials& to, std::byte* scratch) const {
    const BlockFunction attend = block_function()[target_];
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int worker) {
      const std::int64_t run = task % runs_, j = task / runs_ % blocks_, b = task / runs_ / blocks_;
      const std::int64_t head = run * run_, heads = std::min(run_, heads_kv_ - head);
      std::int64_t first = 0;
      if (__builtin_mul_overflow(j, block_seq_, &first)) return;  // behind every sequence
      const std::int64_t count = std::min(index_at(in.b_seqlen, b) - first, block_seq_);
      if (count <= 0) return;
      attend({.dtype = dtype_,
              .heads_kv = heads,
              .group = group_,
              .head_dim = head_dim_,
              .scale = scale_,
              .q = in.q.at<>(b, head * group_),
              .q_head = in.q.stride(1),
              .q_inner = in.q.stride(2),
              .k = in.k.at<>(0, head),
              .v = in.v.at<>(0, head),
              .k_slot = in.k.stride(0),
              .k_head = in.k.stride(1),
              .k_inner = in.k.stride(2),
              .v_slot = in.v.stride(0),
              .v_head = in.v.stride(1),
              .v_inner = in.v.stride(2),
              .tokens = in.req_to_tokens.at<const std::int32_t>(index_at(in.b_req_idx, b), first),
              .token_step = in.req_to_tokens.stride(1),
              .count = count,
              .out = to.out.at<float>(b, head * group_, j),
              .out_head = to.out.stride(1),
              .out_inner = to.out.stride(3),
              .lse = to.lse.at<float>(b, head * group_, j),
              .lse_head = to.lse.stride(1),
              .k_scale = in.scaled() ? in.k_scale.at<>(0, head) : nullptr,
              .v_scale = in.scaled() ? in.v_scale.at<>(0, head) : nullptr,
              .scale_type = in.k_scale.dtype,
              .ks_slot = in.scaled() ? in.k_scale.stride(0) : 0,
              .ks_head = in.scaled() ? in.k_scale.stride(1) : 0,
              .ks_step = in.scaled() ? scale_step(in.k_scale) : 0,
              .vs_slot = in.scaled() ? in.v_scale.stride(0) : 0,
              .vs_head = in.scaled() ? in.v_scale.stride(1) : 0,
              .vs_step = in.scaled() ? scale_step(in.v_scale) : 0},
             scratch + static_cast<std::size_t>(worker) * scratch_);
    });
  }

  void describe(core::Description& out) const {
    out.variant = {{"target", std::string(cpu::name_of(target_))}, {"element", std::string(name_of(dtype_))}};
    if (kv_dtype_ != dtype_) out.variant.emplace_back("element_kv", std::string(name_of(kv_dtype_)));
    out.parameters = {{"batch", std::to_string(batch_)},
                      {"heads", std::to_string(group_ * heads_kv_)},
                      {"heads_kv", std::to_string(heads_kv_)},
                      {"head_dim", std::to_string(head_dim_)},
                      {"scale", core::say(scale_)}};
    out.constants = {{"block_seq", std::to_string(block_seq_)},
                     {"blocks", std::to_string(blocks_)},
                     {"heads_kv_per_task", std::to_string(run_)},
                     {"tile", std::to_string(kTile)}};
    out.launches.push_back(launch("flash_decode_block", tasks_, scratch_));
  }

 private:
  cpu::Target target_;
  int workers_;
  DType dtype_, kv_dtype_;
  std::int64_t batch_, heads_kv_, group_, head_dim_, block_seq_, blocks_;
  float scale_;
  std::int64_t run_ = 1, runs_ = 1;  ///< kv heads of one task; tasks for all kv heads of a block
  std::int64_t tasks_ = 0;
  std::size_t scratch_ = 0;
};

/// Stage 2: one task for a few query heads.
class MergeStage {
 public:
  MergeStage(const Tensor& out, cpu::Target target, std::int64_t block_seq, std::int64_t blocks)
      : target_(target), heads_(out.size(1)), block_seq_(block_seq) {
    if (out.empty()) return;
    rows_ = out.size(0) * heads_;
    constexpr std::int64_t kElements = 16384;  // of mid_out that one task reads: some µs
    const std::int64_t row = std::max<std::int64_t>(1, std::max<std::int64_t>(blocks, 1) * out.size(2));
    rows_per_task_ = std::max<std::int64_t>(1, kElements / row);
  }

  void run(const Queue& queue, const Partials& from, const Tensor& lengths, const Tensor& out) const {
    const MergeFunction merge = merge_function()[target_];
    parallel_for(queue.executor(), tasks(), [&](std::int64_t task, int) {
      const std::int64_t end = std::min((task + 1) * rows_per_task_, rows_);
      for (std::int64_t r = task * rows_per_task_; r < end; ++r) {
        const std::int64_t b = r / heads_, h = r % heads_;
        merge({.mid_dtype = from.out.dtype,
               .out_dtype = out.dtype,
               .blocks = core::ceil_div(index_at(lengths, b), block_seq_),
               .head_dim = out.size(2),
               .mid = from.out.at<>(b, h),
               .mid_block = from.out.stride(2),
               .mid_inner = from.out.stride(3),
               .lse = from.lse.at<const float>(b, h),
               .lse_block = from.lse.stride(2),
               .out = out.at<>(b, h),
               .out_inner = out.stride(2)});
      }
    });
  }

  void describe(core::Description& out) const {
    out.launches.push_back(launch("flash_decode_merge", tasks()));
  }

 private:
  std::int64_t tasks() const { return core::ceil_div(rows_, rows_per_task_); }

  cpu::Target target_;
  std::int64_t rows_ = 0, heads_, block_seq_, rows_per_task_ = 1;
};

class Stage1Plan : public core::Plan {
 public:
  Stage1Plan(const Call& call, const Queue& queue, cpu::Target target)
      : stage_(inputs(call), target, workers_of(queue), call.options<FlashDecodeStage1Options>().block_seq,
               used_blocks(call)) {}

  std::size_t workspace_bytes() const override { return stage_.scratch_bytes(); }
  void describe(core::Description& out) const override { stage_.describe(out); }
  void run(const Queue& queue, const Call& call, void* workspace) const override {
    const auto& args = call.args<FlashDecodeStage1Args>();
    stage_.run(queue, inputs(call), {args.mid_out, args.mid_lse}, static_cast<std::byte*>(workspace));
  }

 private:
  static Inputs inputs(const Call& call) {
    return inputs_of(call.args<FlashDecodeStage1Args>(), call.options<FlashDecodeStage1Options>());
  }
  static std::int64_t used_blocks(const Call& call) {
    const auto& options = call.options<FlashDecodeStage1Options>();
    const std::int64_t blocks = call.args<FlashDecodeStage1Args>().mid_lse.size(2);
    return options.max_len > 0 ? core::ceil_div(options.max_len, options.block_seq) : blocks;
  }
  BlockStage stage_;
};

class Stage2Plan : public core::Plan {
 public:
  Stage2Plan(const Call& call, const Queue&, cpu::Target target)
      : target_(target),
        shape_(call.args<FlashDecodeStage2Args>().mid_out),
        block_seq_(call.options<FlashDecodeStage2Options>().block_seq),
        stage_(call.args<FlashDecodeStage2Args>().out, target, block_seq_, shape_.size(2)) {}

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(shape_.dtype))}};
    out.parameters = {{"batch", std::to_string(shape_.size(0))},
                      {"heads", std::to_string(shape_.size(1))},
                      {"head_dim", std::to_string(shape_.size(3))}};
    out.constants = {{"block_seq", std::to_string(block_seq_)}, {"blocks", std::to_string(shape_.size(2))}};
    stage_.describe(out);
  }
  void run(const Queue& queue, const Call& call, void*) const override {
    const auto& args = call.args<FlashDecodeStage2Args>();
    stage_.run(queue, {args.mid_out, args.mid_lse}, args.b_seqlen, args.out);
  }

 private:
  cpu::Target target_;
  Tensor shape_;
  std::int64_t block_seq_;
  MergeStage stage_;
};

/// Both stages with the partial results in the workspace.
class FlashDecodePlan : public core::Plan {
 public:
  FlashDecodePlan(const Call& call, const Queue& queue, cpu::Target target)
      : block_seq_(block_seq(call, workers_of(queue))),
        blocks_(core::ceil_div(most(call), block_seq_)),
        rows_(call.args<FlashDecodeArgs>().q.size(0) * call.args<FlashDecodeArgs>().q.size(1)),
        head_dim_(call.args<FlashDecodeArgs>().q.size(2)),
        first_(inputs(call), target, workers_of(queue), block_seq_, blocks_),
        second_(call.args<FlashDecodeArgs>().out, target, block_seq_, blocks_) {}

  static std::string refuse(const Call& call, const Queue& queue) {
    const Tensor& q = call.args<FlashDecodeArgs>().q;
    // Of the blocks' results, before anything is computed in integers that they might overflow.
    const double bytes = 4.0 * static_cast<double>(q.size(0)) * static_cast<double>(q.size(1)) *
                         static_cast<double>(q.size(2) + 1) *
                         static_cast<double>(core::ceil_div(most(call), block_seq(call, workers_of(queue))));
    if (bytes <= 0x1p48) return {};
    return core::say("the blocks of sequences as long as Lmax would need ", bytes,
                     " bytes of workspace; give max_len");
  }

  std::size_t workspace_bytes() const override { return first_.scratch_bytes() + out_bytes() + lse_bytes(); }
  void describe(core::Description& out) const override {
    first_.describe(out);
    second_.describe(out);
  }
  void run(const Queue& queue, const Call& call, void* workspace) const override {
    const auto& args = call.args<FlashDecodeArgs>();
    const std::int64_t batch = args.q.size(0), heads = args.q.size(1);
    auto* scratch = static_cast<std::byte*>(workspace);
    std::byte* out = scratch + first_.scratch_bytes();
    const Partials partials = {Tensor(out, DType::f32, {batch, heads, blocks_, head_dim_}),
                               Tensor(out + out_bytes(), DType::f32, {batch, heads, blocks_})};
    first_.run(queue, inputs(call), partials, scratch);
    second_.run(queue, partials, args.b_seqlen, args.out);
  }

 private:
  static Inputs inputs(const Call& call) {
    return inputs_of(call.args<FlashDecodeArgs>(), call.options<FlashDecodeOptions>());
  }
  static std::int64_t most(const Call& call) {
    const std::int64_t room = call.args<FlashDecodeArgs>().req_to_tokens.size(1);
    const std::int64_t max_len = call.options<FlashDecodeOptions>().max_len;
    return max_len > 0 ? std::min(max_len, room) : room;
  }
  /// As few blocks as give every thread several tasks: never under 256 tokens, where the partial results
  /// begin to cost, nor over 8192, so that sequences of uneven length balance.
  static std::int64_t block_seq(const Call& call, int workers) {
    if (const std::int64_t given = call.options<FlashDecodeOptions>().block_seq; given > 0) return given;
    const auto& args = call.args<FlashDecodeArgs>();
    const std::int64_t splits =
        core::ceil_div(4 * std::int64_t{workers}, std::max<std::int64_t>(1, args.q.size(0)));
    const std::int64_t even = core::ceil_div(core::ceil_div(most(call), splits), 16) * 16;
    return std::clamp<std::int64_t>(even, 256, 8192);
  }
  std::size_t f32_bytes(std::int64_t per_block) const {
    return static_cast<std::size_t>(core::align_up(rows_ * blocks_ * per_block * 4, core::kAlignment));
  }
  std::size_t out_bytes() const { return f32_bytes(head_dim_); }
  std::size_t lse_bytes() const { return f32_bytes(1); }

  std::int64_t block_seq_, blocks_, rows_, head_dim_;
  BlockStage first_;
  MergeStage second_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<FlashDecodePlan>(block_function());
}

std::vector<std::unique_ptr<const core::Implementation>> stage1::cpu() {
  return isomer::cpu::implementations<Stage1Plan>(block_function());
}

std::vector<std::unique_ptr<const core::Implementation>> stage2::cpu() {
  return isomer::cpu::implementations<Stage2Plan>(merge_function());
}

}  // namespace isomer::ops::flash_decode
