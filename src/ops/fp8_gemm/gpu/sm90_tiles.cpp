#include "ops/fp8_gemm/gpu/sm90_tiles.hpp"

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/kernels/fp8_gemm_sm90.h"
#include "ops/fp8_gemm/kernels/shared_memory.h"

#include <algorithm>
#include <cstdlib>

namespace isomer::ops::fp8_gemm {
namespace {

using core::say;
using device::GemmRows;

/// Coordinates of bulk copies are 32 bits, and a tile may begin behind the last row.
constexpr std::int64_t kMostCoordinate = (std::int64_t{1} << 31) - 512;

/// A row of the table. Times are in µs of one H200 at its own clocks, all multiprocessors at work: they rank
/// tiles, and docs/performance/fp8_gemm.md has the measurements that they come from.
struct TileRow {
  int tile_m, tile_n, chunks, cluster, split;
  double block;          ///< one block of K
  double rest;           ///< what a tile takes beside its blocks
  bool measured = true;  ///< else the times are guessed from the rows beside it
};
constexpr TileRow kTable[] = {{128, 256, 2, 2, 1, 0.755, 0.8},       {128, 256, 2, 1, 1, 0.785, 0.65},
                              {128, 192, 1, 2, 1, 0.620, 0.9},       {128, 192, 1, 1, 1, 0.625, 0.9},
                              {128, 128, 1, 1, 1, 0.500, 0.7},       {128, 128, 1, 1, 2, 0.500, 2.8},
                              {128, 128, 1, 1, 4, 0.500, 3.8},       {64, 192, 1, 1, 1, 0.460, 0.7},
                              {64, 128, 1, 1, 1, 0.330, 0.5},        {64, 128, 1, 1, 2, 0.330, 2.6},
                              {64, 128, 1, 1, 4, 0.330, 3.7},        {64, 64, 1, 1, 1, 0.245, 0.4},
                              {64, 64, 1, 1, 2, 0.245, 2.4},         {64, 192, 1, 1, 3, 0.460, 3.4, false},
                              {64, 256, 2, 1, 4, 0.640, 4.6, false}, {128, 176, 1, 2, 1, 0.585, 0.9},
                              {128, 176, 1, 1, 1, 0.595, 0.9},       {128, 64, 1, 1, 1, 0.270, 0.5, false},
                              {128, 64, 1, 1, 2, 0.270, 2.4}};
/// Of the device that the times are of. The same tile everywhere: what runs emulated is what runs on the
/// device.
constexpr int kMultiprocessors = 132;
/// Clusters that run at once. Of four blocks 28 are seen to and 32 are not: a cluster lies within one group
/// of multiprocessors, and some of these have no multiple of four.
constexpr int at_once(int blocks) { return blocks == 4 ? 28 : kMultiprocessors / blocks; }
constexpr int kMostStages = 8;
/// A launch and the way to the first byte, µs; bytes that are read once, per µs.
constexpr double kStart = 2.5, kBytesPerMicrosecond = 3.6e6;
/// Of the shorter of arithmetic and memory, what the longer one does not hide.
constexpr double kUnhidden = 0.15;

bool fits(const TileRow& row, const Sm90Problem& problem) {
  const device::Fp8GemmParameters& p = problem.gemm.parameters;
  // A cluster's tiles are one expert's, and its number of tiles is known.
  if (p.layout != GemmRows::single && (row.cluster > 1 || row.split > 1)) return false;
  if (p.blocks < row.split) return false;
  // Threads that add terms and store keep addresses beside the sums and the products under way: of wider
  // tiles some would spill.
  const bool threads_store = !problem.bulk_store || p.layout == GemmRows::masked;
  return !(threads_store && problem.terms && row.tile_n > 128);
}

Sm90Tiling tiling(const Sm90Problem& problem, const TileRow& row, const gpu::Facts& facts) {
  const device::Fp8GemmParameters& p = problem.gemm.parameters;
  Sm90Tiling t{.tile_m = row.tile_m,
               .tile_n = row.tile_n,
               .chunks = row.chunks,
               .cluster = row.cluster,
               .split = row.split,
               .measured = row.measured,
               .threads = 128 * (row.tile_m / 64 + 1)};
  const int fixed =
      device::sm90_fixed_bytes(row.tile_m, row.tile_n, row.split, row.chunks, problem.bulk_store);
  const auto bytes_with = [&](int stages) {
    return fixed + device::sm90_staged_bytes(row.tile_m, row.tile_n, stages, problem.scales_at_once);
  };
  for (t.stages = kMostStages; t.stages > 0; --t.stages)
    if (bytes_with(t.stages) <= facts.shared_per_block) break;
  t.shared_bytes = bytes_with(t.stages);
  t.row_tiles = core::ceil_div(p.rows, std::int64_t{row.tile_m} * row.cluster);
  t.column_tiles = core::ceil_div(p.columns, row.tile_n);
  t.tiles = t.row_tiles * t.column_tiles * problem.gemm.entries();
  const int together = row.cluster * row.split;
  const std::int64_t persistent = std::max(facts.multiprocessors / together, 1);
  // Blocks that divide K have one tile; the others stay for the next.
  t.blocks = together * (row.split > 1 ? t.tiles : std::min(t.tiles, persistent));

  const auto rounds = static_cast<double>(core::ceil_div(t.tiles, at_once(together)));
  const double arithmetic =
      rounds * (static_cast<double>(core::ceil_div(p.blocks, row.split)) * row.block + row.rest);
  const auto entries = static_cast<double>(problem.gemm.entries());
  const double bytes =
      entries * static_cast<double>(p.rows) *
          (static_cast<double>(p.depth) +
           static_cast<double>(p.columns) * static_cast<double>(size_of(problem.gemm.c))) +
      static_cast<double>(p.experts) * static_cast<double>(p.columns) * static_cast<double>(p.depth);
  const double memory = bytes / kBytesPerMicrosecond;
  t.microseconds = kStart + std::max(arithmetic, memory) + kUnhidden * std::min(arithmetic, memory);
  return t;
}

/// Where a dimension has one index its stride is never used, and may be one that the engine does not take.
std::uint64_t stride_bytes(std::int64_t size, std::int64_t stride, std::int64_t element,
                           std::int64_t instead) {
  return static_cast<std::uint64_t>(size > 1 ? stride * element
                                             : core::align_up(instead * element, std::int64_t{16}));
}

gpu::TensorMap map_of(DType type, std::int64_t last, std::int64_t rows, std::int64_t row,
                      std::int64_t entries, std::int64_t entry) {
  const std::int64_t element = size_of(type);
  return {.element = type,
          .rank = 3,
          .size = {static_cast<std::uint64_t>(last), static_cast<std::uint64_t>(rows),
                   static_cast<std::uint64_t>(entries)},
          .stride_bytes = {0, stride_bytes(rows, row, element, last),
                           stride_bytes(entries, entry, element, last)},
          .box = {static_cast<std::uint32_t>(16 / element), 1, 1}};
}

/// Why rows cannot be brought, or stored, by bulk copies.
std::string fault(const char* name, const Tensor& tensor, const gpu::TensorMap& map, std::int64_t row,
                  std::int64_t entry) {
  if ((map.size[1] > 1 && row <= 0) || (map.size[2] > 1 && entry <= 0))
    return say(name, "'s rows lie on one another or run backwards: a bulk copy needs them apart");
  const std::string reason = gpu::tensor_map_fault(map, tensor.data);
  return reason.empty() ? reason : say("a bulk copy of ", name, " ", reason);
}

}  // namespace

template <class Args>
void Sm90Problem::look(const Args& args) {
  const device::Fp8GemmParameters& p = gemm.parameters;
  if (gemm.empty()) return;
  if (p.depth == 0) {
    refusal = "K is 0: there is nothing to multiply";
    return;
  }
  if (p.dims > 1) {
    refusal = say("the rows of a, a_s, c and addend lie at ", p.dims, " strides, a tile takes one");
    return;
  }
  if (std::max({p.rows, p.columns, p.depth, p.experts}) > kMostCoordinate) {
    refusal = say("a dimension is longer than ", kMostCoordinate);
    return;
  }
  const std::int64_t entries = gemm.entries();
  a = map_of(DType::e4m3fn, p.depth, p.rows, p.a_rows.stride[0], entries, p.a_rows.expert);
  refusal = fault("a", args.a, a, p.a_rows.stride[0], p.a_rows.expert);
  const auto in_fours = [](std::int64_t size, std::int64_t stride) { return size <= 1 || stride % 4 == 0; };
  if (p.blocks % 4 == 0 && p.a_s_block == 1 && in_fours(p.rows, p.a_s_rows.stride[0]) &&
      in_fours(entries, p.a_s_rows.expert) && reinterpret_cast<std::uintptr_t>(args.a_s.data) % 16 == 0)
    scales_at_once = 4;
  b = map_of(DType::e4m3fn, p.depth, p.columns, p.b_row, p.experts, p.b_expert);
  c = map_of(gemm.c, p.columns, p.rows, p.c_rows.stride[0], entries, p.c_rows.expert);
  if (refusal.empty()) refusal = fault("b", args.b, b, p.b_row, p.b_expert);
  // The engine stores whole 16 bytes: behind the last column of a row it would write what is not its own.
  bulk_store = size_of(gemm.c) == 2 && p.columns % 8 == 0 &&
               fault("c", args.c, c, p.c_rows.stride[0], p.c_rows.expert).empty();
  terms = args.bias.defined() || args.addend.defined();
}

Sm90Problem::Sm90Problem(const Fp8GemmArgs& args) : gemm(args) { look(args); }
Sm90Problem::Sm90Problem(const GroupedFp8GemmArgs& args) : gemm(args) { look(args); }

std::string Sm90Tiling::name() const {
  std::string text = say(tile_m, "x", tile_n);
  if (cluster > 1) text += say(" cluster ", cluster);
  if (split > 1) text += say(" split ", split);
  return text;
}

std::vector<Sm90Tiling> sm90_candidates(const Sm90Problem& problem, const gpu::Facts& facts) {
  std::vector<Sm90Tiling> list;
  for (const TileRow& row : kTable)
    if (fits(row, problem)) list.push_back(tiling(problem, row, facts));
  return list;
}

std::ptrdiff_t sm90_choice(const std::vector<Sm90Tiling>& list, std::string_view candidate,
                           const gpu::TunedRow* measured) {
  const auto place = [&](auto found) { return found == list.end() ? -1 : found - list.begin(); };
  if (!candidate.empty())
    return place(std::find_if(list.begin(), list.end(),
                              [&](const Sm90Tiling& each) { return each.name() == candidate; }));
  if (measured != nullptr) {
    std::vector<std::string> names;
    for (const Sm90Tiling& each : list) names.push_back(each.name());
    return static_cast<std::ptrdiff_t>(gpu::tuned_choice(*measured, names));
  }
  return place(std::min_element(list.begin(), list.end(), [](const Sm90Tiling& x, const Sm90Tiling& y) {
    return x.measured != y.measured ? x.measured : x.microseconds < y.microseconds;
  }));
}

namespace {

/// Rows that fill one tile share a choice: what is measured is that of all of its rows.
std::int64_t rows_of_key(const device::Fp8GemmParameters& p) {
  constexpr std::int64_t kTile = 64;
  return p.layout == GemmRows::single && p.rows < kTile ? kTile : p.rows;
}

}  // namespace

gpu::TunedKey sm90_key(const Sm90Problem& problem, std::string_view op, const gpu::Facts& facts) {
  const device::Fp8GemmParameters& p = problem.gemm.parameters;
  constexpr const char* kLayouts[] = {"single", "contiguous", "masked"};
  return {.device = facts.name,
          .op = std::string(op),
          .implementation = "sm90",
          .dtypes = say("a=e4m3fn b=e4m3fn c=", name_of(problem.gemm.c)),
          .shape = say("rows=", kLayouts[static_cast<int>(p.layout)], " m=", rows_of_key(p), " n=", p.columns,
                       " k=", p.depth, " experts=", p.experts, " bulk_store=", problem.bulk_store,
                       " terms=", problem.terms)};
}

}  // namespace isomer::ops::fp8_gemm
