#include "core/ceil_div.hpp"
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

bool aligned(const Tensor& tensor, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
         (tensor.size(0) == 1 || tensor.stride(0) * size_of(tensor.dtype) % bytes == 0);
}

/// How many threads stand side by side over a row of that many vectors: as many as leave hardly one idle at
/// its end.
std::int64_t threads_of_row(std::int64_t vectors) {
  std::int64_t best =
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(vectors, kThreads))));
  const auto idle = [&](std::int64_t row_threads) {
    return core::ceil_div(vectors, row_threads) * row_threads - vectors;
  };
  for (std::int64_t row_threads = best; row_threads >= 16; row_threads /= 2)
    if (idle(best) > vectors / 16 && idle(row_threads) < idle(best)) best = row_threads;
  return best;
}

struct Decision {
  std::vector<gpu::Step> steps;
  device::WeightDequantParameters parameters{};
  std::int64_t block_size = 0, tile_rows = 0, tile_columns = 0;
};

class WeightDequantPlan : public gpu::Plan {
 public:
  explicit WeightDequantPlan(Decision decision)
      : Plan(std::move(decision.steps)),
        parameters_(decision.parameters),
        block_size_(decision.block_size),
        tile_rows_(decision.tile_rows),
        tile_columns_(decision.tile_columns) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts&) {
    const auto& args = call.args<WeightDequantArgs>();
    const std::int64_t rows = args.x.size(0), columns = args.x.size(1);
    const std::int64_t size = call.options<WeightDequantOptions>().block_size;
    Decision decision{.block_size = size};
    auto& p = decision.parameters;
    p.rows = rows;
    p.columns = columns;
    if (args.x.empty()) return decision;

    const std::int64_t wide = kVectorBytes / size_of(args.y.dtype);
    const bool vectors =
        aligned(args.y, kVectorBytes) && aligned(args.x, wide) && (size % wide == 0 || size >= columns);
    const std::int64_t vector = vectors ? wide : 1, thread_rows = vectors ? kRows : kRowsOfElements;
    const std::int64_t row_threads = threads_of_row(core::ceil_div(columns, vector));
    const std::int64_t tile_rows = kThreads / row_threads * thread_rows, tile_columns = row_threads * vector;
    const std::int64_t tiles = core::ceil_div(rows, tile_rows),
                       pieces = core::ceil_div(columns, tile_columns);
    constexpr std::int64_t kNarrow = std::int64_t{1} << 31;
    const bool narrow = tiles * tile_rows < kNarrow && pieces * tile_columns < kNarrow;

    p.x_row = args.x.stride(0);
    p.s_row = args.s.stride(0);
    p.y_row = args.y.stride(0);
    p.block_size = device::divisor_of(narrow ? std::min(size, kNarrow - 1) : size);
    p.row_threads_log2 = std::countr_zero(static_cast<std::uint64_t>(row_threads));
    decision.tile_rows = tile_rows;
    decision.tile_columns = tile_columns;
    decision.steps.push_back(
        {.source = "ops/weight_dequant/kernels/weight_dequant.cu",
         .kernel = "isomer_weight_dequant",
         .variant = {{"element", args.y.dtype},
                     {"vector", vector},
                     {"rows", thread_rows},
                     {"index", narrow ? "u32" : "i64"},
                     {"threads", kThreads}},
         .grid = {static_cast<std::uint32_t>(pieces), gpu::grid_of(tiles, gpu::kMostBlocksAcross), 1},
         .block = {static_cast<std::uint32_t>(kThreads), 1, 1}});
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = gpu::named(
        {{"rows", parameters_.rows}, {"columns", parameters_.columns}, {"block_size", block_size_}});
    if (!steps().empty())
      out.constants = gpu::named({{"tile_rows", tile_rows_}, {"tile_columns", tile_columns_}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<WeightDequantArgs>();
    device::WeightDequantParameters p = parameters_;
    p.x = args.x.data;
    p.s = static_cast<const float*>(args.s.data);
    p.y = args.y.data;
    launch(queue, 0, p);
  }

 private:
  device::WeightDequantParameters parameters_;
  std::int64_t block_size_, tile_rows_, tile_columns_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() {
  return gpu::everywhere<WeightDequantPlan>();
}

}  // namespace isomer::ops::weight_dequant
