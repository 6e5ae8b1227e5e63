#include "ops/attention/gpu/sm90_tiling.hpp"

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/attention/gpu/steps.hpp"
#include "ops/attention/gpu/tiling.hpp"
#include "ops/attention/kernels/attention_sm90.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>

namespace isomer::ops::attention {
namespace {

using core::ceil_div;
using core::say;
using Layout = device::AttentionSm90Layout;

/// What fits registers and shared memory: S, two blocks of P and Σ P·v take block_n + head_dim_v / 2 of a
/// thread's 232 registers, and addresses, limits and sums about 40.
struct Shape {
  int head_dim, head_dim_v, block_n, query_buffers;
  int block_n_softcap;                         ///< tanh needs registers too
  int block_n_pieces, block_n_pieces_softcap;  ///< and so does finding rows
  int block_n_many_rows;  ///< where three warpgroups work, of 160 or 152 registers; 0: they do not fit
  int block_n_many_rows_softcap;
  int block_n_most_rows = 0;  ///< where four do, of 112
};
constexpr Shape kShapes[] = {
    {64, 64, 128, 2, 128, 128, 128, 96, 0, 64}, {96, 96, 128, 2, 128, 128, 128, 0, 0},
    {128, 128, 128, 2, 128, 128, 128, 0, 0},    {192, 128, 112, 1, 112, 80, 80, 0, 0},
    {192, 192, 96, 1, 96, 64, 64, 0, 0},        {256, 256, 64, 1, 48, 48, 48, 0, 0},
};

/// Of e4m3, which is always worked on in pieces. Up to 128 columns S, one P and Σ P·v take 5/8 · block_n +
/// head_dim_v / 2, of 152 with three warpgroups. A row of turned V has room for 64 or 128 keys.
constexpr Shape kByteShapes[] = {
    {64, 64, 128, 2, 128, 128, 128, 96, 96, 64}, {96, 96, 128, 2, 128, 128, 128, 96, 96},
    {128, 128, 128, 2, 128, 128, 128, 96, 64},   {192, 192, 64, 1, 64, 64, 64, 0, 0},
    {256, 256, 64, 1, 64, 64, 64, 0, 0},
};

/// Of 16 bits over keys and values of e4m3, which become 16 bits on their way.
constexpr Shape kMixedShapes[] = {
    {64, 64, 96, 2, 96, 96, 96, 0, 0},   {96, 96, 64, 2, 64, 64, 64, 0, 0},
    {128, 128, 64, 2, 64, 64, 64, 0, 0}, {192, 128, 64, 1, 64, 64, 64, 0, 0},
    {192, 192, 48, 1, 48, 48, 48, 0, 0}, {256, 256, 32, 1, 32, 32, 32, 0, 0},
};

bool has_bytes(const Geometry& g) { return g.q.dtype == DType::e4m3fn; }
bool converts(const Geometry& g) { return !has_bytes(g) && g.k.dtype == DType::e4m3fn; }

std::span<const Shape> shapes_of(const Geometry& g) {
  if (has_bytes(g)) return kByteShapes;
  if (converts(g)) return kMixedShapes;
  return kShapes;
}

const Shape* shape_of(const Geometry& g) {
  for (const Shape& shape : shapes_of(g))
    if (g.head_dim <= shape.head_dim && g.head_dim_v <= shape.head_dim_v) return &shape;
  return nullptr;
}

int keys_in_pieces(const Geometry& g, const Shape& shape) {
  return g.softcap > 0 ? shape.block_n_pieces_softcap : shape.block_n_pieces;
}

using Choice = AttentionOptions::Choice;

/// Why only the kernel for pieces does it; empty where the plain one does, too.
std::string asks_for_pieces(const Geometry& g, const AttentionOptions& options) {
  if (has_bytes(g)) return "e4m3fn";
  if (converts(g)) return "keys of e4m3fn";
  if (g.paged) return "paged keys";
  if (g.append) return "appended keys";  // and with them rotated queries
  if (options.num_splits > 1 || options.split_size > 0) return "split keys";
  if (options.pack_gqa == Choice::always) return "packed heads";
  if (g.chunk > 0) return "chunks of keys";
  return {};
}

constexpr std::int64_t kGroupRows = 64;  // of a warpgroup
/// Where few queries share long keys, a kernel that splits the keys over blocks is bound by memory alone.
constexpr std::int64_t kLongDecode = 512;
/// Factors of scores beyond which references and limits of sums in f32 mean nothing.
constexpr double kLeastScale = 0x1p-60, kMostScale = 0x1p60;

/// In µs of an H200: a tile of 128 rows in blocks of 128 keys, one of 192 rows, and one of 256.
struct TileCost {
  double block, border;  ///< the latter in blocks
};
struct TileCosts {
  TileCost of_few_rows, of_many_rows, of_most_rows;
};
/// Of e4m3 with 128 dimensions and blocks of 96 keys. By them full calls of 16 × 1024, 8 × 2048, 4 × 4096 and
/// 1 × 16384 queries take 199, 342, 629 and 2349 µs with the first and 214, 333, 595 and 2192 with the
/// second; measured were 189, 340, 642 and 2310, and 201, 332, 601 and 2190.
constexpr TileCosts kOfBytes{{1.12, 3.1}, {1.134, 4.7}, {}};
/// Of e4m3 with 64 dimensions, and blocks of 64 keys in the third. By the first 32 × 512 queries of 32 heads
/// take 186 µs, by the second 4 × 4096 and 1 × 16384 take 965 and 3320, and by the third 32 × 512, 4 × 4096
/// and 1 × 16384 take 154, 901 and 3470, and 16 × 1024 under a causal mask 162; measured were 185, 965 and
/// 3320, and 153, 901 and 3290, and 171.
constexpr TileCosts kOfBytesOf64Dimensions{{1.0, 1.8}, {0.893, 6.1}, {0.8345, 3.5}};
/// Of 16-bit types with 64 dimensions and blocks of 96 keys. By them 16 × 1024, 4 × 4096 and 1 × 16384
/// queries of 32 heads take 303, 1067 and 4120 µs with the first and 332, 962 and 3430 with the second, and
/// under a causal mask 202, 572 and 2052, and 227, 529 and 1762; measured were 301, 1070 and 4120, and 314,
/// 977 and 3430, and 198, 564 and 2020, and 221, 532 and 1780. With the third and blocks of 64 keys 32 × 512,
/// 16 × 1024, 4 × 4096 and 1 × 16384 queries take 142, 255, 936 and 3660, and under a causal mask 96, 151,
/// 481 and 1800; measured were 141, 255, 922 and 3710, and 98, 153, 476 and 1780.
constexpr TileCosts kOf64Dimensions{{0.994, 1.54}, {0.934, 3.8}, {0.886, 2}};
/// Three warpgroups of e4m3 with so many dimensions gain 1 to 2 % where they take no turns; with fewer they
/// lose that, and 5 % at 64.
constexpr int kFreelyOfManyRows = 128;
/// Of e4m3 under a mask: so many tiles of 128 rows for each multiprocessor are few.
constexpr std::int64_t kFewRounds = 2;
/// What the launch that combines parts costs by itself, in blocks, and how many bytes of partial results the
/// device writes and reads while a block is worked on. By it two parts of 20560 rows of 128 columns take 20
/// µs more than one and three 29; an H200 took 20.7 and 30.9.
constexpr double kCombine = 2.5, kPartialBytesOfBlock = 2 << 20;
/// Pieces must be so much shorter than whole tiles, and so many blocks beside, before they are taken unasked:
/// their way out is longer.
constexpr double kWorthPieces = 0.9, kLeastGain = 1;
/// Calls of so many tiles for each multiprocessor are not looked at: they fill the device anyhow.
constexpr std::int64_t kFullRounds = 4;
/// Where tiles are as many as that, so little of the last round is left that it is not looked at.
constexpr std::int64_t kManyRounds = 20;
/// Parts that a tile of the last round is divided into at most.
constexpr std::int64_t kMostPartsOfLast = 4;
constexpr std::int64_t kLeastPart = 256;
constexpr std::int64_t kPartialBytes = std::int64_t{256} << 20;
/// Of 128 rows those that must be in use where queries are many.
constexpr std::int64_t kFullTileRows = 112, kFewQueries = 64;

/// And of a column-major v: its columns take the place of rows.
std::string misfit_of_columns(const Geometry& g, const Shape& shape) {
  if (!g.v_colmajor) return {};
  if (g.paged && g.page_size % shape.block_n_pieces != 0)
    return say("takes a column-major v in pages of multiples of ", shape.block_n_pieces, " keys, they have ",
               g.page_size);
  const std::int64_t bytes = g.v.d_stride * size_of(g.v.dtype);
  if (g.head_dim_v > 1 && (bytes <= 0 || bytes % 16 != 0))
    return say("v has ", bytes, " bytes from one column to the next, tensor copies need multiples of 16");
  return {};
}

}  // namespace

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
  if (view.d_stride == 1)
    if (std::string reason = stride(view.rows, view.row_stride, "row"); !reason.empty()) return reason;
  if (std::string reason = stride(heads, view.head_stride, "head"); !reason.empty()) return reason;
  return stride(view.outers, view.outer_stride, "batch entry");
}

std::string beyond_counts(const Geometry& g, const AttentionOptions& options, bool pieces) {
  const AttentionArgs& a = *g.args;
  if (g.paged && static_cast<double>(a.page_table.size(1)) * static_cast<double>(g.page_size) > kMostSm90Rows)
    return say("has pages for more than ", kMostSm90Rows, " keys, as many as the kernel counts");
  if (options.split_size > kMostSm90Rows)
    return say("split_size is ", options.split_size, ", the kernel counts ", kMostSm90Rows);
  if (pieces && g.total_q * g.group > kMostSm90Rows)
    return say("q has ", g.total_q * g.group, " rows of a kv head, the kernel counts ", kMostSm90Rows);
  for (const auto& [name, rows] : {std::pair{"q", g.q.rows}, std::pair{"k", g.k.rows}})
    if (rows > kMostSm90Rows) return say(name, " has ", rows, " rows, the kernel counts ", kMostSm90Rows);
  const double scale = g.softcap > 0 ? g.softcap : g.scale;
  if (!(scale > kLeastScale && scale < kMostScale)) return say("takes no scale of ", scale);
  return {};
}

std::string refuse_sm90(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  if (g.q.dtype != DType::f16 && g.q.dtype != DType::bf16 && g.q.dtype != DType::e4m3fn)
    return say("takes f16, bf16 and e4m3fn, q is ", name_of(g.q.dtype));
  if (g.out.dtype != DType::f16 && g.out.dtype != DType::bf16)
    return say("writes f16 and bf16, out is ", name_of(g.out.dtype));
  if (g.v.dtype != g.k.dtype || (g.k.dtype != g.q.dtype && !converts(g)))
    return say("takes k and v of q's type or of e4m3fn, they are ", name_of(g.k.dtype));
  if (converts(g) && g.v_colmajor) return "takes a column-major v with queries of e4m3fn alone";
  if (g.has_qv()) return "takes no queries of v";
  const Shape* shape = shape_of(g);
  if (shape == nullptr) return say("has no tile for head dimensions ", g.head_dim, " and ", g.head_dim_v);
  const std::string pieces = asks_for_pieces(g, options);
  if (options.pack_gqa == Choice::always && g.group > Layout::kRows)
    return say("packs ", Layout::kRows, " heads into a tile, a kv head has ", g.group);
  if (std::string reason = beyond_counts(g, options, !pieces.empty()); !reason.empty()) return reason;
  if (g.batch * g.heads * g.seqlen_q == 0) return {};
  if (g.k.outers * g.k.rows * g.heads_kv == 0) return "k has no rows, which tensor copies need";
  if (std::string reason = misfit_of_columns(g, *shape); !reason.empty()) return reason;
  const RowView queries = g.rotary ? turned_queries(g) : g.q;
  for (const auto& [name, view, heads] :
       {std::tuple{"q", &queries, g.heads}, std::tuple{"k", &g.k, g.heads_kv},
        std::tuple{"v", &g.v, g.heads_kv}, std::tuple{"out", &g.out, g.heads}})
    if (std::string reason = misfit(name, *view, heads); !reason.empty()) return reason;
  const std::int64_t tiles = tile_up_sm90(g, options, facts).tiles;
  if (tiles > kMostSm90Rows) return say("has ", tiles, " tiles, the kernel counts ", kMostSm90Rows);
  if (g.seqlen_k >= kLongDecode && tile_up(g, options, facts).decode)
    return "few queries share long keys: the decode kernel, which splits them, is faster";
  return {};
}

namespace {

/// Keys that a query sees, of queries spread evenly over a call.
double mean_keys(const Geometry& g) {
  constexpr std::int64_t kSamples = 16;
  double sum = 0;
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::int64_t place = (2 * i + 1) * g.seqlen_q / (2 * kSamples) + g.seqlen_k - g.seqlen_q;
    const std::int64_t low = g.window_left < 0 ? 0 : std::max<std::int64_t>(place - g.window_left, 0),
                       high =
                           g.window_right < 0 ? g.seqlen_k : std::min(place + g.window_right + 1, g.seqlen_k);
    sum += static_cast<double>(std::max<std::int64_t>(high - low, 0)) / kSamples;
  }
  return sum;
}

const TileCosts& costs_of(const Geometry& g, const Shape& shape) {
  if (!has_bytes(g)) return kOf64Dimensions;
  return shape.head_dim <= 64 ? kOfBytesOf64Dimensions : kOfBytes;
}

const TileCost& cost_of_tile(const Geometry& g, std::int64_t rows) {
  const TileCosts& costs = costs_of(g, *shape_of(g));
  return rows == Layout::kRows       ? costs.of_few_rows
         : rows == Layout::kManyRows ? costs.of_many_rows
                                     : costs.of_most_rows;
}

/// What a tile is: its queries, and the keys of a block.
struct TileShape {
  std::int64_t rows;
  int keys;
};

/// What a call of `heads` heads of `rows` rows takes in such tiles, `pack` heads sharing one, in µs.
double time_of(const Geometry& g, const gpu::Facts& facts, std::int64_t heads, std::int64_t rows,
               std::int64_t pack, const TileShape& shape, const TileCost& cost) {
  const std::int64_t tile_rows = shape.rows / pack * pack, tiles = heads * ceil_div(rows, tile_rows);
  const double keys = shape.keys, all = static_cast<double>(ceil_div(g.seqlen_k, shape.keys)) + cost.border;
  if (!g.masked()) return static_cast<double>(ceil_div(tiles, facts.multiprocessors)) * all * cost.block;
  // Four warpgroups pass over what their own 64 rows do not see.
  const std::int64_t together = shape.rows == Layout::kMostRows ? kGroupRows : tile_rows;
  const double rounds = static_cast<double>(tiles) / static_cast<double>(facts.multiprocessors),
               mean = (mean_keys(g) + static_cast<double>(together) / 2) / keys + 0.5;
  return std::max(rounds * (mean + cost.border), all) * cost.block;
}

/// The larger ones that three and four warpgroups work on in blocks of fewer keys; nullopt: they cannot.
struct LargerShapes {
  std::optional<TileShape> many, most;
};
LargerShapes larger_shapes(const Geometry& g, const Shape& shape, std::int64_t pack, bool clears) {
  LargerShapes shapes;
  if (shape.block_n_many_rows == 0 || g.paged || g.v_colmajor || g.batch == 0 ||
      ceil_div(g.total_q, g.batch) * pack <= Layout::kRows)
    return shapes;
  // Three warpgroups have no registers for softcap and chunks beside one another.
  if (g.softcap <= 0 || (shape.block_n_many_rows_softcap > 0 && g.chunk == 0))
    shapes.many = TileShape{Layout::kManyRows, shape.block_n_many_rows};
  if (shape.block_n_most_rows > 0 && !clears)
    shapes.most = TileShape{Layout::kMostRows, shape.block_n_most_rows};
  return shapes;
}

/// Of a call of which `pack` heads share one. Two warpgroups work on `few`, 64 rows each.
TileShape tile_shape(const Geometry& g, const Shape& shape, const gpu::Facts& facts, const TileShape& few,
                     std::int64_t pack, bool clears) {
  const auto [many, most] = larger_shapes(g, shape, pack, clears);
  if (!many && !most) return few;
  const std::int64_t rows = ceil_div(g.total_q, g.batch) * pack, heads = g.batch * g.heads / pack;
  const TileCosts& costs = costs_of(g, shape);
  TileShape best = few;
  double least = time_of(g, facts, heads, rows, pack, few, costs.of_few_rows);
  const auto consider = [&](const TileShape& other, const TileCost& cost, bool takes = false) {
    const double time = time_of(g, facts, heads, rows, pack, other, cost);
    if (time >= least && !takes) return;
    least = time;
    best = other;
  };
  if (has_bytes(g) && g.masked()) {  // where tiles are few, one more block in the longest of them is too many
    const std::int64_t tiles = heads * ceil_div(rows, Layout::kRows / pack * pack);
    if (many && tiles > kFewRounds * facts.multiprocessors) consider(*many, costs.of_many_rows, true);
  } else if (many) {
    consider(*many, costs.of_many_rows);
  }
  if (most) consider(*most, costs.of_most_rows);
  if (g.softcap > 0 && best.rows == Layout::kManyRows) best.keys = shape.block_n_many_rows_softcap;
  return best;
}

void lay_out(Sm90Tiling& t, const Geometry& g) {
  const int element = static_cast<int>(size_of(g.q.dtype)), rows = static_cast<int>(t.rows);
  t.stages = Layout::stages(element, t.block_n, rows);
  t.shared_bytes = Layout(t.head_dim, t.head_dim_v, t.block_n, t.query_buffers, element, rows,
                          static_cast<int>(size_of(g.k.dtype)))
                       .bytes;
}

Sm90Tiling whole(const Geometry& g, const Shape& shape, const gpu::Facts& facts, bool pieces = false) {
  const AttentionArgs& a = *g.args;
  Sm90Tiling t;
  t.head_dim = shape.head_dim;
  t.head_dim_v = shape.head_dim_v;
  t.clears = a.seqused_k.defined() || g.varlen_k;
  TileShape tile{Layout::kRows, g.softcap > 0 ? shape.block_n_softcap : shape.block_n};
  if (!pieces) tile = tile_shape(g, shape, facts, tile, 1, t.clears);
  t.rows = tile.rows;
  t.block_n = tile.keys;
  t.box_rows = t.block_n;
  t.tile_rows = t.rows;
  t.query_buffers = shape.query_buffers;
  lay_out(t, g);
  t.ragged = g.varlen_q || a.seqused_q.defined();
  t.lengths = t.ragged || g.varlen_k || a.seqused_k.defined() || a.leftpad_k.defined() ||
              a.kv_batch_idx.defined() || g.append || g.paged;
  t.units = g.heads;
  t.row_tiles = ceil_div(g.seqlen_q, t.rows);
  // However cu_seqlens divides total_q rows, each entry has one part of a tile at most.
  const std::int64_t of_head = g.varlen_q
                                   ? std::min(g.batch * t.row_tiles, ceil_div(g.total_q, t.rows) + g.batch)
                                   : g.batch * t.row_tiles;
  t.tiles = of_head * g.heads;
  if (g.masked()) {
    const std::int64_t element = static_cast<std::int64_t>(size_of(g.k.dtype));
    const std::int64_t bytes = std::max<std::int64_t>(g.seqlen_k * (g.head_dim + g.head_dim_v) * element, 1);
    std::int64_t heads_kv = 1;
    while (heads_kv * 2 * bytes <= facts.l2_bytes / 3) heads_kv *= 2;
    t.section = heads_kv * g.group;
  }
  t.section = std::clamp<std::int64_t>(t.section, 1, std::max<std::int64_t>(g.heads * g.batch, 1));
  t.grid = std::min<std::int64_t>(t.tiles, facts.multiprocessors);
  t.heads = g.heads * g.batch;
  t.seqlen_q = g.seqlen_q;
  t.seqlen_k = g.seqlen_k;
  t.window_left = g.window_left;
  t.window_right = g.window_right;
  t.chunk = g.chunk;
  t.missing_rows = missing_rows_of(t);
  return t;
}

Sm90Tiling in_pieces(const Geometry& g, const Shape& shape, const gpu::Facts& facts, std::int64_t pack,
                     std::int64_t parts, std::int64_t split_size, std::optional<TileShape> asked = {}) {
  Sm90Tiling t = whole(g, shape, facts, true);
  t.pieces = true;
  t.clears = false;  // as it is
  TileShape tile{Layout::kRows, keys_in_pieces(g, shape)};
  if (asked)
    tile = *asked;
  else if (has_bytes(g))
    tile = tile_shape(g, shape, facts, tile, pack, false);
  t.rows = tile.rows;
  t.block_n = tile.keys;
  t.freely = has_bytes(g) && shape.block_n_many_rows > 0 &&
             (t.rows == Layout::kRows ? !g.masked() : t.head_dim == kFreelyOfManyRows);
  lay_out(t, g);
  t.pack = pack;
  t.units = g.heads / pack;
  t.tile_rows = t.rows / pack * pack;
  t.parts = parts;
  t.split_size = split_size;
  t.box_rows = g.paged ? std::gcd(g.page_size, std::int64_t{t.block_n}) : t.block_n;
  t.row_tiles = ceil_div(g.seqlen_q * pack, t.tile_rows);
  const std::int64_t of_unit =
      g.varlen_q ? std::min(g.batch * t.row_tiles, ceil_div(g.total_q * pack, t.tile_rows) + g.batch)
                 : g.batch * t.row_tiles;
  t.tiles = of_unit * t.units * parts;
  t.section = std::clamp<std::int64_t>(t.section / pack, 1, std::max<std::int64_t>(t.units, 1));
  t.grid = std::min<std::int64_t>(t.tiles, facts.multiprocessors);
  t.heads = t.units * g.batch;
  t.missing_rows = missing_rows_of(t);
  return t;
}

/// Of `t`, whose tiles are whole and all alike, with as many parts for each tile of the last `units` units.
Sm90Tiling divide_last(Sm90Tiling t, std::int64_t units, std::int64_t parts) {
  t.parts = parts;
  t.divided_units = units;
  t.tiles += units * t.row_tiles * (parts - 1);
  return t;
}

/// Heads that share a tile unless the call says otherwise.
std::int64_t packed(const Geometry& g, Choice choice) {
  const std::int64_t group = std::max<std::int64_t>(g.group, 1);
  if (choice == Choice::never || group > Layout::kRows) return 1;
  const bool full = Layout::kRows / group * group >= kFullTileRows;
  return choice == Choice::always || full || g.seqlen_q <= kFewQueries ? group : 1;
}

/// What a block of such a tile takes, in blocks of 128 queries and 128 keys.
double block_of(const Geometry& g, const Sm90Tiling& t) {
  if (t.rows == Layout::kRows) return 1;
  const double part = t.rows == Layout::kManyRows ? double(t.block_n) / shape_of(g)->block_n_many_rows : 1;
  return part * cost_of_tile(g, t.rows).block / costs_of(g, *shape_of(g)).of_few_rows.block;
}

double cost_of(const Geometry& g, const Sm90Tiling& t) {
  const double whole = schedule_sm90(t).makespan * block_of(g, t);
  if (t.parts == 1) return whole;
  const Geometry divided = divided_of(g, t);
  const double rows = static_cast<double>(divided.total_q * divided.heads),
               bytes = rows * t.parts * (g.head_dim_v + 2.0) * 4;
  return whole + kCombine + bytes / kPartialBytesOfBlock;
}

/// What a call costs whose tiles are all alike, or are but for those that are divided.
double cost_of_rounds(const Geometry& g, Sm90Tiling t) {
  if (has_bytes(g)) t.border = cost_of_tile(g, t.rows).border;
  return cost_of(g, t);
}

/// Tiles that are alike leave multiprocessors without one in the last round: those of the last heads are
/// divided where that ends sooner. Takes and gives back the best so far and what it costs.
void divide_last_round(const Geometry& g, const Sm90Tiling& whole, Sm90Tiling& best, double& least) {
  if (whole.lengths || whole.parts > 1 || whole.section > 1 || g.masked() || whole.tiles <= whole.grid ||
      whole.tiles > kManyRounds * whole.grid || whole.tiles % whole.grid == 0)
    return;
  const std::int64_t step = std::max<std::int64_t>(g.group / whole.pack, 1);  // whole heads of keys
  const std::int64_t units = ceil_div(ceil_div(whole.tiles % whole.grid, whole.row_tiles), step) * step;
  for (std::int64_t parts = 2; parts <= kMostPartsOfLast && parts * kLeastPart <= g.seqlen_k; ++parts) {
    const Sm90Tiling t = divide_last(whole, units, parts);
    if (units > t.units || parts * units * whole.pack * g.seqlen_q * (g.head_dim_v + 2) * 4 > kPartialBytes)
      return;
    const double cost = cost_of_rounds(g, t) + kLeastGain;
    if (cost >= least) continue;
    least = cost;
    best = t;
  }
}

/// Of a call in pieces, its best tiling whose last round is not divided being `best`.
void divide_last_round(const Geometry& g, const Shape& shape, const gpu::Facts& facts, Sm90Tiling& best) {
  if (g.masked() || best.parts > 1) return;
  double least = cost_of_rounds(g, best);
  const Sm90Tiling whole = best;
  divide_last_round(g, whole, best, least);
  if (!has_bytes(g)) return;
  const auto [many, most] = larger_shapes(g, shape, whole.pack, false);
  const TileShape few{Layout::kRows, keys_in_pieces(g, shape)};
  for (const std::optional<TileShape>& other : {std::optional(few), many, most})
    if (other && other->rows != whole.rows)
      divide_last_round(g, in_pieces(g, shape, facts, whole.pack, 1, 0, other), best, least);
}

}  // namespace

Geometry divided_of(const Geometry& g, const Sm90Tiling& t) {
  Geometry divided = g;
  if (t.divided_units == 0) return divided;
  divided.batch = 1;
  divided.heads = t.divided_units * t.pack;
  divided.heads_kv = divided.heads / std::max<std::int64_t>(g.group, 1);
  divided.total_q = g.seqlen_q;
  return divided;
}

Sm90Tiling tile_up_sm90(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  const Shape& shape = *shape_of(g);
  const bool asked = !asks_for_pieces(g, options).empty();
  const std::int64_t pack = packed(g, options.pack_gqa);
  if (options.split_size > 0 || options.num_splits > 1) {
    const GpuTiling common = tile_up(g, options, facts);
    return in_pieces(g, shape, facts, pack, common.parts, options.split_size);
  }
  Sm90Tiling best = asked ? in_pieces(g, shape, facts, pack, 1, 0) : whole(g, shape, facts);
  const bool divides = options.num_splits == 0, counts = g.total_q * g.group <= kMostSm90Rows;
  if (best.tiles == 0 || best.tiles > kFullRounds * facts.multiprocessors || !counts) {
    if (asked && divides && counts && best.tiles > 0) divide_last_round(g, shape, facts, best);
    return best;
  }
  double least = asked ? cost_of(g, best) : cost_of(g, best) * kWorthPieces - kLeastGain;
  const std::int64_t row_bytes = std::max<std::int64_t>(g.total_q * g.heads * (g.head_dim_v + 2) * 4, 1);
  for (std::int64_t parts = 1; parts == 1 || (options.num_splits == 0 && parts * kLeastPart <= g.seqlen_k &&
                                              parts * row_bytes <= kPartialBytes && parts <= 64);
       parts += parts < 8 ? 1 : 4) {
    const Sm90Tiling t = in_pieces(g, shape, facts, pack, parts, 0);
    if (parts == 1 && divides) divide_last_round(g, t, best, least);
    if (t.tiles > kFullRounds * facts.multiprocessors && parts > 1) break;
    if (const double cost = cost_of(g, t); cost < least) {
      least = cost;
      best = t;
    }
  }
  return best;
}

}  // namespace isomer::ops::attention
