#include "ops/attention/gpu/sm90.hpp"

#include "core/ceil_div.hpp"
#include "ops/attention/gpu/parameters.hpp"
#include "ops/attention/gpu/problem.hpp"
#include "ops/attention/gpu/sm90_parameters.hpp"
#include "ops/attention/gpu/sm90_tiling.hpp"
#include "ops/attention/gpu/steps.hpp"
#include "ops/attention/kernels/attention_sm90.h"

#include <cmath>
#include <cstddef>

namespace isomer::ops::attention {
namespace {

using Parameters = device::AttentionSm90Parameters;

constexpr int kGroupRows = 64;

/// A producer warpgroup, and one for each 64 rows of a tile.
int warpgroups_of(const Sm90Tiling& t) { return 1 + static_cast<int>(t.rows) / kGroupRows; }

struct Decision {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<gpu::Step> steps;
  std::size_t rotates = kNone;  ///< the step of them that rotates queries, beside new keys
  GpuProblem problem;
  Sm90Tiling tiling;
  Parameters parameters;  ///< without addresses
  /// Of the launches before and behind, where there are some.
  device::AttentionParameters around;
  std::size_t workspace_bytes = 0;
  std::size_t turned = 0;  ///< where rotated queries lie in the workspace
  std::string target;      ///< the architecture it is planned for
};

/// A column-major V: (row, column, head, outer), a block's keys of every column.
gpu::TensorMap map_of_columns(const Geometry& g, const Sm90Tiling& t) {
  const RowView& view = g.v;
  const auto stride = [&](std::int64_t count, std::int64_t step) {
    return static_cast<std::uint64_t>(count > 1 ? step * size_of(view.dtype) : 16);
  };
  gpu::TensorMap map;
  map.element = view.dtype;
  map.rank = 4;
  map.size = {static_cast<std::uint64_t>(view.rows), static_cast<std::uint64_t>(g.head_dim_v),
              static_cast<std::uint64_t>(g.heads_kv), static_cast<std::uint64_t>(view.outers), 0};
  map.stride_bytes = {0, stride(g.head_dim_v, view.d_stride), stride(g.heads_kv, view.head_stride),
                      stride(view.outers, view.outer_stride), 0};
  map.box = {static_cast<std::uint32_t>(t.block_n), static_cast<std::uint32_t>(t.head_dim_v), 1, 1, 0};
  map.swizzle_bytes = t.block_n;
  return map;
}

gpu::Step step_of(const Geometry& g, const Sm90Tiling& t) {
  gpu::Step step = {
      .source = "ops/attention/kernels/attention_sm90.cu",
      .kernel = "isomer_attention_sm90",
      .variant = {{"element", g.q.dtype},
                  {"element_out", g.out.dtype},
                  {"head_dim", t.head_dim},
                  {"head_dim_v", t.head_dim_v},
                  {"block_n", t.block_n},
                  {"query_buffers", t.query_buffers},
                  {"softcap", g.softcap > 0 ? 1 : 0},
                  {"pieces", t.pieces ? 1 : 0},
                  {"clears", t.clears ? 1 : 0}},
      .grid = {gpu::grid_of(t.grid), 1, 1},
      .block = {static_cast<std::uint32_t>(128 * warpgroups_of(t)), 1, 1},
      .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes),
      .maps = {
          {t.pieces ? map_of_units(g.q, g.head_dim, t)
                    : map_of(g.q, g.head_dim, g.heads, static_cast<int>(t.rows)),
           offsetof(Parameters, q_map)},
          {map_of(g.k, g.head_dim, g.heads_kv, static_cast<int>(t.box_rows)), offsetof(Parameters, k_map)},
          {g.v_colmajor ? map_of_columns(g, t)
                        : map_of(g.v, g.head_dim_v, g.heads_kv, static_cast<int>(t.box_rows)),
           offsetof(Parameters, v_map)},
          {map_of(g.out, g.head_dim_v, g.heads, kGroupRows), offsetof(Parameters, out_map)}}};
  if (t.rows != device::AttentionSm90Layout::kRows) step.variant.emplace_back("rows", t.rows);
  if (g.k.dtype != g.q.dtype) step.variant.emplace_back("element_kv", g.k.dtype);
  if (t.freely) step.variant.emplace_back("freely", 1);
  if (g.chunk > 0) step.variant.emplace_back("chunked", 1);
  return step;
}

/// Of a launch that joins the last heads of the last entry alone: these are its heads 0, 1, … of entry 0.
void point_at_last_heads(device::AttentionParameters& p, const Parameters& whole, const AttentionArgs& a) {
  const std::int64_t entry = whole.batch - 1, head = whole.heads - p.heads;
  const auto move = [&](device::AttentionRows& rows, DType type) {
    if (!rows.data) return;
    const std::int64_t elements = entry * rows.outer_stride + head * rows.head_stride;
    rows.data = static_cast<std::byte*>(rows.data) + elements * size_of(type);
  };
  move(p.out, a.out.dtype);
  move(p.lse, DType::f32);
  if (p.sink) p.sink = static_cast<const std::byte*>(p.sink) + head * size_of(a.sink.dtype);
  if (p.v_descale.data)
    p.v_descale.data += entry * p.v_descale.entry_stride + head / whole.group * p.v_descale.head_stride;
}

/// One launch of as many blocks as the device has multiprocessors, or tiles; before it one that appends and
/// behind it one that combines parts, where the call or the tiling has such.
class Sm90Plan : public gpu::Plan {
 public:
  explicit Sm90Plan(Decision decision)
      : Plan(std::move(decision.steps), sizeof(device::u32)),
        problem_(decision.problem),
        tiling_(decision.tiling),
        parameters_(decision.parameters),
        around_(decision.around),
        workspace_bytes_(decision.workspace_bytes),
        rotates_(decision.rotates),
        turned_(decision.turned),
        target_(std::move(decision.target)) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    Geometry g = geometry_of(call);
    const auto& options = call.options<AttentionOptions>();
    if (std::string reason = refuse(g, options, facts); !reason.empty())
      return core::Refusal{std::move(reason)};
    if (std::string reason = refuse_sm90(g, options, facts); !reason.empty())
      return core::Refusal{std::move(reason)};
    const Sm90Tiling t = tile_up_sm90(g, options, facts);
    const Geometry asked = g;
    if (g.rotary) g.q = turned_queries(asked);
    Decision decision{.steps = {},
                      .rotates = Decision::kNone,
                      .problem = GpuProblem(g),
                      .tiling = t,
                      .parameters = sm90_parameters_of(g, t),
                      .around = {},
                      .target = facts.architecture};
    const bool turns = g.rotary && t.grid > 0;
    if (appends(g) || turns) {
      if (turns) decision.rotates = decision.steps.size();
      decision.steps.push_back(append_step(asked, facts, turns));
    }
    if (t.grid > 0) {
      decision.steps.push_back(step_of(g, t));
      decision.steps.back().overlap_previous = facts.has.overlap;
    }
    if (!t.pieces) return decision;
    GpuTiling common = tile_up(g, options, facts);
    common.parts = t.parts;
    common.split_size = t.split_size;
    common.workers = 0;
    Geometry divided = divided_of(asked, t);
    common.partial_rows = t.divided_units > 0 ? divided.total_q : common.partial_rows;
    decision.around = parameters_of(divided, common);
    decision.workspace_bytes = common.workspace_bytes(divided);
    if (turns) {
      decision.turned = turned_begin(decision.workspace_bytes);
      decision.workspace_bytes = decision.turned + turned_bytes(g.q);
    }
    if (t.grid > 0 && t.parts > 1) {
      decision.steps.push_back(combine_step(divided, facts, t.head_dim_v, t.block_n, t.parts));
      decision.steps.back().overlap_previous = facts.has.overlap;
    }
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = problem_.parameters(tiling_.pack > 1, tiling_.parts);
    const Sm90Schedule schedule = schedule_sm90(tiling_);
    out.constants = gpu::named(
        {{"target", std::string_view(target_)},
         {"scheduler", "longest_first"},
         {"block_m", tiling_.rows},
         {"stages", tiling_.stages},
         {"warpgroups", warpgroups_of(tiling_)},
         {"tiles", tiling_.tiles},
         {"section", tiling_.section},
         {"tile_rows", tiling_.tile_rows},
         {"box_rows", tiling_.box_rows},
         {"split_size", tiling_.split_size},
         {"whole_tiles", tiling_.whole_tiles()},
         {"workspace_bytes", workspace_bytes_},
         {"modelled_blocks", static_cast<std::int64_t>(std::lround(schedule.makespan))},
         {"modelled_idle_percent", static_cast<std::int64_t>(std::lround(100 * schedule.idle()))}});
  }

  std::size_t workspace_bytes() const override { return workspace_bytes_; }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    if (steps().empty()) return;
    const AttentionArgs& a = call.args<AttentionArgs>();
    Parameters p = parameters_;
    set_sm90_addresses(p, a);
    p.next_tile = static_cast<device::u32*>(zeroed(queue));
    if (!tiling_.pieces) {
      launch(queue, 0, p, {a.q.data, a.k.data, a.v.data, a.out.data});
      return;
    }
    device::AttentionParameters around = around_;
    attention::set_addresses(around, a, workspace);
    if (tiling_.divided_units > 0) point_at_last_heads(around, parameters_, a);
    p.pieces.partial_out = around.partial_out;
    p.pieces.partial_state = around.partial_state;
    if (rotates_ != Decision::kNone) p.q.data = static_cast<std::byte*>(workspace) + turned_;
    for (std::size_t step = 0; step < steps().size(); ++step) {
      if (!steps()[step].maps.empty()) {
        launch(queue, step, p, {p.q.data, a.k.data, a.v.data, a.out.data});
      } else if (step == rotates_) {
        device::AttentionRotateParameters rotate{};
        static_cast<device::AttentionParameters&>(rotate) = around;
        rotate.turned = p.q;
        launch(queue, step, rotate);
      } else {
        launch(queue, step, around);
      }
    }
  }

 private:
  GpuProblem problem_;
  Sm90Tiling tiling_;
  Parameters parameters_;
  device::AttentionParameters around_;
  std::size_t workspace_bytes_, rotates_, turned_;
  std::string target_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> sm90() {
  return gpu::on<Sm90Plan>(DeviceType::cuda, "sm90", {.bulk_copy = true, .wgmma = true});
}

}  // namespace isomer::ops::attention
