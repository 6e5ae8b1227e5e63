#include "core/sentence.hpp"
#include "gpu/plan.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/gpu/sm90.hpp"
#include "ops/fp8_gemm/gpu/tiles.hpp"

namespace isomer::ops::fp8_gemm {
namespace {

struct Decision {
  std::vector<gpu::Step> steps;
  device::Fp8GemmParameters parameters{};
};

gpu::Step step_of(const GpuProblem& problem, const GpuTiling& t) {
  gpu::Variant variant = {{"c", problem.c}};
  if (t.kernel == GpuKernel::skinny) {
    variant.insert(variant.end(), {{"tokens", t.tile_m}, {"columns", t.tile_n}, {"warps", t.threads / 32}});
  } else {
    variant.insert(variant.end(), {{"tile_m", t.tile_m}, {"tile_n", t.tile_n}});
  }
  if (t.kernel == GpuKernel::tile)
    variant.insert(variant.end(), {{"warp_m", t.warp_m},
                                   {"warp_n", t.warp_n},
                                   {"grouped", problem.parameters.layout != device::GemmRows::single}});
  if (t.stages > 0) variant.emplace_back("stages", t.stages);
  variant.emplace_back("copy", problem.copy);
  struct Code {
    const char *source, *kernel;
  };
  constexpr Code kCode[] = {{"ops/fp8_gemm/kernels/fp8_gemm_tile.cu", "isomer_fp8_gemm_tile"},
                            {"ops/fp8_gemm/kernels/fp8_gemm_skinny.cu", "isomer_fp8_gemm_skinny"},
                            {"ops/fp8_gemm/kernels/fp8_gemm_plain.cu", "isomer_fp8_gemm_plain"}};
  const Code& code = kCode[static_cast<int>(t.kernel)];
  return {.source = code.source,
          .kernel = code.kernel,
          .variant = std::move(variant),
          .grid = {static_cast<std::uint32_t>(t.blocks), 1, 1},
          .block = {static_cast<std::uint32_t>(t.threads), 1, 1},
          .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes)};
}

/// The plan of either op: Args is Fp8GemmArgs or GroupedFp8GemmArgs.
template <class Args>
class GemmPlan : public gpu::Plan {
 public:
  explicit GemmPlan(Decision decision) : Plan(std::move(decision.steps)), parameters_(decision.parameters) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    const GpuProblem problem(call.args<Args>());
    if (problem.parameters.blocks > gpu::kMostBlocks)
      return core::Refusal{"K has more than 2^31 - 1 blocks of 128"};
    const GpuTiling t = gpu_tiling(problem, facts);
    if (t.blocks > gpu::kMostBlocks)
      return core::Refusal{core::say("c has ", t.blocks, " tiles, a launch has at most 2^31 - 1 blocks")};
    Decision decision{.steps = {}, .parameters = problem.parameters};
    if (problem.empty()) return decision;
    decision.parameters.row_tiles = static_cast<std::uint32_t>(t.row_tiles);
    decision.parameters.column_tiles = static_cast<std::uint32_t>(t.column_tiles);
    decision.steps.push_back(step_of(problem, t));
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    const device::Fp8GemmParameters& p = parameters_;
    constexpr const char* kLayouts[] = {"single", "contiguous", "masked"};
    out.parameters = gpu::named({{"rows", kLayouts[static_cast<int>(p.layout)]},
                                 {"m", p.rows},
                                 {"n", p.columns},
                                 {"k", p.depth},
                                 {"experts", p.experts}});
    if (!steps().empty())
      out.constants = gpu::named({{"row_tiles", p.row_tiles}, {"column_tiles", p.column_tiles}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (!steps().empty()) launch(queue, 0, with_addresses(parameters_, call.args<Args>()));
  }

 private:
  device::Fp8GemmParameters parameters_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() {
  return gpu::in_order(sm90(), gpu::everywhere<GemmPlan<Fp8GemmArgs>>());
}

std::vector<std::unique_ptr<const core::Implementation>> grouped_gpu() {
  return gpu::in_order(grouped_sm90(), gpu::everywhere<GemmPlan<GroupedFp8GemmArgs>>());
}

}  // namespace isomer::ops::fp8_gemm
