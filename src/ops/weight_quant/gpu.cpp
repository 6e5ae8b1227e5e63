#include "core/ceil_div.hpp"
#include "gpu/plan.hpp"
#include "ops/weight_quant/kernels/weight_quant.h"
#include "ops/weight_quant/weight_quant.hpp"

#include <algorithm>
#include <bit>

namespace isomer::ops::weight_quant {
namespace {

constexpr std::int64_t kThreads = 256;
/// The widest access of a thread, which is a read.
constexpr std::int64_t kVectorBytes = 16;

bool aligned(const Tensor& tensor, std::int64_t bytes) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) == 0 &&
         (tensor.size(0) == 1 || tensor.stride(0) * size_of(tensor.dtype) % bytes == 0);
}

struct Decision {
  std::vector<gpu::Step> steps;
  device::WeightQuantParameters parameters{};
  WeightQuantOptions options;
};

class WeightQuantPlan : public gpu::Plan {
 public:
  explicit WeightQuantPlan(Decision decision)
      : Plan(std::move(decision.steps)), parameters_(decision.parameters), options_(decision.options) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts&) {
    const auto& args = call.args<WeightQuantArgs>();
    Decision decision{.steps = {}, .parameters = {}, .options = call.options<WeightQuantOptions>()};
    auto& p = decision.parameters;
    const std::int64_t rows = args.x.size(0), columns = args.x.size(1);
    p.rows = rows;
    p.columns = columns;
    if (args.x.empty()) return decision;
    const std::int64_t block_size = std::min(decision.options.block_size, std::max(rows, columns));
    p.block_size = block_size;
    p.across = core::ceil_div(columns, block_size);
    p.blocks = core::ceil_div(rows, block_size) * p.across;
    p.x_row = args.x.stride(0);
    p.y_row = args.y.stride(0);
    p.s_row = args.s.stride(0);
    p.s_column = args.s.stride(1);
    p.amax_floor = decision.options.amax_floor;
    p.power_of_two = decision.options.scale_format == ScaleFormat::ue8m0 ? 1 : 0;
    const std::int64_t most = kVectorBytes / size_of(args.x.dtype);
    const bool vectors = aligned(args.x, kVectorBytes) && aligned(args.y, most) && columns % most == 0 &&
                         (p.across == 1 || block_size % most == 0);
    const std::int64_t vector = vectors ? most : 1;
    const std::int64_t wide = core::ceil_div(std::min(block_size, columns), vector);
    const auto row_threads = std::bit_ceil(static_cast<std::uint64_t>(std::min(wide, kThreads)));
    p.row_threads_log2 = std::countr_zero(row_threads);
    decision.steps.push_back(
        {.source = "ops/weight_quant/kernels/weight_quant.cu",
         .kernel = "isomer_weight_quant",
         .variant = {{"element", args.x.dtype}, {"vector", vector}, {"threads", kThreads}},
         .grid = {gpu::grid_of(p.blocks), 1, 1},
         .block = {static_cast<std::uint32_t>(kThreads), 1, 1}});
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = gpu::named({{"rows", parameters_.rows},
                                 {"columns", parameters_.columns},
                                 {"block_size", options_.block_size},
                                 {"blocks", parameters_.blocks}});
    out.parameters.emplace_back("amax_floor", std::to_string(options_.amax_floor));
    out.parameters.emplace_back("scale_format",
                                options_.scale_format == ScaleFormat::ue8m0 ? "ue8m0" : "f32");
    out.parameters.emplace_back(
        "scale_layout", options_.scale_layout == ScaleLayout::column_major ? "column_major" : "row_major");
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<WeightQuantArgs>();
    device::WeightQuantParameters p = parameters_;
    p.x = args.x.data;
    p.y = args.y.data;
    p.s = static_cast<float*>(args.s.data);
    launch(queue, 0, p);
  }

 private:
  device::WeightQuantParameters parameters_;
  WeightQuantOptions options_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::everywhere<WeightQuantPlan>(); }

}  // namespace isomer::ops::weight_quant
