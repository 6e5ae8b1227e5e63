#include "ops/fp8_gemm/gpu/tiles.hpp"
#include "core/ceil_div.hpp"

#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/kernels/shared_memory.h"

#include <algorithm>
#include <limits>

namespace isomer::ops::fp8_gemm {
namespace {

using device::Fp8GemmParameters;
using device::GemmBias;
using device::GemmRows;

/// A tile that fp8_gemm_tile can have.
struct TileShape {
  int tile_m, tile_n, warp_m, warp_n;
  int together;  ///< blocks that registers let onto a multiprocessor
  double speed;  ///< of the products, against the first
};
// A warp's 64 × 32 sums twice (of the block of K, of all of K) fill half of its registers; the small tile's
// fragments are used half as often.
constexpr TileShape kTileShapes[] = {
    {128, 128, 64, 32, 1, 1.0}, {64, 128, 64, 32, 2, 0.85}, {64, 64, 32, 32, 3, 0.7}};
constexpr int kMostStages = 6;

constexpr int kSkinnyColumns = 32, kSkinnyWarps = 4, kMostSkinnyStages = 4, kSkinnyRows = 16;
constexpr int kPlainSide = 16;

bool aligned(const Tensor& tensor, std::int64_t bytes) {
  bool holds = reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) == 0;
  for (int d = 0; d + 1 < tensor.rank; ++d)
    holds = holds && (tensor.size(d) <= 1 || tensor.stride(d) * size_of(tensor.dtype) % bytes == 0);
  return holds;
}

int copy_bytes(const Tensor& a, const Tensor& b) {
  for (const int bytes : {16, 4})
    if (aligned(a, bytes) && aligned(b, bytes)) return bytes;
  return 1;
}

bool in_pairs(const Tensor& c, const Tensor& addend) {
  const std::int64_t pair = std::int64_t{2} * size_of(c.dtype);
  return aligned(c, pair) && (!addend.defined() || aligned(addend, pair));
}

GemmBias bias_type(const Tensor& bias) {
  return !bias.defined()            ? GemmBias::none
         : bias.dtype == DType::f32 ? GemmBias::f32
         : bias.dtype == DType::f16 ? GemmBias::f16
                                    : GemmBias::bf16;
}

/// Dimensions [first, rank − 1) of a, a_s, c and addend as rows, in as few dimensions as they all allow.
void set_rows(Fp8GemmParameters& p, const Tensor& a, const Tensor& a_s, const Tensor& c, const Tensor& addend,
              int first) {
  const std::pair<const Tensor*, Fp8GemmParameters::Rows*> views[] = {
      {&a, &p.a_rows}, {&a_s, &p.a_s_rows}, {&c, &p.c_rows}, {&addend, &p.addend_rows}};
  p.rows = 1;
  for (int d = a.rank - 2; d >= first; --d) {
    const std::int64_t size = a.size(d);
    p.rows *= size;
    if (size == 1) continue;  // its stride may be anything
    bool joined = p.dims > 0;
    for (const auto& [tensor, rows] : views)
      joined = joined &&
               (!tensor->defined() || tensor->stride(d) == rows->stride[p.dims - 1] * p.outer[p.dims - 1]);
    if (joined) {
      p.outer[p.dims - 1] *= size;
      continue;
    }
    p.outer[p.dims] = size;
    for (const auto& [tensor, rows] : views)
      if (tensor->defined()) rows->stride[p.dims] = tensor->stride(d);
    ++p.dims;
  }
  if (first == 1)
    for (const auto& [tensor, rows] : views)
      if (tensor->defined()) rows->expert = tensor->stride(0);
}

/// b, b_s and bias begin with a dimension of experts.
void set_columns(Fp8GemmParameters& p, const Tensor& a_s, const Tensor& b, const Tensor& b_s,
                 const Tensor& bias) {
  p.experts = b.size(0);
  p.columns = b.size(1);
  p.depth = b.size(2);
  p.blocks = core::ceil_div(p.depth, kScaleBlock);
  p.a_s_block = a_s.stride(-1);
  p.b_expert = b.stride(0);
  p.b_row = b.stride(1);
  p.b_s_expert = b_s.stride(0);
  p.b_s_row = b_s.stride(1);
  p.b_s_block = b_s.stride(2);
  p.bias_type = bias_type(bias);
  if (bias.defined()) {
    p.bias_expert = bias.stride(0);
    p.bias_step = bias.stride(1);
  }
}

template <class Args>
void set_addresses(Fp8GemmParameters& p, const Args& args) {
  p.a = static_cast<const std::uint8_t*>(args.a.data);
  p.a_s = static_cast<const float*>(args.a_s.data);
  p.b = static_cast<const std::uint8_t*>(args.b.data);
  p.b_s = static_cast<const float*>(args.b_s.data);
  p.c = args.c.data;
  p.bias = args.bias.data;
  p.addend = args.addend.data;
}

/// Of a kernel without its stages.
std::int64_t tile_static_bytes(int tile_m) { return device::row_table_bytes(tile_m) + device::kGapBytes; }
std::int64_t skinny_static_bytes(int tokens) {
  return device::row_table_bytes(tokens) + device::kGapBytes +
         device::skinny_sums_bytes(kSkinnyWarps, tokens, kSkinnyColumns);
}

void count_tiles(GpuTiling& t, const GpuProblem& problem) {
  t.row_tiles = core::ceil_div(problem.parameters.rows, t.tile_m);
  t.column_tiles = core::ceil_div(problem.parameters.columns, t.tile_n);
  t.blocks = t.row_tiles * t.column_tiles * problem.entries();
}

GpuTiling tile(const GpuProblem& problem, const gpu::Facts& facts) {
  GpuTiling best;
  double least = std::numeric_limits<double>::infinity();
  for (const TileShape& shape : kTileShapes) {
    GpuTiling t{.kernel = GpuKernel::tile,
                .tile_m = shape.tile_m,
                .tile_n = shape.tile_n,
                .warp_m = shape.warp_m,
                .warp_n = shape.warp_n,
                .threads = shape.tile_m / shape.warp_m * (shape.tile_n / shape.warp_n) * 32};
    const std::int64_t stage = device::tile_stage_bytes(t.tile_m, t.tile_n);
    const std::int64_t most = (facts.shared_per_block - tile_static_bytes(t.tile_m)) / stage;
    if (most < 2) continue;
    t.stages = static_cast<int>(std::clamp<std::int64_t>(most / shape.together, 2, kMostStages));
    t.shared_bytes = t.stages * stage;
    count_tiles(t, problem);
    const auto rounds = static_cast<double>(core::ceil_div(t.blocks, facts.multiprocessors));
    const double cost = rounds * t.tile_m * t.tile_n / shape.speed;
    if (cost >= least) continue;
    least = cost;
    best = t;
  }
  return best;
}

}  // namespace

GpuProblem::GpuProblem(const Fp8GemmArgs& args) : c(args.c.dtype), copy(copy_bytes(args.a, args.b)) {
  auto& p = parameters;
  p.layout = GemmRows::single;
  set_rows(p, args.a, args.a_s, args.c, args.addend, 0);
  set_columns(p, args.a_s, args.b.unsqueeze(0), args.b_s.unsqueeze(0),
              args.bias.defined() ? args.bias.unsqueeze(0) : Tensor());
  p.in_pairs = in_pairs(args.c, args.addend);
}

GpuProblem::GpuProblem(const GroupedFp8GemmArgs& args) : c(args.c.dtype), copy(copy_bytes(args.a, args.b)) {
  auto& p = parameters;
  const bool masked = args.row_counts.defined();
  p.layout = masked ? GemmRows::masked : GemmRows::contiguous;
  set_rows(p, args.a, args.a_s, args.c, args.addend, masked ? 1 : 0);
  set_columns(p, args.a_s, args.b, args.b_s, args.bias);
  p.in_pairs = in_pairs(args.c, args.addend);
  (masked ? p.count_step : p.id_step) = masked ? args.row_counts.stride(0) : args.expert_ids.stride(0);
}

device::Fp8GemmParameters with_addresses(Fp8GemmParameters parameters, const Fp8GemmArgs& args) {
  set_addresses(parameters, args);
  return parameters;
}

device::Fp8GemmParameters with_addresses(Fp8GemmParameters parameters, const GroupedFp8GemmArgs& args) {
  set_addresses(parameters, args);
  parameters.expert_ids = static_cast<const std::int32_t*>(args.expert_ids.data);
  parameters.row_counts = static_cast<const std::int32_t*>(args.row_counts.data);
  return parameters;
}

GpuTiling gpu_tiling(const GpuProblem& problem, const gpu::Facts& facts) {
  // Segments of the contiguous layout are 128 rows apart, however few of them are multiplied.
  const bool skinny =
      problem.parameters.rows <= kSkinnyRows && problem.parameters.layout != GemmRows::contiguous;
  if (facts.has.mma && !skinny)
    if (GpuTiling t = tile(problem, facts); t.stages > 0) return t;
  GpuTiling t;
  if (facts.has.mma && skinny) {
    const int tokens = problem.parameters.rows <= 8 ? 8 : 16;
    const std::int64_t stage = kSkinnyWarps * device::skinny_stage_bytes(tokens, kSkinnyColumns);
    const std::int64_t most = (facts.shared_per_block - skinny_static_bytes(tokens)) / stage;
    t = {.kernel = GpuKernel::skinny,
         .tile_m = tokens,
         .tile_n = kSkinnyColumns,
         .threads = kSkinnyWarps * 32,
         .stages = static_cast<int>(std::clamp<std::int64_t>(most, 2, kMostSkinnyStages))};
    t.shared_bytes = t.stages * stage;
  } else {
    t = {.kernel = GpuKernel::plain,
         .tile_m = skinny ? 16 : 64,
         .tile_n = 64,
         .threads = kPlainSide * kPlainSide};
  }
  count_tiles(t, problem);
  return t;
}

}  // namespace isomer::ops::fp8_gemm
