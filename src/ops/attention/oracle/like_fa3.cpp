#include "ops/attention/oracle/like_fa3.hpp"

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/attention/contract/geometry.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::attention {
namespace {

/// A row of its table of tiles: keys of a block by what is asked. The first row of a type whose head
/// dimensions are large enough is taken.
struct Fa3Tile {
  int bytes, head_dim, head_dim_v;  ///< of an element; at most
  int block_m;
  int full, causal, local, gathered;  ///< the last: pages that no tensor copy fits
};
constexpr Fa3Tile kFa3Tiles[] = {
    {2, 64, 64, 192, 192, 128, 128, 128},   {2, 64, 256, 128, 96, 96, 96, 96},
    {2, 64, 512, 64, 64, 64, 64, 64},       {2, 96, 96, 192, 144, 144, 128, 128},
    {2, 128, 128, 128, 176, 128, 128, 128}, {2, 192, 128, 128, 128, 128, 96, 128},
    {2, 192, 192, 128, 112, 112, 96, 112},  {2, 256, 256, 128, 80, 80, 64, 80},
    {1, 64, 64, 192, 160, 160, 160, 160},   {1, 96, 96, 192, 128, 128, 128, 128},
    {1, 128, 128, 128, 224, 224, 224, 160}, {1, 192, 192, 128, 160, 160, 160, 160},
    {1, 256, 256, 128, 128, 128, 64, 128},
};

/// It takes an L2 of 50 MB for granted.
constexpr std::int64_t kFa3L2Bytes = 50 * 1024 * 1024;
constexpr std::int64_t kFa3MostSplits = 128;

/// Rows in use of those that tiles of block_m have room for.
double fa3_fill(std::int64_t rows, int block_m) {
  const std::int64_t room = core::ceil_div(rows, block_m) * block_m;
  return room == 0 ? 1.0 : static_cast<double>(rows) / static_cast<double>(room);
}

/// Of tiles that fill less than four fifths of the device: the fewest parts that leave it as busy as the best
/// number does, within 15 %.
std::int64_t fa3_splits(std::int64_t tiles, std::int64_t row_tiles, std::int64_t blocks,
                        std::int64_t bytes_of_head, bool masked, std::int64_t multiprocessors) {
  if (static_cast<double>(tiles) >= 0.8 * static_cast<double>(multiprocessors)) {
    // K and V of a head that L2 does not hold are read again for each tile of queries.
    if (bytes_of_head > kFa3L2Bytes && row_tiles >= 2 * multiprocessors && !masked)
      return std::min(core::ceil_div(bytes_of_head, kFa3L2Bytes), kFa3MostSplits);
    return 1;
  }
  if (blocks <= 4) return 1;
  const std::int64_t most = std::min({kFa3MostSplits, multiprocessors, blocks});
  const auto busy = [&](std::int64_t splits) {
    const double waves = static_cast<double>(tiles * splits) / static_cast<double>(multiprocessors);
    return waves / std::ceil(waves);
  };
  double best = 0;
  for (std::int64_t splits = 1; splits <= most; ++splits) best = std::max(best, busy(splits));
  for (std::int64_t splits = 1; splits <= most; ++splits)
    if (busy(splits) >= 0.85 * best) return splits;
  return 1;
}

}  // namespace

LikeFa3 like_fa3(const core::Call& call, std::int64_t multiprocessors) {
  const auto& options = call.options<AttentionOptions>();
  const Geometry g(call.args<AttentionArgs>(), options);
  const AttentionArgs& a = *g.args;
  if (g.q.dtype != DType::f16 && g.q.dtype != DType::bf16 && g.q.dtype != DType::e4m3fn)
    return {{}, core::say("it takes f16, bf16 and e4m3fn, q is ", name_of(g.q.dtype))};
  if (g.k.dtype != g.q.dtype) return {{}, core::say("it takes k of q's type, k is ", name_of(g.k.dtype))};
  if (g.has_sink()) return {{}, "it has no sinks"};
  if (g.v_colmajor) return {{}, "its column-major v is not compiled unless it is built for that"};
  const int bytes = size_of(g.q.dtype), step = bytes == 1 ? 16 : 8;
  if (g.head_dim % step != 0 || g.head_dim_v % step != 0)
    return {{},
            core::say("it takes head dimensions in steps of ", step, ", they are ", g.head_dim, " and ",
                      g.head_dim_v)};
  const auto* const tile = std::find_if(std::begin(kFa3Tiles), std::end(kFa3Tiles), [&](const Fa3Tile& t) {
    return t.bytes == bytes && g.head_dim <= t.head_dim && g.head_dim_v <= t.head_dim_v;
  });
  if (tile == std::end(kFa3Tiles) || g.batch * g.heads * g.seqlen_q == 0)
    return {{},
            core::say("it has no tile for ", g.seqlen_q, " queries and head dimensions ", g.head_dim, " and ",
                      g.head_dim_v)};

  // A window as wide as what there is counts as none, and one query sees all keys without a mask too.
  std::int64_t left = g.window_left, right = g.window_right;
  if (left >= g.seqlen_k - 1) left = -1;
  if (right >= g.seqlen_q - 1) right = g.window_right == 0 ? 0 : -1;
  const bool wide_pages = g.paged && g.head_dim > 64 && g.head_dim <= 128;
  if (g.seqlen_q == 1 && left < 0 && right == 0 && !wide_pages) right = -1;
  const bool causal = left < 0 && right == 0, local = !causal && (left >= 0 || right >= 0);
  const bool varlen = g.varlen_q || g.varlen_k || a.seqused_q.defined() || a.seqused_k.defined() ||
                      a.leftpad_k.defined() || g.append;

  const auto keys_of = [&](bool gathered) {
    return local ? tile->local : gathered ? tile->gathered : causal ? tile->causal : tile->full;
  };
  const std::int64_t group = std::max<std::int64_t>(g.group, 1), packed_rows = g.seqlen_q * group;
  const bool copied = g.paged && !a.leftpad_k.defined() && !g.append && g.page_size % keys_of(false) == 0 &&
                      packed_rows > tile->block_m;
  const bool gathered = g.paged && !copied;
  const int block_n = keys_of(gathered);

  std::int64_t splits = options.num_splits;
  if (splits == 0) {
    const std::int64_t row_tiles = core::ceil_div(packed_rows, tile->block_m);
    std::int64_t keys = g.seqlen_k;
    if (local) keys = std::clamp<std::int64_t>(left + right + 1 + tile->block_m, 0, keys);
    splits =
        fa3_splits((varlen ? 1 : g.batch) * g.heads_kv * row_tiles, row_tiles, core::ceil_div(keys, block_n),
                   g.seqlen_k * (g.head_dim + g.head_dim_v) * bytes, causal || local, multiprocessors);
  }
  const bool pack =
      gathered || splits > 1 ||
      (group > 1 &&
       (options.pack_gqa == AttentionOptions::Choice::always ||
        (options.pack_gqa == AttentionOptions::Choice::plan &&
         (g.varlen_q || fa3_fill(g.seqlen_q, tile->block_m) < 0.9 * fa3_fill(packed_rows, tile->block_m)))));
  const std::int64_t tiles_of_head = core::ceil_div(pack ? packed_rows : g.seqlen_q, tile->block_m);
  const bool wide = bytes == 2 ? g.head_dim > 96 : tile->head_dim == 192;
  const bool pair =
      wide && !causal && !local && splits == 1 && !gathered && !varlen && tiles_of_head % 2 == 0;
  const char* scheduler = varlen            ? "varlen_dynamic_persistent"
                          : splits > 1      ? "single_tile"
                          : causal || local ? "dynamic_persistent_longest_first"
                                            : "static_persistent";
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  return {{{"block_m", number(tile->block_m)},
           {"block_n", number(block_n)},
           {"pack_gqa", number(pack)},
           {"num_splits", number(splits)},
           {"scheduler", scheduler},
           {"stages", "2"},
           {"cluster", number(pair ? 2 : 1)}},
          {}};
}

}  // namespace isomer::ops::attention
