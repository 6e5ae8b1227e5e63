#include "gpu/plan.hpp"
#include "ops/weight_dequant/kernels/weight_dequant.h"
#include "ops/weight_dequant/weight_dequant.hpp"

#include <algorithm>
#include <bit>

namespace isomer::ops::weight_dequant {
namespace {

constexpr std::int64_t kThreads = 128;
/// The widest access of a thread, which is a write.
constexpr std::int64_t kVectorBytes = 16;
/// Adjacent rows of a thread, all read before the first is written.
constexpr std::int64_t kRows = 4, kRowsOfElements = 8;
/// Of the second dimension of a grid; further rows are taken in turn.
constexpr std::int64_t kMostTiles = 65535;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

bool aligned(const Tensor& tensor, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
         (tensor.size(0) == 1 || tensor.stride(0) * size_of(tensor.dtype) % bytes == 0);
}

/// How many threads stand side by side over a row of that many vectors: as many as leave hardly one idle at
/// its end.
std::int64_t threads_across(std::int64_t vectors) {
  std::int64_t best =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(vectors, kThreads))));
  const auto idle = [&](std::int64_t across) { return ceil_div(vectors, across) * across - vectors; };
  for (std::int64_t across = best; across >= 16; across /= 2)
    if (idle(best) > vectors / 16 && idle(across) < idle(best)) best = across;
  return best;
}

class WeightDequantPlan : public gpu::Plan {
 public:
  WeightDequantPlan(const core::Call& call, const gpu::Facts&) {
    const auto& args = call.args<WeightDequantArgs>();
    const std::int64_t rows = args.x.size(0), columns = args.x.size(1);
    const std::int64_t size = call.options<WeightDequantOptions>().block_size;
    parameters_ = {{"rows", std::to_string(rows)},
                   {"columns", std::to_string(columns)},
                   {"block_size", std::to_string(size)}};
    if (args.x.empty()) return;

    const std::int64_t wide = kVectorBytes / size_of(args.y.dtype);
    const bool vectors =
        aligned(args.y, kVectorBytes) && aligned(args.x, wide) && (size % wide == 0 || size >= columns);
    const std::int64_t vector = vectors ? wide : 1, thread_rows = vectors ? kRows : kRowsOfElements;
    const std::int64_t across = threads_across(ceil_div(columns, vector));
    const std::int64_t tile_rows = kThreads / across * thread_rows, tile_columns = across * vector;
    const std::int64_t tiles = ceil_div(rows, tile_rows), pieces = ceil_div(columns, tile_columns);
    constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
    const bool narrow = tiles * tile_rows < kNarrow && pieces * tile_columns < kNarrow;

    auto& p = arguments_;
    p.rows = rows;
    p.columns = columns;
    p.x_row = args.x.stride(0);
    p.s_row = args.s.stride(0);
    p.y_row = args.y.stride(0);
    p.block_size = device::divisor_of(narrow ? std::min(size, kNarrow - 1) : size);
    p.across_log2 = std::countr_zero(static_cast<std::uint64_t>(across));
    constants_ = {{"tile_rows", std::to_string(tile_rows)}, {"tile_columns", std::to_string(tile_columns)}};
    steps_.push_back({.program = {.source = "ops/weight_dequant/kernels/weight_dequant.cu",
                                  .kernel = "isomer_weight_dequant",
                                  .variant = {{"element", std::string(name_of(args.y.dtype))},
                                              {"vector", std::to_string(vector)},
                                              {"rows", std::to_string(thread_rows)},
                                              {"index", narrow ? "u32" : "i64"},
                                              {"threads", std::to_string(kThreads)}}},
                      .grid = {static_cast<std::uint32_t>(pieces),
                               static_cast<std::uint32_t>(std::min(tiles, kMostTiles)), 1},
                      .block = {static_cast<std::uint32_t>(kThreads), 1, 1}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps_.empty()) return;
    const auto& args = call.args<WeightDequantArgs>();
    device::WeightDequantParameters p = arguments_;
    p.x = args.x.data;
    p.s = static_cast<const float*>(args.s.data);
    p.y = args.y.data;
    launch(queue, 0, p);
  }

 private:
  device::WeightDequantParameters arguments_{};
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::portable<WeightDequantPlan>(); }

}  // namespace isomer::ops::weight_dequant
