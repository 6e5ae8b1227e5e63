#include "ops/fp8_gemm/gpu/sm90.hpp"

#include "core/ceil_div.hpp"
#include "core/sentence.hpp"
#include "ops/fp8_gemm/fp8_gemm.hpp"
#include "ops/fp8_gemm/gpu/sm90_tiles.hpp"
#include "ops/fp8_gemm/kernels/fp8_gemm_sm90.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <type_traits>

namespace isomer::ops::fp8_gemm {
namespace {

using device::Fp8GemmSm90Parameters;
using device::GemmRows;

constexpr const char* kLayouts[] = {"single", "contiguous", "masked"};
/// Rows that run through the columns together: with a wave of columns they fit the L2 cache. Where rows are
/// short twice as many do, and b is read half as often beside all that is stored.
constexpr std::int64_t rows_together(std::int64_t depth) { return (depth <= 1024 ? 32 : 16) * 128; }

/// multiplier = ceil(2^shift / number) with 2^(shift - 31) >= number: x · multiplier is then less than
/// 2^shift above x · 2^shift / number, too little to reach the next quotient.
device::TileDivisor divisor(std::uint32_t number) {
  const auto shift = static_cast<std::uint32_t>(31 + std::bit_width(number - 1));
  return {number, static_cast<std::uint32_t>(((std::uint64_t{1} << shift) + number - 1) / number), shift};
}

struct Decision {
  std::vector<gpu::Step> steps;
  Fp8GemmSm90Parameters parameters{};
  bool bulk_store = false;
  std::vector<Sm90Tiling> candidates = {};
  std::size_t taken = 0;
  const gpu::TunedRow* measured = nullptr;  ///< of the process's table
};

/// With the box that a copy moves: rows of `columns` elements under a swizzle as wide.
gpu::MapOfStep boxed(gpu::TensorMap map, int columns, int rows, std::size_t at) {
  const auto width = static_cast<std::uint32_t>(columns);
  map.box = {width, static_cast<std::uint32_t>(rows), 1};
  map.swizzle_bytes = static_cast<int>(width * static_cast<std::uint32_t>(size_of(map.element)));
  return {map, static_cast<std::uint32_t>(at)};
}

/// Rows of a that a copy brings: of one tile no more than there are, in the eights of a swizzle. The copy
/// engine takes as long for a row that it fills with zeros.
int rows_brought(const Sm90Problem& problem, const Sm90Tiling& t) {
  const device::Fp8GemmParameters& p = problem.gemm.parameters;
  if (p.layout != GemmRows::single || t.cluster > 1 || p.rows >= t.tile_m) return t.tile_m;
  return static_cast<int>(core::align_up(p.rows, std::int64_t{8}));
}

gpu::Step step_of(const Sm90Problem& problem, const Sm90Tiling& t, bool b_ready, const gpu::Facts& facts) {
  gpu::Step step{.source = "ops/fp8_gemm/kernels/fp8_gemm_sm90.cu",
                 .kernel = "isomer_fp8_gemm_sm90",
                 .variant = {{"c", problem.gemm.c},
                             {"rows", kLayouts[static_cast<int>(problem.gemm.parameters.layout)]},
                             {"tile_m", t.tile_m},
                             {"tile_n", t.tile_n},
                             {"chunks", t.chunks},
                             {"stages", t.stages},
                             {"cluster", t.cluster},
                             {"split", t.split},
                             {"bulk_store", problem.bulk_store},
                             {"terms", problem.terms},
                             {"scales", problem.scales_at_once},
                             {"b_ready", b_ready}},
                 .grid = {static_cast<std::uint32_t>(t.blocks), 1, 1},
                 .block = {static_cast<std::uint32_t>(t.threads), 1, 1},
                 .cluster = {static_cast<std::uint32_t>(t.cluster * t.split), 1, 1},
                 .shared_bytes = static_cast<std::uint32_t>(t.shared_bytes),
                 .overlap_previous = facts.has.overlap};
  constexpr int kBlock = static_cast<int>(kScaleBlock);
  step.maps.push_back(boxed(problem.a, kBlock, rows_brought(problem, t), offsetof(Fp8GemmSm90Parameters, a)));
  step.maps.push_back(boxed(problem.b, kBlock, t.tile_n / t.cluster, offsetof(Fp8GemmSm90Parameters, b)));
  if (problem.bulk_store)
    step.maps.push_back(boxed(problem.c, sm90_panel_columns(t), 64, offsetof(Fp8GemmSm90Parameters, c)));
  return step;
}

/// Whose measured choices are taken.
template <class Args>
constexpr const char* kOp = std::is_same_v<Args, GroupedFp8GemmArgs> ? "grouped_fp8_gemm" : "fp8_gemm";

/// Whether the product may read b while what is ahead of it still runs.
template <class Args>
bool b_ready_of([[maybe_unused]] const core::Call& call) {
  if constexpr (std::is_same_v<Args, Fp8GemmArgs>) return call.options<Fp8GemmOptions>().b_ready != 0;
  return false;
}

/// The plan of either op: Args is Fp8GemmArgs or GroupedFp8GemmArgs.
template <class Args>
class Sm90Plan : public gpu::Plan {
 public:
  explicit Sm90Plan(Decision decision)
      : Plan(std::move(decision.steps)),
        parameters_(decision.parameters),
        bulk_store_(decision.bulk_store),
        candidates_(std::move(decision.candidates)),
        taken_(decision.taken),
        measured_(decision.measured) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts,
                                       std::string_view candidate = {}) {
    const Sm90Problem problem(call.args<Args>());
    if (!problem.refusal.empty()) return core::Refusal{problem.refusal};
    Decision decision{
        .steps = {}, .parameters = {.gemm = problem.gemm.parameters}, .bulk_store = problem.bulk_store};
    if (problem.gemm.empty()) return decision;
    decision.candidates = sm90_candidates(problem, facts);
    if (!gpu::tuned().rows().empty())
      decision.measured = gpu::tuned().find(sm90_key(problem, kOp<Args>, facts));
    const std::ptrdiff_t taken = sm90_choice(decision.candidates, candidate, decision.measured);
    if (taken < 0) return core::Refusal{core::say("has no tile '", candidate, "' for this call")};
    decision.taken = static_cast<std::size_t>(taken);
    const Sm90Tiling& t = decision.candidates[decision.taken];
    if (std::max(t.tiles, t.blocks) > gpu::kMostBlocks)
      return core::Refusal{core::say("c has ", t.tiles, " tiles, a launch has at most 2^31 - 1")};
    Fp8GemmSm90Parameters& p = decision.parameters;
    p.gemm.row_tiles = static_cast<std::uint32_t>(t.row_tiles);
    p.gemm.column_tiles = static_cast<std::uint32_t>(t.column_tiles);
    p.tiles = static_cast<std::uint32_t>(t.tiles);
    p.together = static_cast<std::uint32_t>(rows_together(p.gemm.depth) / (t.tile_m * t.cluster));
    p.group = divisor(static_cast<std::uint32_t>(
        std::min<std::int64_t>(std::int64_t{p.together} * t.column_tiles, gpu::kMostBlocks)));
    p.high = divisor(p.together);
    p.last = divisor((p.gemm.row_tiles - 1) % p.together + 1);
    p.rows_brought = static_cast<std::uint32_t>(rows_brought(problem, t));
    p.b_once = t.row_tiles == 1 && p.gemm.layout != GemmRows::contiguous;
    decision.steps.push_back(step_of(problem, t, b_ready_of<Args>(call), facts));
    return decision;
  }

  static gpu::TunedKey tuned_key(const core::Call& call, const gpu::Facts& facts) {
    return sm90_key(Sm90Problem(call.args<Args>()), kOp<Args>, facts);
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    const device::Fp8GemmParameters& p = parameters_.gemm;
    out.parameters = gpu::named({{"rows", kLayouts[static_cast<int>(p.layout)]},
                                 {"m", p.rows},
                                 {"n", p.columns},
                                 {"k", p.depth},
                                 {"experts", p.experts}});
    if (!steps().empty())
      out.constants =
          gpu::named({{"row_tiles", p.row_tiles},
                      {"column_tiles", p.column_tiles},
                      {"tiles", parameters_.tiles},
                      {"rows_together", parameters_.together},
                      {"b_once", parameters_.b_once},
                      {"modelled_ns", static_cast<std::int64_t>(1000 * candidates_[taken_].microseconds)}});
  }

  std::vector<gpu::Candidate> candidates() const override {
    std::vector<gpu::Candidate> list;
    for (const Sm90Tiling& t : candidates_) {
      const std::string name = t.name();
      list.push_back({.name = name,
                      .modelled = 1e-6 * t.microseconds,
                      .measured = gpu::tuned_seconds(measured_, name),
                      .taken = &t == &candidates_[taken_]});
    }
    return list;
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<Args>();
    Fp8GemmSm90Parameters parameters = parameters_;
    parameters.gemm = with_addresses(parameters_.gemm, args);
    if (bulk_store_)
      launch(queue, 0, parameters, {args.a.data, args.b.data, args.c.data});
    else
      launch(queue, 0, parameters, {args.a.data, args.b.data});
  }

 private:
  Fp8GemmSm90Parameters parameters_;
  bool bulk_store_;
  std::vector<Sm90Tiling> candidates_;
  std::size_t taken_;
  const gpu::TunedRow* measured_;
};

constexpr gpu::Capabilities kNeeds{.bulk_copy = true, .wgmma = true, .clusters = true};

}  // namespace

gpu::Implementations sm90() { return gpu::on<Sm90Plan<Fp8GemmArgs>>(DeviceType::cuda, "sm90", kNeeds); }
gpu::Implementations grouped_sm90() {
  return gpu::on<Sm90Plan<GroupedFp8GemmArgs>>(DeviceType::cuda, "sm90", kNeeds);
}

}  // namespace isomer::ops::fp8_gemm
