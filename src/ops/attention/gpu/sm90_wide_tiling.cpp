#include "ops/attention/gpu/sm90_wide_tiling.hpp"

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/attention/gpu/tiling.hpp"
#include "ops/attention/kernels/attention_sm90_wide.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace isomer::ops::attention {
namespace {

using core::ceil_div;
using core::say;
using Layout = device::AttentionSm90WideLayout;

/// Columns of v that the kernel without queries of v, whose tiles have twice the rows, has registers for.
constexpr std::int64_t kOtherKernel = 256, kOtherWide = 192;
constexpr std::int64_t kMostValues = 512;

/// What the launch that combines parts costs by itself, in blocks of 64 keys, and how many bytes of partial
/// results the device writes and reads while a block is worked on.
constexpr double kCombine = 3, kPartialBytesOfBlock = 3 << 19;
/// Of a part, at least.
constexpr std::int64_t kLeastPart = 128;
constexpr std::int64_t kPartialBytes = std::int64_t{256} << 20, kMostParts = 128;
/// Calls of so many tiles for each multiprocessor fill the device anyhow.
constexpr std::int64_t kFullRounds = 4;

/// Of heads whose rows share tiles, the number that makes the fewest tiles; of two such the larger one.
std::int64_t packed(const Geometry& g, const AttentionOptions& options) {
  if (options.pack_gqa == AttentionOptions::Choice::never) return 1;
  const std::int64_t group = std::max<std::int64_t>(g.group, 1);
  std::int64_t best = 1, least = 0;
  for (std::int64_t pack = 1; pack <= std::min<std::int64_t>(group, Layout::kRows); ++pack) {
    if (group % pack != 0) continue;
    const std::int64_t tiles = group / pack * ceil_div(g.seqlen_q * pack, Layout::kRows / pack * pack);
    if (pack > 1 && tiles > least) continue;
    best = pack;
    least = tiles;
  }
  return best;
}

Sm90Tiling in_parts(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts,
                    std::int64_t parts) {
  const AttentionArgs& a = *g.args;
  Sm90Tiling t;
  t.head_dim = Layout::kPanelColumns;
  t.head_dim_v = g.head_dim_v <= 256 ? 256 : 512;
  t.block_n = Layout::kKeys;
  t.query_buffers = 1;
  t.shared_bytes = Layout(t.head_dim_v).bytes;
  t.ragged = g.varlen_q || a.seqused_q.defined();
  t.lengths = true;
  t.pieces = true;
  t.pack = packed(g, options);
  t.units = g.heads / t.pack;
  t.tile_rows = Layout::kRows / t.pack * t.pack;
  t.parts = parts;
  t.split_size = options.split_size;
  t.box_rows = g.paged ? std::gcd(g.page_size, std::int64_t{t.block_n}) : t.block_n;
  t.row_tiles = ceil_div(g.seqlen_q * t.pack, t.tile_rows);
  const std::int64_t of_unit =
      g.varlen_q ? std::min(g.batch * t.row_tiles, ceil_div(g.total_q * t.pack, t.tile_rows) + g.batch)
                 : g.batch * t.row_tiles;
  t.tiles = of_unit * t.units * parts;
  // Units of one kv head read the same keys at the same time.
  t.section = std::clamp<std::int64_t>(std::max<std::int64_t>(g.group, 1) / t.pack, 1,
                                       std::max<std::int64_t>(t.units, 1));
  t.grid = std::min<std::int64_t>(t.tiles, facts.multiprocessors);
  t.heads = t.units * g.batch;
  t.seqlen_q = g.seqlen_q;
  t.seqlen_k = g.seqlen_k;
  t.window_left = g.window_left;
  t.window_right = g.window_right;
  t.chunk = g.chunk;
  return t;
}

double cost_of(const Geometry& g, const Sm90Tiling& t) {
  const double blocks = schedule_sm90(t).makespan;
  if (t.parts == 1) return blocks;
  const double bytes = static_cast<double>(g.total_q * g.heads) * static_cast<double>(t.parts) *
                       static_cast<double>(g.head_dim_v + 2) * 4;
  return blocks + kCombine + bytes / kPartialBytesOfBlock;
}

}  // namespace

std::string refuse_sm90_wide(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  if (g.q.dtype != DType::f16 && g.q.dtype != DType::bf16)
    return say("takes f16 and bf16, q is ", name_of(g.q.dtype));
  for (const auto& [name, dtype] :
       {std::pair{"k", g.k.dtype}, std::pair{"v", g.v.dtype}, std::pair{"out", g.out.dtype}})
    if (dtype != g.q.dtype) return say("takes k, v and out of q's type, ", name, " is ", name_of(dtype));
  if (g.rotary) return "turns no queries";
  if (g.head_dim > Layout::kPanelColumns || g.head_dim_v > kMostValues)
    return say("takes head dimensions up to ", Layout::kPanelColumns, " and ", kMostValues, ", they are ",
               g.head_dim, " and ", g.head_dim_v);
  if (!g.has_qv() && g.head_dim_v <= kOtherWide)
    return say("values of ", g.head_dim_v, " columns without qv have faster kernels");
  if (!g.has_qv() && g.head_dim_v <= kOtherKernel &&
      (tile_up(g, options, facts).decode || g.seqlen_q * packed(g, options) > Layout::kRows))
    return say("values of ", g.head_dim_v,
               " columns without qv have faster kernels but where 17 to 64 rows share their keys");
  if (std::string reason = beyond_counts(g, options, true); !reason.empty()) return reason;
  if (g.batch * g.heads * g.seqlen_q == 0) return {};
  if (g.k.outers * g.k.rows * g.heads_kv == 0) return "k has no rows, which tensor copies need";
  for (const auto& [name, view, heads] :
       {std::tuple{"q", &g.q, g.heads}, std::tuple{"k", &g.k, g.heads_kv}, std::tuple{"v", &g.v, g.heads_kv},
        std::tuple{"out", &g.out, g.heads}, std::tuple{"qv", &g.qv, g.heads}})
    if (std::string reason = view->defined() ? misfit(name, *view, heads) : ""; !reason.empty())
      return reason;
  const std::int64_t tiles = tile_up_sm90_wide(g, options, facts).tiles;
  if (tiles > kMostSm90Rows) return say("has ", tiles, " tiles, the kernel counts ", kMostSm90Rows);
  return {};
}

Sm90Tiling tile_up_sm90_wide(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  if (options.split_size > 0 || options.num_splits > 1)
    return in_parts(g, options, facts, tile_up(g, options, facts).parts);
  Sm90Tiling best = in_parts(g, options, facts, 1);
  if (options.num_splits == 1 || best.tiles == 0 || best.tiles > kFullRounds * facts.multiprocessors)
    return best;
  double least = cost_of(g, best);
  const std::int64_t row_bytes = std::max<std::int64_t>(g.total_q * g.heads * (g.head_dim_v + 2) * 4, 1);
  for (std::int64_t parts = 2;
       parts * kLeastPart <= g.seqlen_k && parts * row_bytes <= kPartialBytes && parts <= kMostParts;
       parts += parts < 16 ? 1 : 2) {
    const Sm90Tiling t = in_parts(g, options, facts, parts);
    if (t.tiles > kFullRounds * facts.multiprocessors) break;
    if (const double cost = cost_of(g, t); cost < least) {
      least = cost;
      best = t;
    }
  }
  return best;
}

}  // namespace isomer::ops::attention
