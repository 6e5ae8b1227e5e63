#include "core/sentence.hpp"
#include "gpu/plan.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/gpu/tiles.hpp"

#include <limits>

namespace isomer::ops::fp8_gemm {
namespace {

constexpr std::int64_t kMostBlocks = std::numeric_limits<std::int32_t>::max();

std::string_view name_of(device::GemmRows layout) {
  constexpr std::string_view names[] = {"single", "contiguous", "masked"};
  return names[static_cast<int>(layout)];
}

/// The plan of either op: Args is Fp8GemmArgs or GroupedFp8GemmArgs.
template <class Args>
class GemmPlan : public gpu::Plan {
 public:
  static std::string refuse(const core::Call& call, const gpu::Facts& facts) {
    const GpuProblem problem(call.args<Args>());
    if (problem.parameters.blocks > kMostBlocks) return "K has more than 2^31 - 1 blocks of 128";
    const GpuTiling tiling = gpu_tiling(problem, facts);
    return tiling.blocks > kMostBlocks
               ? core::say("c has ", tiling.blocks, " tiles, a launch has at most 2^31 - 1 blocks")
               : std::string();
  }

  GemmPlan(const core::Call& call, const gpu::Facts& facts) {
    const GpuProblem problem(call.args<Args>());
    device::Fp8GemmParameters& p = parameters_of_launch_;
    p = problem.parameters;
    parameters_ = {{"rows", std::string(name_of(p.layout))},
                   {"m", std::to_string(p.rows)},
                   {"n", std::to_string(p.columns)},
                   {"k", std::to_string(p.depth)},
                   {"experts", std::to_string(p.experts)}};
    if (problem.empty()) return;
    const GpuTiling t = gpu_tiling(problem, facts);
    p.row_tiles = static_cast<std::uint32_t>(t.row_tiles);
    p.column_tiles = static_cast<std::uint32_t>(t.column_tiles);
    constants_ = {{"row_tiles", std::to_string(t.row_tiles)},
                  {"column_tiles", std::to_string(t.column_tiles)}};
    const std::string name = "fp8_gemm_" + std::string(fp8_gemm::name_of(t.kernel));
    core::Named variant = {{"c", std::string(isomer::name_of(problem.c))}};
    const auto add = [&](const char* what, std::int64_t value) {
      variant.emplace_back(what, std::to_string(value));
    };
    if (t.kernel == GpuKernel::skinny) {
      add("tokens", t.tile_m);
      add("columns", t.tile_n);
      add("warps", t.threads / 32);
    } else {
      add("tile_m", t.tile_m);
      add("tile_n", t.tile_n);
    }
    if (t.kernel == GpuKernel::tile) {
      add("warp_m", t.warp_m);
      add("warp_n", t.warp_n);
      add("grouped", p.layout != device::GemmRows::single);
    }
    if (t.stages > 0) add("stages", t.stages);
    add("copy", problem.copy);
    steps_.push_back({.program = {.source = "ops/fp8_gemm/kernels/" + name + ".cu",
                                  .kernel = "isomer_" + name,
                                  .variant = std::move(variant)},
                      .grid = {static_cast<std::uint32_t>(t.blocks), 1, 1},
                      .block = {static_cast<std::uint32_t>(t.threads), 1, 1},
                      .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes)});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (!steps_.empty()) launch(queue, 0, with_addresses(parameters_of_launch_, call.args<Args>()));
  }

 private:
  device::Fp8GemmParameters parameters_of_launch_{};
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() {
  return gpu::portable<GemmPlan<Fp8GemmArgs>>();
}

std::vector<std::unique_ptr<const core::Implementation>> grouped_gpu() {
  return gpu::portable<GemmPlan<GroupedFp8GemmArgs>>();
}

}  // namespace isomer::ops::fp8_gemm
