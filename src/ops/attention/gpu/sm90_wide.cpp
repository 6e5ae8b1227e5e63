#include "ops/attention/gpu/sm90_wide.hpp"

#include "ops/attention/gpu/parameters.hpp"
#include "ops/attention/gpu/problem.hpp"
#include "ops/attention/gpu/sm90_parameters.hpp"
#include "ops/attention/gpu/sm90_wide_tiling.hpp"
#include "ops/attention/gpu/steps.hpp"
#include "ops/attention/kernels/attention_sm90_wide.h"

#include <cmath>
#include <cstddef>

namespace isomer::ops::attention {
namespace {

using Parameters = device::AttentionSm90WideParameters;
using Layout = device::AttentionSm90WideLayout;

/// A producer warpgroup and two that work.
constexpr std::uint32_t kThreads = 384;

struct Decision {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<gpu::Step> steps;
  std::size_t attends = kNone;  ///< the step of them that does
  GpuProblem problem;
  Sm90Tiling tiling;
  Parameters parameters;               ///< without addresses
  device::AttentionParameters around;  ///< of the launches before and behind
  std::size_t workspace_bytes = 0;
  std::string target;  ///< the architecture it is planned for
};

gpu::Step step_of(const Geometry& g, const Sm90Tiling& t) {
  constexpr std::size_t kCall = offsetof(Parameters, call);
  using Call = device::AttentionSm90Parameters;
  const int box = static_cast<int>(t.box_rows);
  // Without queries of v their map is q's, which nobody asks.
  gpu::Step step = {
      .source = "ops/attention/kernels/attention_sm90_wide.cu",
      .kernel = "isomer_attention_sm90_wide",
      .variant = {{"element", g.q.dtype},
                  {"head_dim", t.head_dim},
                  {"head_dim_v", t.head_dim_v},
                  {"block_n", t.block_n},
                  {"qv", g.has_qv() ? 1 : 0},
                  {"softcap", g.softcap > 0 ? 1 : 0}},
      .grid = {gpu::grid_of(t.grid), 1, 1},
      .block = {kThreads, 1, 1},
      .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes),
      .maps = {{map_of_units(g.q, g.head_dim, t), kCall + offsetof(Call, q_map)},
               {map_of(g.k, g.head_dim, g.heads_kv, box), kCall + offsetof(Call, k_map)},
               {map_of(g.v, g.head_dim_v, g.heads_kv, box), kCall + offsetof(Call, v_map)},
               {g.has_qv() ? map_of_units(g.qv, g.head_dim_v, t) : map_of_units(g.q, g.head_dim, t),
                offsetof(Parameters, qv_map)}}};
  if (g.chunk > 0) step.variant.emplace_back("chunked", 1);
  return step;
}

/// One launch of as many blocks as the device has multiprocessors, or tiles; before it one that appends and
/// behind it one that combines parts, where the call or the tiling has such.
class Sm90WidePlan : public gpu::Plan {
 public:
  explicit Sm90WidePlan(Decision decision)
      : Plan(std::move(decision.steps), sizeof(device::u32)),
        attends_(decision.attends),
        problem_(decision.problem),
        tiling_(decision.tiling),
        parameters_(decision.parameters),
        around_(decision.around),
        workspace_bytes_(decision.workspace_bytes),
        target_(std::move(decision.target)) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    const Geometry g = geometry_of(call);
    const auto& options = call.options<AttentionOptions>();
    if (std::string reason = refuse(g, options, facts); !reason.empty())
      return core::Refusal{std::move(reason)};
    if (std::string reason = refuse_sm90_wide(g, options, facts); !reason.empty())
      return core::Refusal{std::move(reason)};
    const Sm90Tiling t = tile_up_sm90_wide(g, options, facts);
    GpuTiling common = tile_up(g, options, facts);
    common.parts = t.parts;
    common.split_size = t.split_size;
    common.workers = 0;
    Decision decision{.steps = {},
                      .attends = Decision::kNone,
                      .problem = GpuProblem(g),
                      .tiling = t,
                      .parameters = {.qv_map = {},
                                     .qv = {nullptr, g.qv.outer_stride, g.qv.row_stride, g.qv.head_stride,
                                            g.qv.d_stride, g.qv.outers, g.qv.rows},
                                     .call = sm90_parameters_of(g, t)},
                      .around = parameters_of(g, common),
                      .workspace_bytes = common.workspace_bytes(g),
                      .target = facts.architecture};
    if (appends(g)) decision.steps.push_back(append_step(g, facts, false));
    if (t.grid == 0) return decision;
    decision.attends = decision.steps.size();
    decision.steps.push_back(step_of(g, t));
    if (t.parts == 1) return decision;
    decision.steps.push_back(combine_step(g, facts, t.head_dim_v, t.block_n, t.parts));
    decision.steps.back().overlap_previous = facts.has.overlap;
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = problem_.parameters(tiling_.pack > 1, tiling_.parts);
    const Sm90Schedule schedule = schedule_sm90(tiling_);
    out.constants = gpu::named(
        {{"target", std::string_view(target_)},
         {"scheduler", "longest_first"},
         {"block_m", Layout::kRows},
         {"stages", Layout::kStages},
         {"warpgroups", kThreads / 128},
         {"tiles", tiling_.tiles},
         {"section", tiling_.section},
         {"heads_of_a_tile", tiling_.pack},
         {"tile_rows", tiling_.tile_rows},
         {"box_rows", tiling_.box_rows},
         {"split_size", tiling_.split_size},
         {"workspace_bytes", workspace_bytes_},
         {"modelled_blocks", static_cast<std::int64_t>(std::lround(schedule.makespan))},
         {"modelled_idle_percent", static_cast<std::int64_t>(std::lround(100 * schedule.idle()))}});
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    if (steps().empty()) return;
    const AttentionArgs& a = call.args<AttentionArgs>();
    device::AttentionParameters around = around_;
    set_addresses(around, a, workspace);
    Parameters p = parameters_;
    set_sm90_addresses(p.call, a);
    p.qv.data = a.qv.defined() ? a.qv.data : nullptr;
    p.call.next_tile = static_cast<device::u32*>(zeroed(queue));
    p.call.pieces.partial_out = around.partial_out;
    p.call.pieces.partial_state = around.partial_state;
    for (std::size_t step = 0; step < steps().size(); ++step) {
      if (step == attends_)
        launch(queue, step, p, {a.q.data, a.k.data, a.v.data, a.qv.defined() ? a.qv.data : a.q.data});
      else
        launch(queue, step, around);
    }
  }

 private:
  std::size_t attends_;
  GpuProblem problem_;
  Sm90Tiling tiling_;
  Parameters parameters_;
  device::AttentionParameters around_;
  std::size_t workspace_bytes_;
  std::string target_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> sm90_wide() {
  return gpu::on<Sm90WidePlan>(DeviceType::cuda, "sm90_wide", {.bulk_copy = true, .wgmma = true});
}

}  // namespace isomer::ops::attention
