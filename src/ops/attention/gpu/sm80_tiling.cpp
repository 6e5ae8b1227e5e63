#include "ops/attention/gpu/sm80_tiling.hpp"

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/attention/kernels/attention_sm80.h"

#include <algorithm>
#include <limits>

namespace isomer::ops::attention {
namespace {

using core::ceil_div;
using core::say;

/// What a block can be. Of a head dimension's rows the first is taken of which so many blocks find room on a
/// multiprocessor of the device; the last needs the least.
struct Shape {
  int head_dim, head_dim_v, block_m, block_n, warps, stages, blocks_together;
  bool plain = false;  ///< leaves no registers for softcap and for pages
};
constexpr Shape kShapes[] = {
    {64, 64, 128, 64, 4, 1, 3, true}, {64, 64, 128, 64, 4, 2, 2},  {64, 64, 128, 64, 4, 1, 2},
    {96, 96, 128, 64, 4, 2, 2},       {96, 96, 128, 64, 4, 1, 2},  {96, 96, 64, 64, 4, 1, 2},
    {128, 128, 128, 64, 4, 1, 2},     {128, 128, 64, 64, 4, 1, 2}, {192, 128, 128, 64, 4, 1, 2},
    {192, 128, 64, 64, 4, 1, 2},      {192, 128, 64, 32, 4, 1, 2}, {192, 192, 64, 64, 4, 1, 2},
    {192, 192, 64, 32, 4, 1, 2},      {256, 256, 64, 64, 4, 1, 2}, {256, 256, 128, 64, 8, 1, 1},
    {256, 256, 128, 32, 8, 1, 1},
};
/// What the device keeps for itself of each block's shared memory.
constexpr std::int64_t kReservedBytes = 1024;

std::int64_t bytes_of(const Shape& shape, bool pages) {
  return device::AttentionSm80Layout(shape.head_dim, shape.head_dim_v, shape.block_m, shape.block_n,
                                     shape.stages, shape.warps, pages)
      .bytes;
}

/// Null where there is none.
const Shape* shape_of(const Geometry& g, const gpu::Facts& facts) {
  const Shape* least = nullptr;
  for (const Shape& shape : kShapes) {
    if (g.head_dim > shape.head_dim || g.head_dim_v > shape.head_dim_v) continue;
    if (least != nullptr && (shape.head_dim != least->head_dim || shape.head_dim_v != least->head_dim_v))
      break;
    if (shape.plain && (g.softcap > 0 || g.paged)) continue;
    const std::int64_t bytes = bytes_of(shape, g.paged);
    if (bytes <= facts.shared_per_block) least = &shape;
    if (bytes <= facts.shared_per_block &&
        shape.blocks_together * (bytes + kReservedBytes) <= facts.shared_per_multiprocessor)
      return &shape;
  }
  return least;
}

/// Factors of scores beyond which references and limits of sums in f32 mean nothing.
constexpr double kLeastScale = 0x1p-60, kMostScale = 0x1p60;
/// Heads share a tile unasked where that leaves so much less to do.
constexpr double kWorthPacking = 0.9;

bool packs(const Geometry& g, const AttentionOptions& options, int rows) {
  using Choice = AttentionOptions::Choice;
  if (g.group <= 1 || options.pack_gqa == Choice::never) return false;
  if (options.pack_gqa == Choice::always) return true;
  return static_cast<double>(ceil_div(g.seqlen_q * g.group, rows)) <
         kWorthPacking * static_cast<double>(g.group * ceil_div(g.seqlen_q, rows));
}

}  // namespace

std::string refuse_sm80(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  if (g.q.dtype != DType::f16 && g.q.dtype != DType::bf16)
    return say("takes f16 and bf16, q is ", name_of(g.q.dtype));
  if (g.k.dtype != g.q.dtype || g.v.dtype != g.q.dtype)
    return say("takes k and v of q's type, they are ", name_of(g.k.dtype));
  if (g.out.dtype != g.q.dtype) return say("writes q's type, out is ", name_of(g.out.dtype));
  if (g.rotary) return "turns no queries";
  if (g.has_qv()) return "takes no queries of v";
  if (shape_of(g, facts) == nullptr)
    return say("has no tile for head dimensions ", g.head_dim, " and ", g.head_dim_v);
  const double scale = g.softcap > 0 ? g.softcap : g.scale;
  if (!(scale > kLeastScale && scale < kMostScale)) return say("takes no scale of ", scale);
  if (g.batch * g.heads * g.seqlen_q == 0) return {};
  for (const auto& [name, view, heads] :
       {std::tuple{"q", &g.q, g.heads}, std::tuple{"k", &g.k, g.heads_kv}, std::tuple{"v", &g.v, g.heads_kv},
        std::tuple{"out", &g.out, g.heads}})
    if (!aligned(*view, heads, 16)) return say(name, " has rows that begin at no multiple of 16 bytes");
  if (tile_up(g, options, facts).decode)
    return "few queries: the decode kernel, which splits their keys, is faster";
  const Sm80Tiling t = tile_up_sm80(g, options, facts);
  if (t.blocks(g.batch) > std::numeric_limits<std::int32_t>::max())
    return say("has ", t.blocks(g.batch), " tiles, a launch has at most ",
               std::numeric_limits<std::int32_t>::max());
  return {};
}

Sm80Tiling tile_up_sm80(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  const Shape& shape = *shape_of(g, facts);
  Sm80Tiling t;
  static_cast<GpuTiling&>(t) = tile_up(g, options, facts);
  t.head_dim = shape.head_dim;
  t.head_dim_v = shape.head_dim_v;
  t.block_m = shape.block_m;
  t.block_n = shape.block_n;
  t.warps = shape.warps;
  t.threads = 32 * shape.warps;
  t.stages = shape.stages;
  t.blocks_together = shape.blocks_together;
  t.pages = g.paged;
  t.shared_bytes = bytes_of(shape, g.paged);
  t.pack = packs(g, options, shape.block_m);
  t.unit_heads = t.pack ? g.group : 1;
  t.units = g.heads / t.unit_heads;
  t.tiles = ceil_div(g.seqlen_q * t.unit_heads, shape.block_m);
  t.workers = 0;
  const bool asked = options.num_splits > 0 || options.split_size > 0;
  const std::int64_t blocks = t.tiles * t.units * g.batch,
                     places = std::int64_t{facts.multiprocessors} * shape.blocks_together;
  if (!asked) t.parts = blocks == 0 ? 1 : std::clamp<std::int64_t>(places / blocks, 1, t.parts);
  if (g.masked()) {
    const std::int64_t bytes = std::max<std::int64_t>(g.seqlen_k * (g.head_dim + g.head_dim_v) * 2, 1);
    while (t.section * 2 * bytes <= facts.l2_bytes * 2 / 3) t.section *= 2;
    t.section *= g.group / t.unit_heads;
  }
  t.section = std::clamp<std::int64_t>(t.section, 1, std::max<std::int64_t>(t.units * g.batch, 1));
  return t;
}

}  // namespace isomer::ops::attention
