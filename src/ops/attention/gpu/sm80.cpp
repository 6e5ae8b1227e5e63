#include "ops/attention/gpu/sm80.hpp"

#include "ops/attention/gpu/parameters.hpp"
#include "ops/attention/gpu/problem.hpp"
#include "ops/attention/gpu/sm80_tiling.hpp"
#include "ops/attention/gpu/steps.hpp"
#include "ops/attention/kernels/attention_sm80.h"

#include <algorithm>

namespace isomer::ops::attention {
namespace {

using Parameters = device::AttentionSm80Parameters;

struct Decision {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<gpu::Step> steps;
  std::size_t attends = kNone;  ///< the step of them that does
  GpuProblem problem;
  Sm80Tiling tiling;
  Parameters parameters;  ///< without addresses
  std::size_t workspace_bytes = 0;
  std::string target;  ///< the architecture it is planned for
};

gpu::Step step_of(const Geometry& g, const Sm80Tiling& t) {
  return {.source = "ops/attention/kernels/attention_sm80.cu",
          .kernel = "isomer_attention_sm80",
          .variant = {{"element", g.q.dtype},
                      {"head_dim", t.head_dim},
                      {"head_dim_v", t.head_dim_v},
                      {"block_m", t.block_m},
                      {"block_n", t.block_n},
                      {"warps", t.warps},
                      {"stages", t.stages},
                      {"resident", t.blocks_together},
                      {"softcap", g.softcap > 0 ? 1 : 0},
                      {"pages", t.pages ? 1 : 0},
                      {"padded", g.head_dim < t.head_dim || g.head_dim_v < t.head_dim_v ? 1 : 0}},
          .grid = {gpu::grid_of(t.blocks(g.batch)), 1, 1},
          .block = {static_cast<std::uint32_t>(t.threads), 1, 1},
          .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes)};
}

Parameters sm80_parameters_of(const Geometry& g, const Sm80Tiling& t) {
  Parameters p{};
  static_cast<device::AttentionParameters&>(p) = parameters_of(g, t);
  p.section = t.section;
  p.of_section = device::divisor_of(t.section);
  p.of_section_tiles = device::divisor_of(std::max<std::int64_t>(t.section * t.tiles, 1));
  return p;
}

/// Appends first where there is something to append, then attends, then combines where keys are split.
class Sm80Plan : public gpu::Plan {
 public:
  explicit Sm80Plan(Decision decision)
      : Plan(std::move(decision.steps)),
        attends_(decision.attends),
        problem_(decision.problem),
        tiling_(decision.tiling),
        parameters_(decision.parameters),
        workspace_bytes_(decision.workspace_bytes),
        target_(std::move(decision.target)) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    const Geometry g = geometry_of(call);
    const auto& options = call.options<AttentionOptions>();
    if (std::string reason = refuse(g, options, facts); !reason.empty())
      return core::Refusal{std::move(reason)};
    if (std::string reason = refuse_sm80(g, options, facts); !reason.empty())
      return core::Refusal{std::move(reason)};
    const Sm80Tiling t = tile_up_sm80(g, options, facts);
    Decision decision{.steps = {},
                      .attends = Decision::kNone,
                      .problem = GpuProblem(g),
                      .tiling = t,
                      .parameters = sm80_parameters_of(g, t),
                      .workspace_bytes = t.workspace_bytes(g),
                      .target = facts.architecture};
    if (appends(g)) decision.steps.push_back(append_step(g, facts, false));
    if (t.blocks(g.batch) == 0) return decision;
    decision.attends = decision.steps.size();
    decision.steps.push_back(step_of(g, t));
    if (t.parts > 1) decision.steps.push_back(combine_step(g, facts, t.head_dim_v, t.block_n, t.parts));
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = problem_.parameters(tiling_.pack, tiling_.parts);
    out.constants = gpu::named({{"target", std::string_view(target_)},
                                {"scheduler", "longest_first"},
                                {"tiles", tiling_.tiles},
                                {"section", tiling_.section},
                                {"split_size", tiling_.split_size},
                                {"workspace_bytes", workspace_bytes_}});
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    Parameters p = parameters_;
    set_addresses(p, call.args<AttentionArgs>(), workspace);
    for (std::size_t step = 0; step < steps().size(); ++step) {
      if (step == attends_)
        launch(queue, step, p);
      else
        launch(queue, step, static_cast<const device::AttentionParameters&>(p));
    }
  }

 private:
  std::size_t attends_;
  GpuProblem problem_;
  Sm80Tiling tiling_;
  Parameters parameters_;
  std::size_t workspace_bytes_;
  std::string target_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> sm80() {
  return gpu::on<Sm80Plan>(DeviceType::cuda, "sm80", {.mma = true});
}

}  // namespace isomer::ops::attention
