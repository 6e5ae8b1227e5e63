#include "gpu/plan.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/gpu/parameters.hpp"
#include "ops/attention/gpu/problem.hpp"
#include "ops/attention/gpu/sm80.hpp"
#include "ops/attention/gpu/sm90.hpp"
#include "ops/attention/gpu/sm90_wide.hpp"
#include "ops/attention/gpu/steps.hpp"

namespace isomer::ops::attention {
namespace {

struct Decision {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<gpu::Step> steps;
  std::size_t attends = kNone;  ///< the step of them that does
  std::size_t rotates = kNone;  ///< the step of them that rotates queries, beside new keys
  GpuProblem problem;
  GpuTiling tiling;
  device::AttentionParameters parameters;  ///< without addresses
  device::AttentionParameters asked;       ///< the same of the call itself, whose queries are not rotated yet
  std::size_t workspace_bytes = 0;
  std::size_t turned = 0;  ///< where rotated queries lie in the workspace
  std::string target;      ///< the architecture it is planned for
};

gpu::Step attend_step(const Geometry& g, const GpuTiling& t) {
  gpu::Variant variant = {{"element", g.q.dtype}, {"head_dim", t.head_dim}, {"head_dim_v", t.head_dim_v},
                          {"block_m", t.block_m}, {"block_n", t.block_n},   {"threads", t.threads}};
  if (t.decode) {
    variant.emplace_back("resident", t.resident);
    if (g.k.dtype != g.q.dtype) variant.emplace_back("element_kv", g.k.dtype);
    if (t.plain != 0) variant.emplace_back("plain", t.plain);
  } else {
    variant.emplace_back("element_kv", g.k.dtype);
    variant.emplace_back("shared_bytes", t.shared_bytes);
    if (t.mma != DType::none) variant.emplace_back("element_mma", t.mma);
    if (g.scaled()) variant.emplace_back("int8", 1);
    if (g.has_qv()) variant.emplace_back("qv", 1);
  }
  return {.source = t.decode               ? "ops/attention/kernels/attention_decode.cu"
                    : t.mma != DType::none ? "ops/attention/kernels/attention_mma.cu"
                                           : "ops/attention/kernels/attention.cu",
          .kernel = t.decode               ? "isomer_attention_decode"
                    : t.mma != DType::none ? "isomer_attention_mma"
                                           : "isomer_attention",
          .variant = std::move(variant),
          .grid = {gpu::grid_of(t.blocks(g.batch)), 1, 1},
          .block = {static_cast<std::uint32_t>(t.threads), 1, 1},
          .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes)};
}

/// Appends first where there is something to append, then attends, then combines where keys are split.
class PortablePlan : public gpu::Plan {
 public:
  explicit PortablePlan(Decision decision)
      : Plan(std::move(decision.steps)),
        attends_(decision.attends),
        rotates_(decision.rotates),
        problem_(decision.problem),
        tiling_(decision.tiling),
        parameters_(decision.parameters),
        asked_(decision.asked),
        workspace_bytes_(decision.workspace_bytes),
        turned_(decision.turned),
        target_(std::move(decision.target)) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    const Geometry asked = geometry_of(call);
    const auto& options = call.options<AttentionOptions>();
    if (std::string reason = refuse(asked, options, facts); !reason.empty())
      return core::Refusal{std::move(reason)};
    Geometry g = asked;
    const bool empty = g.batch * g.heads * g.seqlen_q == 0;
    const bool turns = !empty && g.rotary && tile_up(g, options, facts).decode;
    if (turns) {
      g.q = turned_queries(asked);
      g.rotary = false;
    }
    const GpuTiling t = tile_up(g, options, facts);
    Decision decision{.steps = {},
                      .problem = GpuProblem(asked),
                      .tiling = t,
                      .parameters = parameters_of(g, t),
                      .asked = parameters_of(asked, t),
                      .workspace_bytes = t.workspace_bytes(g),
                      .target = facts.architecture};
    if (turns) {
      decision.turned = turned_begin(decision.workspace_bytes);
      decision.workspace_bytes = decision.turned + turned_bytes(g.q);
      decision.rotates = decision.steps.size();
    }
    if (appends(g) || turns) decision.steps.push_back(append_step(asked, facts, turns));
    if (empty) return decision;
    decision.attends = decision.steps.size();
    decision.steps.push_back(attend_step(g, t));
    decision.steps.back().overlap_previous = t.decode && facts.has.overlap;
    if (t.parts == 1) return decision;
    decision.steps.push_back(combine_step(g, facts, t.head_dim_v, t.block_n, t.expected_parts(g)));
    decision.steps.back().overlap_previous = t.decode && facts.has.overlap;
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = problem_.parameters(tiling_.pack, tiling_.parts);
    out.constants = gpu::named({{"target", std::string_view(target_)},
                                {"scheduler", "longest_first"},
                                {"tiles", tiling_.tiles},
                                {"split_size", tiling_.split_size},
                                {"teams", tiling_.workers},
                                {"workspace_bytes", workspace_bytes_}});
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    device::AttentionParameters p = parameters_;
    const AttentionArgs& args = call.args<AttentionArgs>();
    set_addresses(p, args, workspace);
    if (rotates_ != Decision::kNone) {
      p.q.data = static_cast<std::byte*>(workspace) + turned_;
      p.rotary_cos = p.rotary_sin = nullptr;
    }
    for (std::size_t step = 0; step < steps().size(); ++step) {
      if (step == rotates_) {
        device::AttentionRotateParameters rotate{};
        static_cast<device::AttentionParameters&>(rotate) = asked_;
        set_addresses(rotate, args, workspace);
        rotate.turned = p.q;
        launch(queue, step, rotate);
      } else if (step == attends_ && args.k_scale.defined())
        launch(queue, step, int8_parameters(p, args));
      else if (step == attends_ && args.qv.defined())
        launch(queue, step, qv_parameters(p, args));
      else
        launch(queue, step, p);
    }
  }

 private:
  std::size_t attends_, rotates_;
  GpuProblem problem_;
  GpuTiling tiling_;
  device::AttentionParameters parameters_, asked_;
  std::size_t workspace_bytes_, turned_;
  std::string target_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() {
  return gpu::in_order(sm90_wide(), sm90(), sm80(), gpu::everywhere<PortablePlan>());
}

}  // namespace isomer::ops::attention
