#include "core/joined.hpp"
#include "gpu/plan.hpp"
#include "ops/act_quant/act_quant.hpp"
#include "ops/act_quant/kernels/act_quant.h"

#include <algorithm>
#include <vector>

namespace isomer::ops::act_quant {
namespace {

constexpr int kThreads = 128;
/// The widest access of a thread.
constexpr int kVectorBytes = 16;
/// Lanes that share a block: 16 of 16 bytes read two lines, and write whole ones.
constexpr std::int64_t kLanes = 16;
/// Of x, under way in one thread: about 12 groups of threads fit on a multiprocessor, so 90 KB on each.
/// Single elements need a register each.
constexpr std::int64_t kBytesUnderWay = 64, kBytesUnderWayOfElements = 32;

/// 32 bytes: what memory is written by.
constexpr std::int64_t kScalesOfSector = 8;

/// A dimension that blocks lie along, with the strides of y, x and s.
struct Dimension {
  std::int64_t size = 1, y = 0, x = 0, s = 0;
};

/// The tensor as blocks: one element of the view for each.
Tensor by_block(const Tensor& tensor, std::int64_t block_size) {
  Tensor blocks = tensor;
  const auto last = static_cast<std::size_t>(tensor.rank - 1);
  blocks.shape[last] /= block_size;
  blocks.strides[last] *= block_size;
  return blocks;
}

bool aligned(const Tensor& tensor, const core::Joined& joined, std::size_t view, std::int64_t bytes) {
  bool holds = reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) == 0;
  for (std::size_t d = 0; d < static_cast<std::size_t>(joined.dims); ++d)
    holds = holds && joined.strides[view][d] * size_of(tensor.dtype) % bytes == 0;
  return holds;
}

class ActQuantPlan : public gpu::Plan {
 public:
  ActQuantPlan(const core::Call& call, const gpu::Facts& facts) {
    const auto& args = call.args<ActQuantArgs>();
    const auto& options = call.options<ActQuantOptions>();
    const std::int64_t size = options.block_size;
    const Tensor y = by_block(args.y, size), x = by_block(args.x, size);
    const Tensor* views[] = {&y, &x, &args.s};
    const core::Joined joined(views);
    parameters_ = {
        {"blocks", std::to_string(joined.elements)},
        {"amax_floor", std::to_string(options.amax_floor)},
        {"scale_format", options.scale_format == ScaleFormat::ue8m0 ? "ue8m0" : "f32"},
        {"scale_layout", options.scale_layout == ScaleLayout::column_major ? "column_major" : "row_major"}};
    if (joined.elements == 0) return;

    const std::int64_t element = size_of(x.dtype), wide = kVectorBytes / element;
    const bool vectors = aligned(x, joined, 1, kVectorBytes) && aligned(y, joined, 0, wide);
    const std::int64_t vector = vectors ? wide : 1, lanes = std::min(kLanes, size / vector);
    const std::int64_t bytes = vectors ? kBytesUnderWay : kBytesUnderWayOfElements;
    const std::int64_t unroll = std::max<std::int64_t>(1, bytes / (size / lanes * element));
    const std::int64_t per_launch_block = kThreads / lanes * unroll;
    const std::int64_t grid = (joined.elements + per_launch_block - 1) / per_launch_block;
    const bool narrow = grid * per_launch_block < std::int64_t{1} << 31;

    auto& p = arguments_;
    p.blocks = joined.elements;
    p.power_of_two = options.scale_format == ScaleFormat::ue8m0 ? 1 : 0;
    p.amax_floor = options.amax_floor;
    const int dims = set_dimensions(joined);
    constants_ = {{"blocks_per_launch_block", std::to_string(per_launch_block)}};
    steps_.push_back({.program = {.source = "ops/act_quant/kernels/act_quant.cu",
                                  .kernel = "isomer_act_quant",
                                  .variant = {{"element", std::string(name_of(x.dtype))},
                                              {"block_size", std::to_string(size)},
                                              {"vector", std::to_string(vector)},
                                              {"lanes_per_block", std::to_string(lanes)},
                                              {"unroll", std::to_string(unroll)},
                                              {"dims", std::to_string(dims)},
                                              {"index", narrow ? "u32" : "i64"},
                                              {"threads", std::to_string(kThreads)}}},
                      .grid = {static_cast<std::uint32_t>(grid), 1, 1},
                      .block = {kThreads, 1, 1},
                      .overlap_previous = gpu::launches_overlap(facts)});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps_.empty()) return;
    const auto& args = call.args<ActQuantArgs>();
    device::ActQuantParameters p = arguments_;
    p.x = args.x.data;
    p.y = args.y.data;
    p.s = static_cast<float*>(args.s.data);
    launch(queue, 0, p);
  }

 private:
  device::ActQuantParameters arguments_{};

  /// Innermost first. Where scales are adjacent across rows, a sector of them comes before the blocks of a
  /// row.
  int set_dimensions(const core::Joined& joined) {
    std::vector<Dimension> dims;
    for (int d = joined.dims - 1; d >= 0; --d) {
      const auto from = static_cast<std::size_t>(d);
      dims.push_back(
          {joined.sizes[from], joined.strides[0][from], joined.strides[1][from], joined.strides[2][from]});
    }
    if (dims.empty()) dims.emplace_back();
    if (dims.size() > 1 && dims.size() < device::ActQuantParameters::kDims && dims[0].s != 1 &&
        dims[1].s == 1 && dims[1].size % kScalesOfSector == 0) {
      const Dimension rows = dims[1];
      dims[1] = {rows.size / kScalesOfSector, rows.y * kScalesOfSector, rows.x * kScalesOfSector,
                 rows.s * kScalesOfSector};
      dims.insert(dims.begin(), {kScalesOfSector, rows.y, rows.x, rows.s});
    }
    auto& p = arguments_;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      p.size[d] = device::divisor_of(dims[d].size);
      p.y_stride[d] = dims[d].y;
      p.x_stride[d] = dims[d].x;
      p.s_stride[d] = dims[d].s;
    }
    return static_cast<int>(dims.size());
  }
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::portable<ActQuantPlan>(); }

}  // namespace isomer::ops::act_quant
