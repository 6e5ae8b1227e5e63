#include "ops/attention/gpu/sm90_tiling.hpp"

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/attention/gpu/tiling.hpp"
#include "ops/attention/kernels/attention_sm90.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <vector>

namespace isomer::ops::attention {
namespace {

using core::ceil_div;
using core::say;
using Layout = device::AttentionSm90Layout;

/// What fits registers and shared memory: S, two blocks of P and Σ P·v take 3/4 · block_n + head_dim_v / 2 of
/// a thread's 232 registers, and addresses, limits and sums about 40.
struct Shape {
  int head_dim, head_dim_v, block_n, query_buffers;
  int block_n_softcap;  ///< tanh needs registers too
};
constexpr Shape kShapes[] = {
    {64, 64, 128, 2, 128},   {96, 96, 128, 2, 128}, {128, 128, 128, 2, 128},
    {192, 128, 112, 1, 112}, {192, 192, 96, 1, 96}, {256, 256, 64, 1, 48},
};

const Shape* shape_of(const Geometry& g) {
  for (const Shape& shape : kShapes)
    if (g.head_dim <= shape.head_dim && g.head_dim_v <= shape.head_dim_v) return &shape;
  return nullptr;
}

/// Rows and windows are counted in 32 bits, and sums of two of them too.
constexpr std::int64_t kMostRows = std::int64_t{1} << 29;
/// Where few queries share long keys, a kernel that splits the keys over blocks is bound by memory alone.
constexpr std::int64_t kLongDecode = 512;
/// Factors of scores beyond which references and limits of sums in f32 mean nothing.
constexpr double kLeastScale = 0x1p-60, kMostScale = 0x1p60;

/// What a tile costs beside its blocks of keys, in blocks: first S and softmax, last P·V, out.
constexpr double kBorder = 2;

/// What a tensor map asks of q, k, v or out.
std::string misfit(const char* name, const RowView& view, std::int64_t heads) {
  const auto stride = [&](std::int64_t count, std::int64_t step, const char* of) -> std::string {
    if (count <= 1) return {};
    const std::int64_t bytes = step * size_of(view.dtype);
    if (bytes > 0 && bytes % 16 == 0 && bytes < std::int64_t{1} << 40) return {};
    return say(name, " has ", bytes, " bytes from one ", of,
               " to the next, tensor copies need multiples of 16");
  };
  if (reinterpret_cast<std::uintptr_t>(view.data) % 16 != 0)
    return say(name, " begins at no multiple of 16 bytes, which tensor copies need");
  if (std::string reason = stride(view.rows, view.row_stride, "row"); !reason.empty()) return reason;
  if (std::string reason = stride(heads, view.head_stride, "head"); !reason.empty()) return reason;
  return stride(view.outers, view.outer_stride, "batch entry");
}

}  // namespace

std::string refuse_sm90(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  const AttentionArgs& a = *g.args;
  if (g.q.dtype != DType::f16 && g.q.dtype != DType::bf16)
    return say("takes f16 and bf16, q is ", name_of(g.q.dtype));
  if (g.k.dtype != g.q.dtype || g.v.dtype != g.q.dtype)
    return say("takes k and v of q's type, they are ", name_of(g.k.dtype));
  if (g.paged) return "takes no paged keys";
  if (g.append) return "appends no keys";
  if (a.q_descale.defined() || a.k_descale.defined() || a.v_descale.defined()) return "takes no descales";
  if (options.num_splits > 1 || options.split_size > 0) return "does not split keys";
  if (options.pack_gqa == AttentionOptions::Choice::always) return "does not pack heads into tiles";
  if (shape_of(g) == nullptr)
    return say("has no tile for head dimensions ", g.head_dim, " and ", g.head_dim_v);
  for (const auto& [name, rows] : {std::pair{"q", g.q.rows}, std::pair{"k", g.k.rows}})
    if (rows > kMostRows) return say(name, " has ", rows, " rows, the kernel counts ", kMostRows);
  const double scale = g.softcap > 0 ? g.softcap : g.scale;
  if (!(scale > kLeastScale && scale < kMostScale)) return say("takes no scale of ", scale);
  if (g.batch * g.heads * g.seqlen_q == 0) return {};
  if (g.k.outers * g.k.rows * g.heads_kv == 0) return "k has no rows, which tensor copies need";
  for (const auto& [name, view, heads] :
       {std::tuple{"q", &g.q, g.heads}, std::tuple{"k", &g.k, g.heads_kv}, std::tuple{"v", &g.v, g.heads_kv},
        std::tuple{"out", &g.out, g.heads}})
    if (std::string reason = misfit(name, *view, heads); !reason.empty()) return reason;
  const std::int64_t tiles = tile_up_sm90(g, facts).tiles;
  if (tiles > kMostRows) return say("has ", tiles, " tiles, the kernel counts ", kMostRows);
  if (g.seqlen_k >= kLongDecode && tile_up(g, options, facts).decode)
    return "few queries share long keys: the decode kernel, which splits them, is faster";
  return {};
}

Sm90Tiling tile_up_sm90(const Geometry& g, const gpu::Facts& facts) {
  const Shape& shape = *shape_of(g);
  const AttentionArgs& a = *g.args;
  Sm90Tiling t;
  t.head_dim = shape.head_dim;
  t.head_dim_v = shape.head_dim_v;
  t.block_n = g.softcap > 0 ? shape.block_n_softcap : shape.block_n;
  t.query_buffers = shape.query_buffers;
  t.shared_bytes = Layout(t.head_dim, t.head_dim_v, t.block_n, t.query_buffers).bytes;
  t.lengths = g.varlen_q || g.varlen_k || a.seqused_q.defined() || a.seqused_k.defined() ||
              a.leftpad_k.defined() || a.kv_batch_idx.defined();
  t.row_tiles = ceil_div(g.seqlen_q, Layout::kRows);
  // However cu_seqlens divides total_q rows, each entry has one part of a tile at most.
  const std::int64_t of_head =
      g.varlen_q ? std::min(g.batch * t.row_tiles, ceil_div(g.total_q, Layout::kRows) + g.batch)
                 : g.batch * t.row_tiles;
  t.tiles = of_head * g.heads;
  if (g.masked()) {
    const std::int64_t bytes = std::max<std::int64_t>(g.seqlen_k * (g.head_dim + g.head_dim_v) * 2, 1);
    std::int64_t heads_kv = 1;
    while (heads_kv * 2 * bytes <= facts.l2_bytes * 2 / 3) heads_kv *= 2;
    t.section = heads_kv * g.group;
  }
  t.section = std::clamp<std::int64_t>(t.section, 1, std::max<std::int64_t>(g.heads * g.batch, 1));
  t.grid = std::min<std::int64_t>(t.tiles, facts.multiprocessors);
  t.heads = g.heads * g.batch;
  t.seqlen_q = g.seqlen_q;
  t.seqlen_k = g.seqlen_k;
  t.window_left = g.window_left;
  t.window_right = g.window_right;
  return t;
}

Sm90Schedule schedule_sm90(const Sm90Tiling& t) {
  Sm90Schedule schedule;
  if (t.grid == 0) return schedule;
  const std::int64_t shift = t.seqlen_k - t.seqlen_q;
  std::priority_queue<double, std::vector<double>, std::greater<>> ready;
  for (std::int64_t i = 0; i < t.grid; ++i) ready.push(0);
  const auto take = [&](std::int64_t row_tile) {
    const std::int64_t first = row_tile * Layout::kRows,
                       last = std::min(first + Layout::kRows, t.seqlen_q) - 1;
    const std::int64_t low = t.window_left < 0 ? 0 : std::max<std::int64_t>(first + shift - t.window_left, 0);
    const std::int64_t high =
        t.window_right < 0 ? t.seqlen_k : std::min(last + shift + t.window_right + 1, t.seqlen_k);
    const std::int64_t blocks = high > low ? ceil_div(high, t.block_n) - low / t.block_n : 1;
    const double begin = ready.top(), cost = static_cast<double>(blocks) + kBorder;
    ready.pop();
    ready.push(begin + cost);
    schedule.makespan = std::max(schedule.makespan, begin + cost);
    schedule.mean += cost / static_cast<double>(t.grid);
  };
  for (std::int64_t section = 0; section < t.heads; section += t.section)
    for (std::int64_t row_tile = t.row_tiles - 1; row_tile >= 0; --row_tile)
      for (std::int64_t head = section; head < std::min(section + t.section, t.heads); ++head) take(row_tile);
  return schedule;
}

}  // namespace isomer::ops::attention
