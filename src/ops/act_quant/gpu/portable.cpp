#include "core/ceil_div.hpp"
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

struct Decision {
  std::vector<gpu::Step> steps;
  device::ActQuantParameters parameters{};
  ActQuantOptions options;
  std::int64_t per_launch_block = 0;
};

/// Innermost first. Where scales are adjacent across rows, a sector of them comes before the blocks of a
/// row.
int set_dimensions(device::ActQuantParameters& p, const core::Joined& joined) {
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
  for (std::size_t d = 0; d < dims.size(); ++d) {
    p.size[d] = device::divisor_of(dims[d].size);
    p.y_stride[d] = dims[d].y;
    p.x_stride[d] = dims[d].x;
    p.s_stride[d] = dims[d].s;
  }
  return static_cast<int>(dims.size());
}

class ActQuantPlan : public gpu::Plan {
 public:
  explicit ActQuantPlan(Decision decision)
      : Plan(std::move(decision.steps)),
        parameters_(decision.parameters),
        options_(decision.options),
        per_launch_block_(decision.per_launch_block) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    const auto& args = call.args<ActQuantArgs>();
    const auto& options = call.options<ActQuantOptions>();
    const std::int64_t size = options.block_size;
    const Tensor y = by_block(args.y, size), x = by_block(args.x, size);
    const Tensor* views[] = {&y, &x, &args.s};
    const core::Joined joined(views);
    Decision decision{.options = options};
    auto& p = decision.parameters;
    p.blocks = joined.elements;
    if (joined.elements == 0) return decision;

    const std::int64_t element = size_of(x.dtype), wide = kVectorBytes / element;
    const bool vectors = aligned(x, joined, 1, kVectorBytes) && aligned(y, joined, 0, wide);
    const std::int64_t vector = vectors ? wide : 1, lanes = std::min(kLanes, size / vector);
    const std::int64_t bytes = vectors ? kBytesUnderWay : kBytesUnderWayOfElements;
    const std::int64_t unroll = std::max<std::int64_t>(1, bytes / (size / lanes * element));
    const std::int64_t per_launch_block = kThreads / lanes * unroll;
    const std::int64_t grid = core::ceil_div(joined.elements, per_launch_block);
    const bool narrow = grid * per_launch_block < std::int64_t{1} << 31;

    p.power_of_two = options.scale_format == ScaleFormat::ue8m0 ? 1 : 0;
    p.amax_floor = options.amax_floor;
    const int dims = set_dimensions(p, joined);
    decision.per_launch_block = per_launch_block;
    decision.steps.push_back({.source = "ops/act_quant/kernels/act_quant.cu",
                              .kernel = "isomer_act_quant",
                              .variant = {{"element", x.dtype},
                                          {"block_size", size},
                                          {"vector", vector},
                                          {"lanes_per_block", lanes},
                                          {"unroll", unroll},
                                          {"dims", dims},
                                          {"index", narrow ? "u32" : "i64"},
                                          {"threads", kThreads}},
                              .grid = {static_cast<std::uint32_t>(grid), 1, 1},
                              .block = {kThreads, 1, 1},
                              .overlap_previous = facts.has.overlap});
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = {
        {"blocks", std::to_string(parameters_.blocks)},
        {"amax_floor", std::to_string(options_.amax_floor)},
        {"scale_format", options_.scale_format == ScaleFormat::ue8m0 ? "ue8m0" : "f32"},
        {"scale_layout", options_.scale_layout == ScaleLayout::column_major ? "column_major" : "row_major"}};
    if (!steps().empty()) out.constants = gpu::named({{"blocks_per_launch_block", per_launch_block_}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<ActQuantArgs>();
    device::ActQuantParameters p = parameters_;
    p.x = args.x.data;
    p.y = args.y.data;
    p.s = static_cast<float*>(args.s.data);
    launch(queue, 0, p);
  }

 private:
  device::ActQuantParameters parameters_;
  ActQuantOptions options_;
  std::int64_t per_launch_block_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::everywhere<ActQuantPlan>(); }

}  // namespace isomer::ops::act_quant
