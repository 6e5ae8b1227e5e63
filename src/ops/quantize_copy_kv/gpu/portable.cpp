#include "core/ceil_div.hpp"
#include "gpu/plan.hpp"
#include "ops/quantize_copy_kv/kernels/quantize_copy_kv.h"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

#include <algorithm>

namespace isomer::ops::quantize_copy_kv {
namespace {

constexpr std::int64_t kThreads = 128;
/// The widest access of a thread.
constexpr std::int64_t kVectorBytes = 16;
/// Vectors under way in one thread: 64 bytes, or as many elements as there are registers to spare.
constexpr std::int64_t kUnderWay = 4, kElementsUnderWay = 16;
/// Of one run in a lane; a longer run is read in pieces, twice.
constexpr std::int64_t kMostVectors = 4, kMostElements = 8;
constexpr std::int64_t kMostUnroll = 8;

/// A dimension that runs lie along, with the strides of k, out and out_scale.
struct Dimension {
  std::int64_t size = 1, k = 0, out = 0, scale = 0;
};

/// How the vectors of a run lie over lanes.
struct Lanes {
  std::int64_t lanes = 1, vectors = 1;
  bool pieces = false;
};

/// The fewest places for that many vectors, then the most lanes: adjacent ones reach over more of a line.
Lanes lanes_for(std::int64_t count, std::int64_t least_lanes, std::int64_t most_vectors) {
  Lanes best{32, most_vectors, true};
  for (std::int64_t lanes = 32; lanes >= least_lanes; lanes /= 2) {
    const std::int64_t vectors = std::max<std::int64_t>(1, core::ceil_div(count, lanes));
    if (vectors <= most_vectors && (best.pieces || lanes * vectors < best.lanes * best.vectors))
      best = {lanes, vectors, false};
  }
  return best;
}

struct Decision {
  std::vector<gpu::Step> steps;
  device::QuantizeCopyKvParameters parameters{};
  std::int64_t tokens = 0, heads = 0, channels = 0, group = 0, per_launch_block = 0;
  DType dest = DType::none;
};

/// Groups and heads, joined where they lie together and left out where there is one, then tokens.
int set_dimensions(device::QuantizeCopyKvParameters& p, const QuantizeCopyKvArgs& args, std::int64_t group,
                   std::int64_t groups) {
  std::vector<Dimension> dims;
  if (groups > 1)
    dims.push_back({groups, group * args.k.stride(2), group * args.out.stride(2), args.out_scale.stride(2)});
  const Dimension heads{args.k.size(1), args.k.stride(1), args.out.stride(1), args.out_scale.stride(1)};
  const auto continues = [&](const Dimension& inner) {
    return heads.k == inner.size * inner.k && heads.out == inner.size * inner.out &&
           heads.scale == inner.size * inner.scale;
  };
  if (!dims.empty() && continues(dims[0]))
    dims[0].size *= heads.size;
  else if (heads.size > 1)
    dims.push_back(heads);
  dims.push_back({args.k.size(0), args.k.stride(0), args.out.stride(0), args.out_scale.stride(0)});
  for (std::size_t d = 0; d < dims.size(); ++d) {
    p.size[d] = device::divisor_of(dims[d].size);
    p.k_stride[d] = dims[d].k;
    p.out_stride[d] = dims[d].out;
    p.scale_stride[d] = dims[d].scale;
  }
  return static_cast<int>(dims.size());
}

bool aligned(const Tensor& tensor, const device::i64 (&strides)[device::QuantizeCopyKvParameters::kDims],
             int dims, std::int64_t bytes) {
  bool holds = reinterpret_cast<std::uintptr_t>(tensor.data) % static_cast<std::uintptr_t>(bytes) == 0;
  for (int d = 0; d < dims; ++d) holds = holds && strides[d] * size_of(tensor.dtype) % bytes == 0;
  return holds;
}

class QuantizeCopyKvPlan : public gpu::Plan {
 public:
  explicit QuantizeCopyKvPlan(Decision decision)
      : Plan(std::exchange(decision.steps, {})), decision_(std::move(decision)) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts& facts) {
    const auto& args = call.args<QuantizeCopyKvArgs>();
    const auto& k = args.k;
    const std::int64_t group = call.options<QuantizeCopyKvOptions>().group;
    const std::int64_t tokens = k.size(0), heads = k.size(1), channels = k.size(2);
    const std::int64_t groups = group == 0 ? 1 : channels / group, runs = tokens * heads * groups;
    Decision decision{
        .tokens = tokens, .heads = heads, .channels = channels, .group = group, .dest = args.dest.dtype};
    if (runs == 0 || args.out.size(0) == 0) return decision;

    auto& p = decision.parameters;
    const int dims = set_dimensions(p, args, group, groups);
    p.runs = runs;
    p.out_rows = args.out.size(0);
    p.length = group == 0 ? channels : group;
    p.dest_is_i64 = args.dest.dtype == DType::i64 ? 1 : 0;
    p.dest_stride = args.dest.stride(0);
    p.k_channel = k.stride(2);
    p.out_channel = args.out.stride(2);

    const std::int64_t wide = kVectorBytes / size_of(k.dtype);
    const bool vectors = p.length > 0 && p.length % wide == 0 && p.k_channel == 1 && p.out_channel == 1 &&
                         aligned(k, p.k_stride, dims, kVectorBytes) &&
                         aligned(args.out, p.out_stride, dims, wide);
    const std::int64_t vector = vectors ? wide : 1;
    // Single elements are read by many lanes side by side, so that an access still reaches over whole
    // sectors.
    const std::int64_t least = vectors ? 1 : p.length >= 16 ? 16 : p.length >= 8 ? 8 : 1;
    const Lanes lanes = lanes_for(p.length / vector, least, vectors ? kMostVectors : kMostElements);
    const std::int64_t under_way = vectors ? kUnderWay : kElementsUnderWay;
    std::int64_t unroll =
        lanes.pieces ? 1 : std::clamp<std::int64_t>(under_way / lanes.vectors, 1, kMostUnroll);
    const bool fills = !lanes.pieces && lanes.lanes * lanes.vectors * vector == p.length && dims > 1;
    const auto of_one_token = [&](std::int64_t at_once) {
      return fills && p.size[0].value % (facts.warp_size / lanes.lanes * at_once) == 0;
    };
    if (!of_one_token(unroll) && unroll > 2 && of_one_token(unroll / 2)) unroll /= 2;
    const bool whole = of_one_token(unroll);
    const std::int64_t per_launch_block = kThreads / lanes.lanes * unroll;
    const std::int64_t grid = core::ceil_div(runs, per_launch_block);
    const bool narrow = grid * per_launch_block < std::int64_t{1} << 31;

    decision.per_launch_block = per_launch_block;
    decision.steps.push_back({.source = "ops/quantize_copy_kv/kernels/quantize_copy_kv.cu",
                              .kernel = "isomer_quantize_copy_kv",
                              .variant = {{"element", k.dtype},
                                          {"scale_element", args.out_scale.dtype},
                                          {"vector", vector},
                                          {"lanes_per_run", lanes.lanes},
                                          {"vectors", p.length == 0 ? 0 : lanes.vectors},
                                          {"unroll", unroll},
                                          {"in_pieces", lanes.pieces},
                                          {"whole", whole},
                                          {"dims", dims},
                                          {"index", narrow ? "u32" : "i64"},
                                          {"threads", kThreads}},
                              .grid = {static_cast<std::uint32_t>(grid), 1, 1},
                              .block = {static_cast<std::uint32_t>(kThreads), 1, 1},
                              .overlap_previous = facts.has.overlap});
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = gpu::named({{"tokens", decision_.tokens},
                                 {"heads", decision_.heads},
                                 {"head_dim", decision_.channels},
                                 {"group", decision_.group},
                                 {"dest", decision_.dest}});
    if (!steps().empty())
      out.constants =
          gpu::named({{"runs", decision_.parameters.runs}, {"runs_per_block", decision_.per_launch_block}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<QuantizeCopyKvArgs>();
    device::QuantizeCopyKvParameters p = decision_.parameters;
    p.k = args.k.data;
    p.dest = args.dest.data;
    p.out = args.out.data;
    p.out_scale = args.out_scale.data;
    launch(queue, 0, p);
  }

 private:
  Decision decision_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() {
  return gpu::everywhere<QuantizeCopyKvPlan>();
}

}  // namespace isomer::ops::quantize_copy_kv
