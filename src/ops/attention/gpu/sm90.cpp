#include "ops/attention/gpu/sm90.hpp"

#include "core/ceil_div.hpp"
#include "ops/attention/gpu/parameters.hpp"
#include "ops/attention/gpu/problem.hpp"
#include "ops/attention/gpu/sm90_tiling.hpp"
#include "ops/attention/gpu/steps.hpp"
#include "ops/attention/kernels/attention_sm90.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace isomer::ops::attention {
namespace {

using Parameters = device::AttentionSm90Parameters;

/// A producer warpgroup and two that work.
constexpr std::uint32_t kThreads = 384;
constexpr int kGroupRows = 64;
constexpr std::int64_t kPanelBytes = device::AttentionSm90Layout::kPanelBytes;
/// As far as keys on either side of the diagonal are counted.
constexpr std::int64_t kFar = std::int64_t{1} << 29;
constexpr std::size_t kAlignment = 256;  ///< of rotated queries in the workspace

struct Decision {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::vector<gpu::Step> steps;
  std::size_t rotates = kNone;  ///< the step of them that rotates queries
  GpuProblem problem;
  Sm90Tiling tiling;
  Parameters parameters;  ///< without addresses
  /// Of the launches before and behind, where there are some.
  device::AttentionParameters around;
  std::size_t workspace_bytes = 0;
  std::size_t turned = 0;  ///< where rotated queries lie in the workspace
  std::string target;      ///< the architecture it is planned for
};

device::AttentionRows rows_of(const RowView& view) {
  return {nullptr,       view.outer_stride, view.row_stride, view.head_stride,
          view.d_stride, view.outers,       view.rows};
}

device::AttentionFactors factors_of(const Tensor& t) {
  if (!t.defined()) return {};
  return {nullptr, t.stride(0), t.stride(1)};
}

/// Panels of 128 bytes and `rows` rows of (column, row, head, outer).
gpu::TensorMap map_of(const RowView& view, std::int64_t columns, std::int64_t heads, int rows) {
  const auto stride = [&](std::int64_t count, std::int64_t step) {
    return static_cast<std::uint64_t>(count > 1 ? step * size_of(view.dtype) : 16);
  };
  gpu::TensorMap map;
  map.element = view.dtype;
  map.rank = 4;
  map.size = {static_cast<std::uint64_t>(columns), static_cast<std::uint64_t>(view.rows),
              static_cast<std::uint64_t>(heads), static_cast<std::uint64_t>(view.outers), 0};
  map.stride_bytes = {0, stride(view.rows, view.row_stride), stride(heads, view.head_stride),
                      stride(view.outers, view.outer_stride), 0};
  map.box = {static_cast<std::uint32_t>(kPanelBytes / size_of(view.dtype)), static_cast<std::uint32_t>(rows),
             1, 1, 0};
  map.swizzle_bytes = 128;
  return map;
}

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

/// Rows of several heads of one kv head: (column, head of the unit, row, unit, outer).
gpu::TensorMap map_of_units(const Geometry& g, const Sm90Tiling& t) {
  const RowView& view = g.q;
  const auto stride = [&](std::int64_t count, std::int64_t step) {
    return static_cast<std::uint64_t>(count > 1 ? step * size_of(view.dtype) : 16);
  };
  gpu::TensorMap map;
  map.element = view.dtype;
  map.rank = 5;
  map.size = {static_cast<std::uint64_t>(g.head_dim), static_cast<std::uint64_t>(t.pack),
              static_cast<std::uint64_t>(view.rows), static_cast<std::uint64_t>(t.units),
              static_cast<std::uint64_t>(view.outers)};
  map.stride_bytes = {0, stride(t.pack, view.head_stride), stride(view.rows, view.row_stride),
                      stride(t.units, t.pack * view.head_stride), stride(view.outers, view.outer_stride)};
  map.box = {static_cast<std::uint32_t>(kPanelBytes / size_of(view.dtype)),
             static_cast<std::uint32_t>(t.pack), static_cast<std::uint32_t>(t.tile_rows / t.pack), 1, 1};
  map.swizzle_bytes = 128;
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
      .block = {kThreads, 1, 1},
      .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes),
      .maps = {
          {t.pieces ? map_of_units(g, t)
                    : map_of(g.q, g.head_dim, g.heads, device::AttentionSm90Layout::kRows),
           offsetof(Parameters, q_map)},
          {map_of(g.k, g.head_dim, g.heads_kv, static_cast<int>(t.box_rows)), offsetof(Parameters, k_map)},
          {g.v_colmajor ? map_of_columns(g, t)
                        : map_of(g.v, g.head_dim_v, g.heads_kv, static_cast<int>(t.box_rows)),
           offsetof(Parameters, v_map)},
          {map_of(g.out, g.head_dim_v, g.heads, kGroupRows), offsetof(Parameters, out_map)}}};
  if (g.chunk > 0) step.variant.emplace_back("chunked", 1);
  return step;
}

Parameters parameters_of(const Geometry& g, const Sm90Tiling& t) {
  Parameters p{};
  p.q = rows_of(g.q);
  p.k = rows_of(g.k);
  p.v = rows_of(g.v);
  p.out = rows_of(g.out);
  p.lse = rows_of(g.lse);
  if (g.has_sink()) {
    const DType type = g.args->sink.dtype;
    p.sink_type = type == DType::f32   ? device::AttentionWide::f32
                  : type == DType::f16 ? device::AttentionWide::f16
                                       : device::AttentionWide::bf16;
  }
  const auto number = [](std::int64_t n) { return static_cast<std::int32_t>(n); };
  p.lengths = t.lengths;
  p.batch = number(g.batch);
  p.heads = number(g.heads);
  p.heads_kv = number(g.heads_kv);
  p.group = number(std::max<std::int64_t>(g.group, 1));
  p.head_dim = number(g.head_dim);
  p.head_dim_v = number(g.head_dim_v);
  p.left = number(g.window_left < 0 ? kFar : std::min(g.window_left, kFar));
  p.right = number(g.window_right < 0 ? kFar : std::min(g.window_right, kFar));
  p.row_tiles = number(t.row_tiles);
  p.tiles = number(t.tiles);
  p.section = number(t.section);
  p.of_section = device::divisor_of(t.section);
  p.of_section_tiles = device::divisor_of(std::max<std::int64_t>(t.section * t.row_tiles, 1));
  p.of_heads = device::divisor_of(std::max<std::int64_t>(g.heads, 1));
  const double scale = g.softcap > 0 ? g.softcap : g.scale;
  p.cap = static_cast<float>(g.softcap > 0 ? g.scale / g.softcap : 0);
  p.scale_log2 = static_cast<float>(scale * std::numbers::log2e);
  p.lowest = static_cast<float>(-0x1p126 / std::max(scale * std::numbers::log2e, 1.0));
  if (!t.pieces) return p;
  device::AttentionSm90Pieces& of = p.pieces;
  of.pack = number(t.pack);
  of.units = number(t.units);
  of.tile_rows = number(t.tile_rows);
  of.ragged = t.ragged;
  of.parts = number(t.parts);
  of.split_size = number(t.split_size);
  of.box_rows = number(t.box_rows);
  of.of_pack = device::divisor_of(t.pack);
  of.of_page = device::divisor_of(std::max<std::int64_t>(g.page_size, 1));
  if (g.paged) {
    of.table_rows = number(g.args->page_table.size(0));
    of.max_pages = number(g.args->page_table.size(1));
    of.page_table_stride = g.args->page_table.stride(0);
  }
  of.new_rows = g.append ? number(g.k_new.rows) : 0;
  of.partial_rows = g.total_q;
  of.q_descale = factors_of(g.args->q_descale);
  of.k_descale = factors_of(g.args->k_descale);
  of.v_descale = factors_of(g.args->v_descale);
  of.v_colmajor = g.v_colmajor;
  of.chunk = number(std::min(g.chunk, kFar));
  of.of_chunk = device::divisor_of(std::max<std::int64_t>(of.chunk, 1));
  return p;
}

/// Null where the call has no such tensor.
template <class T>
T* address(const Tensor& t) {
  return t.defined() ? static_cast<T*>(t.data) : nullptr;
}

void set_addresses(Parameters& p, const AttentionArgs& a) {
  using Integers = const std::int32_t;
  p.q.data = a.q.data;
  p.k.data = a.k.data;
  p.v.data = a.v.data;
  p.out.data = a.out.data;
  p.lse.data = address<void>(a.lse);
  p.cu_seqlens_q = address<Integers>(a.cu_seqlens_q);
  p.cu_seqlens_k = address<Integers>(a.cu_seqlens_k);
  p.seqused_q = address<Integers>(a.seqused_q);
  p.seqused_k = address<Integers>(a.seqused_k);
  p.leftpad_k = address<Integers>(a.leftpad_k);
  p.kv_batch_idx = address<Integers>(a.kv_batch_idx);
  p.sink = address<const void>(a.sink);
  p.pieces.page_table = address<Integers>(a.page_table);
  p.pieces.cache_seqlens = address<Integers>(a.cache_seqlens);
  p.pieces.cu_seqlens_k_new = address<Integers>(a.cu_seqlens_k_new);
  p.pieces.q_descale.data = address<const float>(a.q_descale);
  p.pieces.k_descale.data = address<const float>(a.k_descale);
  p.pieces.v_descale.data = address<const float>(a.v_descale);
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
                      .parameters = parameters_of(g, t),
                      .around = {},
                      .target = facts.architecture};
    if (appends(g)) decision.steps.push_back(append_step(g));
    if (g.rotary && t.grid > 0) {
      decision.rotates = decision.steps.size();
      decision.steps.push_back(rotate_step(asked));
    }
    if (t.grid > 0) decision.steps.push_back(step_of(g, t));
    if (!t.pieces) return decision;
    GpuTiling common = tile_up(g, options, facts);
    common.parts = t.parts;
    common.split_size = t.split_size;
    common.workers = 0;
    decision.around = parameters_of(asked, common);
    decision.workspace_bytes = common.workspace_bytes(g);
    if (g.rotary && t.grid > 0) {
      decision.turned = core::ceil_div(decision.workspace_bytes, kAlignment) * kAlignment;
      decision.workspace_bytes =
          decision.turned + static_cast<std::size_t>(g.q.outers * g.q.outer_stride * size_of(g.q.dtype));
    }
    if (t.grid > 0 && t.parts > 1)
      decision.steps.push_back(combine_step(g, facts, t.head_dim_v, t.block_n, t.parts));
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = problem_.parameters(tiling_.pack > 1, tiling_.parts);
    const Sm90Schedule schedule = schedule_sm90(tiling_);
    out.constants = gpu::named(
        {{"target", std::string_view(target_)},
         {"scheduler", "longest_first"},
         {"block_m", device::AttentionSm90Layout::kRows},
         {"stages", device::AttentionSm90Layout::kStages},
         {"warpgroups", kThreads / 128},
         {"tiles", tiling_.tiles},
         {"section", tiling_.section},
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
    Parameters p = parameters_;
    set_addresses(p, a);
    p.next_tile = static_cast<device::u32*>(zeroed(queue));
    if (!tiling_.pieces) {
      launch(queue, 0, p, {a.q.data, a.k.data, a.v.data, a.out.data});
      return;
    }
    device::AttentionParameters around = around_;
    attention::set_addresses(around, a, workspace);
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
