#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "gpu/plan.hpp"
#include "ops/silu_mul_quant/kernels/silu_mul_quant.h"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"

#include <algorithm>

namespace isomer::ops::silu_mul_quant {
namespace {

using device::SiluMulQuantParameters;

constexpr std::int64_t kThreads = 128, kLanes = 16;
/// The widest access of a thread, and the elements of a block that it has.
constexpr std::int64_t kVectorBytes = 16, kOwn = kBlock / kLanes;

bool aligned(const Tensor& tensor, std::int64_t bytes) {
  bool holds = reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) == 0;
  for (int d = 0; d + 1 < tensor.rank; ++d)
    holds = holds && (tensor.size(d) <= 1 || tensor.stride(d) * size_of(tensor.dtype) % bytes == 0);
  return holds;
}

SiluMulQuantParameters::Strides strides_of(const Tensor& tensor, std::int64_t block) {
  return {tensor.rank == 3 ? tensor.stride(0) : 0, tensor.stride(-2), block};
}

struct Decision {
  std::vector<gpu::Step> steps;
  SiluMulQuantParameters parameters{};
};

class DevicePlan : public gpu::Plan {
 public:
  explicit DevicePlan(Decision decision)
      : Plan(std::move(decision.steps)), parameters_(decision.parameters) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    const auto& args = call.args<SiluMulQuantArgs>();
    const auto& options = call.options<SiluMulQuantOptions>();
    Decision decision{.steps = {}};
    SiluMulQuantParameters& p = decision.parameters;
    p.blocks = args.y.numel() / kBlock;
    if (p.blocks == 0) return decision;
    p.half = args.y.size(-1);
    p.rows = args.y.size(-2);
    p.blocks_of_row = device::divisor_of(args.y.size(-1) / kBlock);
    p.rows_of_entry = device::divisor_of(p.rows);
    p.x_at = strides_of(args.x, kBlock);
    p.y_at = strides_of(args.y, kBlock);
    p.s_at = strides_of(args.s, args.s.stride(-1));
    if (args.row_counts.defined()) p.count_step = args.row_counts.stride(0);
    p.power_of_two = options.scale_format == ScaleFormat::ue8m0 ? 1 : 0;
    p.amax_floor = options.amax_floor;

    const std::int64_t wide = std::min(kOwn, kVectorBytes / size_of(args.x.dtype));
    const bool vectors = aligned(args.x, kVectorBytes) && aligned(args.y, wide);
    const std::int64_t grid = core::ceil_div(p.blocks, kThreads / kLanes);
    if (grid > gpu::kMostBlocks)
      return core::Refusal{core::say("y has ", p.blocks, " blocks of 128, more than a launch can have")};
    const bool narrow = grid * (kThreads / kLanes) < std::int64_t{1} << 31;
    decision.steps.push_back({.source = "ops/silu_mul_quant/kernels/silu_mul_quant.cu",
                              .kernel = "isomer_silu_mul_quant",
                              .variant = {{"element", args.x.dtype},
                                          {"vector", vectors ? wide : 1},
                                          {"index", narrow ? "u32" : "i64"},
                                          {"threads", kThreads}},
                              .grid = {static_cast<std::uint32_t>(grid), 1, 1},
                              .block = {kThreads, 1, 1},
                              .overlap_previous = facts.has.overlap});
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    const SiluMulQuantParameters& p = parameters_;
    out.parameters = gpu::named({{"blocks", p.blocks}, {"rows", p.rows}, {"power_of_two", p.power_of_two}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<SiluMulQuantArgs>();
    SiluMulQuantParameters p = parameters_;
    p.x = args.x.data;
    p.y = args.y.data;
    p.s = static_cast<float*>(args.s.data);
    p.row_counts = static_cast<const std::int32_t*>(args.row_counts.data);
    launch(queue, 0, p);
  }

 private:
  SiluMulQuantParameters parameters_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::everywhere<DevicePlan>(); }

}  // namespace isomer::ops::silu_mul_quant
