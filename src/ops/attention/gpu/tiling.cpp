#include "ops/attention/gpu/tiling.hpp"
#include "core/ceil_div.hpp"

#include "core/sentence.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace isomer::ops::attention {
namespace {

constexpr int kThreads = 128;
/// A part of fewer keys than this is not worth its combine.
constexpr std::int64_t kLeastPart = 256;
/// Blocks that a multiprocessor needs to be busy.
constexpr std::int64_t kBlocksPerMultiprocessor = 3;
/// What partial results may take: beyond the first the plan chooses fewer parts by itself, beyond the second
/// it takes fewer than asked for.
constexpr std::int64_t kPlannedBytes = std::int64_t{256} << 20, kMostBytes = std::int64_t{2} << 30;

/// Of what a block keeps in shared memory beside its tiles: the place of a key, and what it works on.
constexpr std::int64_t kPlaceBytes = 16, kTaskBytes = 192;

int bucket(std::int64_t dim) {
  for (const int most : {64, 128, 192, 256})
    if (dim <= most) return most;
  return 512;
}

/// The 16-bit type that holds q, k and v exactly; none for f32.
DType factor_type(const Geometry& g) {
  if (g.q.dtype == DType::f32) return DType::none;
  return g.q.dtype == DType::bf16 ? DType::bf16 : DType::f16;
}

/// Keys that a row may see, at most.
std::int64_t visible_keys(const Geometry& g) {
  const std::int64_t all = g.chunk > 0 ? std::min(g.seqlen_k, g.chunk + g.seqlen_q) : g.seqlen_k;
  if (g.window_left < 0 || g.window_right < 0) return all;
  return std::min(all, g.window_left + g.window_right + g.seqlen_q);
}

/// Of one part's partial results.
std::int64_t part_bytes(const Geometry& g) { return g.heads * g.total_q * (g.head_dim_v + 2) * 4; }

std::int64_t parts_that_fit(const Geometry& g, std::int64_t bytes) {
  return std::max<std::int64_t>(bytes / std::max<std::int64_t>(part_bytes(g), 1), 1);
}

std::int64_t parts_of_size(const Geometry& g, std::int64_t size) {
  return std::max<std::int64_t>(core::ceil_div(g.seqlen_k, size), 1);
}

/// A decode block reads 16 keys at a time with each warp, and twice as many bytes where it has registers for
/// them.
constexpr int kDecodeKeys = kThreads / 32 * 16;
/// Of bytes the decode kernel counts in 32 bits, 16 of them at a time.
constexpr double kMostDecodeBytes = 0x1p36;
constexpr std::int64_t kMostDecodeRows = 16;
/// Of a worker, at least; and what is not worth a combine where there are blocks enough without it.
constexpr std::int64_t kLeastDecodePart = 128, kShortDecode = 1024;
constexpr std::int64_t kMostDecodeParts = 256;
/// That are divided over workers: what the kernel has room for, and counts in 32 bits.
constexpr std::int64_t kMostDecodeEntries = 1024;
constexpr double kMostDecodeSlots = 0x1p36;
constexpr double kMostPlainSlots = 0x1p30;  ///< of an entry
/// Rounds of blocks, at most, where one leaves places of the device empty.
constexpr std::int64_t kMostRounds = 4;

/// Keys and values of e4m3fn, which become 16 bits on their way into products.
bool converts(const Geometry& g) { return g.k.dtype == DType::e4m3fn && g.q.dtype != DType::e4m3fn; }

bool counts_bytes_of(const RowView& view, std::int64_t heads) {
  double end = 0;
  for (const auto& [count, stride] :
       {std::pair{view.outers, view.outer_stride}, {view.rows, view.row_stride}, {heads, view.head_stride}}) {
    if (count > 1 && stride < 0) return false;
    if (count > 1) end += static_cast<double>(count) * static_cast<double>(stride);
  }
  return end < kMostDecodeBytes;
}

/// Whether few rows share keys that lanes can read 16 bytes at a time into fragments.
bool decodes(const GpuTiling& t, const Geometry& g) {
  if (t.mma != g.q.dtype || g.seqlen_q * t.unit_heads > kMostDecodeRows) return false;
  if (!aligned(g.k, g.heads_kv, 16) || !aligned(g.v, g.heads_kv, 16)) return false;
  return converts(g) ? counts_bytes_of(g.k, g.heads_kv) && counts_bytes_of(g.v, g.heads_kv)
                     : g.k.dtype == g.q.dtype;
}

/// Workers and parts so that the blocks fill the device's places and have as many keys each. One part, and no
/// workers, where an entry's keys are better left together.
void divide_keys(GpuTiling& t, const Geometry& g, const gpu::Facts& facts) {
  const std::int64_t blocks = t.units * t.tiles, places = std::int64_t{facts.multiprocessors} * t.resident;
  const std::int64_t keys = visible_keys(g);
  t.parts = 1;
  if (blocks == 0 || g.batch == 0 || keys <= kLeastDecodePart) return;
  // What the lengths on the device may be at most, whatever max_seqlen_k says.
  const double slots =
      static_cast<double>(g.batch) *
      (g.paged ? static_cast<double>(g.args->page_table.size(1)) * static_cast<double>(g.page_size)
               : static_cast<double>(g.k.rows));
  if (g.batch > kMostDecodeEntries || slots > kMostDecodeSlots) return;
  if (keys <= kShortDecode && blocks * g.batch >= places * kMostRounds) return;
  std::int64_t workers = 0;
  double filled = 0;
  for (std::int64_t rounds = 1; rounds <= kMostRounds; ++rounds) {
    const std::int64_t fit = rounds * places / blocks;
    const double share = static_cast<double>(fit * blocks) / static_cast<double>(rounds * places);
    if (share < filled + 0.05) continue;  // more rounds are more beginnings
    filled = share;
    workers = fit;
  }
  workers = std::min(workers, g.batch * core::ceil_div(keys, kLeastDecodePart));
  const std::int64_t parts = std::min({workers + 1, kMostDecodeParts, parts_that_fit(g, kPlannedBytes)});
  if (workers < 2 || parts < 2) return;
  t.workers = workers;
  t.parts = parts;
  t.least_part = kLeastDecodePart;
}

/// Whether a warp takes 32 keys of bytes at a time: narrow heads have registers for them, and 16 rows use
/// each key that is converted twice.
bool doubles_keys(const GpuTiling& t) { return t.head_dim + t.head_dim_v <= (t.block_m > 8 ? 256 : 128); }

/// By the registers of queries, of K and V under way, and of accumulators. Bytes need more of them where no
/// instruction converts them.
int decode_resident(const GpuTiling& t, const Geometry& g, const gpu::Facts& facts) {
  const int wide = t.head_dim + t.head_dim_v;
  if (converts(g) && t.block_m <= 8) return facts.has.fp8_mma && wide <= 256 ? 4 : wide <= 128 ? 3 : 2;
  if (t.block_m > 8) return wide <= 128 ? 3 : 2;
  return wide <= 128 ? 4 : wide <= 256 && t.head_dim == t.head_dim_v ? 3 : 2;
}

/// One query of each entry, whole heads, and keys from slot 0 on of which no mask leaves one out: the last
/// query sees what a causal mask shows. What the kernel counts in 32 bits fits them.
int plain(const GpuTiling& t, const Geometry& g) {
  const AttentionArgs& a = *g.args;
  const double slots = g.paged ? static_cast<double>(a.page_table.size(1)) * static_cast<double>(g.page_size)
                               : static_cast<double>(g.k.rows);
  const bool is = t.decode && t.workers > 0 && g.seqlen_q == 1 && !g.varlen_q && !a.seqused_q.defined() &&
                  !g.varlen_k && !a.leftpad_k.defined() && !a.kv_batch_idx.defined() &&
                  !a.cu_seqlens_k_new.defined() && !g.rotary && g.softcap == 0 && g.chunk == 0 &&
                  g.window_left < 0 && g.head_dim == t.head_dim && g.head_dim_v == t.head_dim_v &&
                  aligned(g.q, g.heads, 16) && slots < kMostPlainSlots;
  if (!is) return 0;
  return g.append ? 2 : 1;
}

/// A tile that one of the kernels can have.
struct TileShape {
  enum Kernel { decode, tensor_cores, plain } kernel;
  int narrowest, widest;  ///< of the head dimensions, rounded up, the larger
  int block_m, block_n;
};
constexpr TileShape kTileShapes[] = {
    // Keys are read once for all rows of a tile: more rows than 8 cost registers, which 16 of wide heads
    // lack.
    {TileShape::decode, 64, 128, 16, kDecodeKeys},
    {TileShape::decode, 64, 256, 8, kDecodeKeys},
    {TileShape::tensor_cores, 64, 192, kThreads / 32 * 16, 64},
    {TileShape::tensor_cores, 256, 256, kThreads / 32 * 16, 32},
    {TileShape::plain, 64, 192, 32, 32},
    {TileShape::plain, 256, 256, 16, 32},
    {TileShape::plain, 512, 512, 8, 16},
};

/// The shape whose tiles have room for the fewest rows beside the call's, of two equal ones the first.
const TileShape& tile_for(const GpuTiling& t, const Geometry& g) {
  const int wide = std::max(t.head_dim, t.head_dim_v);
  const bool decode = decodes(t, g), mma = t.mma != DType::none;
  const auto fits = [&](const TileShape& shape) {
    const bool kernel = shape.kernel == TileShape::decode         ? decode
                        : shape.kernel == TileShape::tensor_cores ? mma
                                                                  : !mma;
    return kernel && shape.narrowest <= wide && wide <= shape.widest;
  };
  const TileShape* best = nullptr;
  std::int64_t least = 0;
  for (const TileShape& shape : kTileShapes) {
    if (!fits(shape)) continue;
    const std::int64_t cost =
        core::align_up(std::max<std::int64_t>(g.seqlen_q * t.unit_heads, 1), shape.block_m);
    if (best != nullptr && cost >= least) continue;
    best = &shape;
    least = cost;
  }
  return *best;
}

/// Dynamic, as the kernels assert: q, then k or v, each with a pitch that keeps rows in different banks, P
/// where it does not stay in registers, and what the block works on.
std::int64_t shared_bytes(const GpuTiling& t, const Geometry& g, const TileShape& shape) {
  if (shape.kernel == TileShape::decode) return 0;  // none but the kernel's own
  const bool plain = shape.kernel == TileShape::plain;
  const std::int64_t element = plain ? 4 : 2, pitch = plain ? 4 : 8;
  const std::int64_t widest = std::max(t.head_dim, t.head_dim_v);
  const std::int64_t scores = plain ? 4 * t.block_m * (t.block_n + 4) : 0;
  const std::int64_t qv = g.has_qv() ? element * t.block_m * (t.head_dim_v + pitch) : 0;
  return element * (t.block_m * (t.head_dim + pitch) + t.block_n * (widest + pitch)) + qv + scores +
         2 * t.block_n * kPlaceBytes + kTaskBytes;
}

std::int64_t number_of_parts(const GpuTiling& t, const Geometry& g, const AttentionOptions& options,
                             const gpu::Facts& facts) {
  if (options.split_size > 0) return parts_of_size(g, options.split_size);
  if (options.num_splits > 0)
    return std::min<std::int64_t>(options.num_splits, parts_that_fit(g, kMostBytes));
  const std::int64_t blocks = t.blocks(g.batch), wanted = facts.multiprocessors * kBlocksPerMultiprocessor;
  if (blocks == 0 || blocks * 2 > wanted) return 1;
  const std::int64_t most = std::min(visible_keys(g) / kLeastPart, parts_that_fit(g, kPlannedBytes));
  return std::clamp<std::int64_t>(wanted / blocks, 1, std::max<std::int64_t>(most, 1));
}

}  // namespace

bool aligned(const RowView& view, std::int64_t heads, std::int64_t bytes) {
  if (!view.defined() || view.d_stride != 1) return false;
  const auto whole = [&](std::int64_t count, std::int64_t stride) {
    return count <= 1 || stride * size_of(view.dtype) % bytes == 0;
  };
  return reinterpret_cast<std::uintptr_t>(view.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
         whole(view.outers, view.outer_stride) && whole(view.rows, view.row_stride) &&
         whole(heads, view.head_stride);
}

std::int64_t GpuTiling::expected_parts(const Geometry& g) const {
  return workers > 0 ? std::min(parts, workers / std::max<std::int64_t>(g.batch, 1) + 2) : parts;
}

std::size_t GpuTiling::partial_out_bytes(const Geometry& g) const {
  return static_cast<std::size_t>(parts * g.heads * partial_rows * g.head_dim_v) * sizeof(float);
}

std::size_t GpuTiling::workspace_bytes(const Geometry& g) const {
  if (parts == 1) return 0;
  return partial_out_bytes(g) + static_cast<std::size_t>(parts * g.heads * partial_rows * 2) * sizeof(float) +
         (workers > 0 ? static_cast<std::size_t>(g.batch + 2) * sizeof(std::int32_t) : 0);
}

GpuTiling tile_up(const Geometry& g, const AttentionOptions& options, const gpu::Facts& facts) {
  GpuTiling t;
  t.head_dim = bucket(g.head_dim);
  t.head_dim_v = bucket(g.head_dim_v);
  t.threads = kThreads;
  if (facts.has.mma && !g.scaled() && !g.has_qv() && t.head_dim_v <= 256) t.mma = factor_type(g);
  t.pack = options.pack_gqa == AttentionOptions::Choice::always ||
           (options.pack_gqa == AttentionOptions::Choice::plan && g.group > 1);
  t.unit_heads = t.pack ? std::max<std::int64_t>(g.group, 1) : 1;
  t.units = g.heads / t.unit_heads;
  const TileShape& shape = tile_for(t, g);
  t.decode = shape.kernel == TileShape::decode;
  t.block_m = shape.block_m;
  t.block_n = shape.block_n;
  if (t.decode && converts(g) && doubles_keys(t)) t.block_n *= 2;
  t.shared_bytes = shared_bytes(t, g, shape);
  if (t.decode) t.resident = decode_resident(t, g, facts);
  t.tiles = core::ceil_div(g.seqlen_q * t.unit_heads, t.block_m);
  t.partial_rows = g.total_q;
  t.split_size = options.split_size;
  if (t.decode && options.num_splits == 0 && options.split_size == 0)
    divide_keys(t, g, facts);
  else
    t.parts = number_of_parts(t, g, options, facts);
  t.plain = plain(t, g);
  return t;
}

std::string refuse(const Geometry& g, const AttentionOptions& options, const gpu::Facts&) {
  constexpr std::int64_t kMostKeys = std::numeric_limits<std::int32_t>::max() - 4096;
  if (g.seqlen_k > kMostKeys && !g.paged)
    return core::say("k has room for ", g.seqlen_k, " keys of one entry, the kernel counts ", kMostKeys);
  if (options.split_size > 0 &&
      parts_of_size(g, options.split_size) > std::max<std::int64_t>(parts_that_fit(g, kMostBytes), 1))
    return core::say("split_size ", options.split_size, " makes ", parts_of_size(g, options.split_size),
                     " parts with ", part_bytes(g), " bytes of partial results each, over ", kMostBytes,
                     " bytes together");
  return {};
}

}  // namespace isomer::ops::attention
