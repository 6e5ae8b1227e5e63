#include "core/sentence.hpp"
#include "core/tensor_text.hpp"
#include "cpu/implementation.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/cpu/append.hpp"

#include <algorithm>
#include <span>

namespace isomer::ops::attention {
namespace {

using core::say;

class AttentionPlan : public core::Plan {
 public:
  AttentionPlan(const core::Call& call, const Queue& queue, cpu::Target target)
      : target_(target),
        kernels_(kernels(target)),
        args_(call.args<AttentionArgs>()),
        options_(call.options<AttentionOptions>()),
        tiling_(tile_up(Geometry(args_, options_), options_, kernels_, queue.executor().concurrency())) {}

  void describe(core::Description& out) const override {
    const Geometry g(args_, options_);
    const auto yes = [](bool is) { return std::string(is ? "1" : "0"); };
    const auto number = [](std::int64_t n) { return std::to_string(n); };
    const bool few = g.seqlen_q * tiling_.unit_heads <= tiling_.few_rows;
    out.variant = {
        {"target", std::string(cpu::name_of(target_))},
        {"element", std::string(name_of(g.q.dtype))},
        {"element_kv", std::string(name_of(g.k.dtype))},
        {"head_dim", number(g.head_dim)},
        {"head_dim_v", number(g.head_dim_v)},
        {"is_causal", yes(g.causal())},
        {"is_local", yes(g.local())},
        {"has_softcap", yes(g.softcap > 0)},
        {"varlen", yes(g.varlen_q || g.varlen_k || args_.seqused_q.defined() || args_.seqused_k.defined())},
        {"paged_kv", yes(g.paged)},
        {"append_kv", yes(g.append)},
        {"pack_gqa", yes(tiling_.pack)},
        {"split", yes(tiling_.parts > 1)},
        {"v_colmajor", yes(g.v_colmajor)},
        {"has_qv", yes(g.has_qv())},
        {"block_m", number(few ? tiling_.bundle * g.seqlen_q * tiling_.unit_heads : tiling_.block_m)},
        {"block_n", number(few ? Tiling::kDecodeKeys : tiling_.block_n)},
        {"scheduler", "longest_first"}};
    out.parameters = {
        {"batch", number(g.batch)},
        {"heads", number(g.heads)},
        {"heads_kv", number(g.heads_kv)},
        {"head_dim", number(g.head_dim)},
        {"seqlen_q", number(g.seqlen_q)},
        {"seqlen_k", number(g.seqlen_k)},
        {"total_q", number(g.total_q)},
        {"total_k", number(g.total_k)},
        {"is_varlen_q", yes(g.varlen_q)},
        {"is_varlen_k", yes(g.varlen_k)},
        {"scale", say(g.scale)},
        {"num_splits", number(tiling_.parts)},
        {"strides", say("q", core::strides_text(args_.q, " "), " k", core::strides_text(args_.k, " "), " v",
                        core::strides_text(args_.v, " "), " out", core::strides_text(args_.out, " "))}};
    out.constants = {{"vectors", few ? "along head_dim" : "across rows"},
                     {"strip", number(few ? kernels_.decode_rows : kernels_.prefill_rows)},
                     {"bundle", number(few ? tiling_.bundle : 1)},
                     {"split_size", number(tiling_.split_size)},
                     {"splits_apart", yes(tiling_.split_kv)},
                     {"threads", number(tiling_.threads)},
                     {"workspace_bytes", std::to_string(tiling_.workspace_bytes())}};
    const auto launch = [&](const char* kernel, std::int64_t tasks) {
      out.launches.push_back({.kernel = kernel,
                              .grid = {tasks, 1, 1},
                              .shared_bytes = static_cast<std::int64_t>(tiling_.scratch_bytes)});
    };
    if (g.append) launch("append", append_tasks(g));
    launch("attention", tiling_.split_kv ? tiling_.tiles * tiling_.parts : tiling_.tiles);
    if (tiling_.split_kv) launch("combine", tiling_.tiles);
  }
  std::size_t workspace_bytes() const override { return tiling_.workspace_bytes(); }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    Executor& executor = queue.executor();
    if (executor.concurrency() > tiling_.threads)
      core::fail(ErrorCode::bad_argument, "attention: the plan is for ", tiling_.threads,
                 " threads, the queue has ", executor.concurrency(), "; plan again for this queue");
    const Geometry g(call.args<AttentionArgs>(), call.options<AttentionOptions>());
    const TileContext context{g, tiling_, kernels_};
    auto* memory = static_cast<std::byte*>(workspace);
    auto* first_tile = reinterpret_cast<std::int64_t*>(memory);
    std::byte* scratch = memory + tiling_.table_bytes;
    if (g.append) append(context, scratch, executor);

    first_tile[0] = 0;
    for (std::int64_t b = 0; b < g.batch; ++b)
      first_tile[b + 1] = first_tile[b] + tiling_.tiles_of(g.entry(b));
    const std::span<const std::int64_t> tiles(first_tile, static_cast<std::size_t>(g.batch + 1));
    if (tiling_.split_kv)
      run_split_kv(context, tiles, scratch, executor);
    else
      run_whole(context, tiles, scratch, executor);
  }

 private:
  TileScratch scratch_of(const TileContext& context, std::byte* scratch, int worker) const {
    return scratch_at(scratch + static_cast<std::size_t>(worker) * tiling_.scratch_bytes, tiling_,
                      context.geometry);
  }

  static Tile tile(const TileContext& context, const TileScratch& scratch,
                   std::span<const std::int64_t> tiles, std::int64_t index) {
    const auto b = std::upper_bound(tiles.begin(), tiles.end(), index) - tiles.begin() - 1;
    return Tile(context, scratch, b, index - tiles[static_cast<std::size_t>(b)]);
  }

  void run_whole(const TileContext& context, std::span<const std::int64_t> tiles, std::byte* scratch,
                 Executor& executor) const {
    parallel_for(executor, tiles.back(), [&](std::int64_t index, int worker) {
      const TileScratch mine = scratch_of(context, scratch, worker);
      Tile work = tile(context, mine, tiles, index);
      *mine.whole.empty = 1;
      for (std::int64_t part = 0; part < work.parts(); ++part) {
        const TileState& state = *mine.whole.empty ? mine.whole : mine.part;
        work.attend(part, state);
        if (state.o == mine.part.o) work.join(mine.whole, state);
      }
      work.finish(mine.whole);
    });
  }

  void run_split_kv(const TileContext& context, std::span<const std::int64_t> tiles, std::byte* scratch,
                    Executor& executor) const {
    std::byte* states = scratch + static_cast<std::size_t>(tiling_.threads) * tiling_.scratch_bytes;
    const auto state = [&](std::int64_t index, std::int64_t part) {
      const auto at = static_cast<std::size_t>(index * tiling_.parts + part);
      return state_at(states + at * tiling_.state_bytes, tiling_, context.geometry);
    };
    parallel_for(executor, tiles.back() * tiling_.parts, [&](std::int64_t task, int worker) {
      const std::int64_t index = task / tiling_.parts, part = task % tiling_.parts;
      Tile work = tile(context, scratch_of(context, scratch, worker), tiles, index);
      if (part < work.parts()) work.attend(part, state(index, part));
    });
    parallel_for(executor, tiles.back(), [&](std::int64_t index, int worker) {
      Tile work = tile(context, scratch_of(context, scratch, worker), tiles, index);
      for (std::int64_t part = 1; part < work.parts(); ++part) work.join(state(index, 0), state(index, part));
      work.finish(state(index, 0));
    });
  }

  cpu::Target target_;
  Kernels kernels_;
  AttentionArgs args_;  ///< for their shapes: the tensors of a run are its own
  AttentionOptions options_;
  Tiling tiling_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<AttentionPlan>(prefill_kernels());
}

}  // namespace isomer::ops::attention
