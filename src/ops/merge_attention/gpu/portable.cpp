#include "core/ceil_div.hpp"
#include "core/joined.hpp"
#include "gpu/plan.hpp"
#include "ops/merge_attention/kernels/merge_attention.h"
#include "ops/merge_attention/merge_attention.hpp"

#include <algorithm>

namespace isomer::ops::merge_attention {
namespace {

constexpr std::int64_t kThreads = 256, kUnroll = 2;
constexpr std::int64_t kVectorBytes = 16;

enum View { out, out_a, out_b, lse_a, lse_b, lse };

struct Decision {
  std::vector<gpu::Step> steps;
  device::MergeAttentionParameters parameters{};
  std::int64_t tile = 0;
};

class MergeAttentionPlan : public gpu::Plan {
 public:
  explicit MergeAttentionPlan(Decision decision)
      : Plan(std::move(decision.steps)), parameters_(decision.parameters), tile_(decision.tile) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts&) {
    const auto& args = call.args<MergeAttentionArgs>();
    const std::int64_t length = args.out.size(-1), rows = args.lse_a.numel();
    Decision decision;
    auto& p = decision.parameters;
    p.length = length;
    p.rows = rows;
    if (args.out.empty() && (length > 0 || rows == 0 || !args.lse.defined())) return decision;

    // The rows of all tensors together; of the outs their first elements, and nothing where they have none.
    const auto firsts = [&](const Tensor& tensor) {
      return length > 0 ? tensor.select(tensor.rank - 1, 0) : args.lse_a;
    };
    const Tensor lead = firsts(args.out), a = firsts(args.out_a), b = firsts(args.out_b);
    const Tensor* views[] = {&lead,       &a,          &b,
                             &args.lse_a, &args.lse_b, args.lse.defined() ? &args.lse : &args.lse_a};
    const core::Joined joined(views);
    const int dims = std::max(joined.dims, 1);
    bool vectors = true;
    for (const Tensor* tensor : {&args.out, &args.out_a, &args.out_b})
      vectors = vectors && reinterpret_cast<std::uintptr_t>(tensor->data) % kVectorBytes == 0;
    for (int d = 0; d < device::MergeAttentionParameters::kOuter; ++d) {
      const bool used = d < joined.dims;
      const auto at = static_cast<std::size_t>(used ? joined.dims - 1 - d : 0);
      const auto stride = [&](View view) { return used ? joined.strides[view][at] : 0; };
      p.size[d] = used ? joined.sizes[at] : 1;
      p.out_stride[d] = stride(out), p.a_stride[d] = stride(out_a), p.b_stride[d] = stride(out_b);
      p.lse_a_stride[d] = stride(lse_a), p.lse_b_stride[d] = stride(lse_b), p.lse_stride[d] = stride(lse);
      vectors = vectors && p.out_stride[d] * size_of(args.out.dtype) % kVectorBytes == 0 &&
                p.a_stride[d] * size_of(args.out_a.dtype) % kVectorBytes == 0 &&
                p.b_stride[d] * size_of(args.out_b.dtype) % kVectorBytes == 0;
    }
    const std::int64_t vector = kVectorBytes / size_of(args.out_a.dtype);
    std::int64_t lanes = 8;
    while (lanes < 32 && lanes * vector < length) lanes *= 2;
    const std::int64_t tile = kThreads / lanes * kUnroll;
    p.tiles = core::ceil_div(rows, tile);
    decision.tile = tile;
    decision.steps.push_back({.source = "ops/merge_attention/kernels/merge_attention.cu",
                              .kernel = "isomer_merge_attention",
                              .variant = {{"element", args.out_a.dtype},
                                          {"element_out", args.out.dtype},
                                          {"lanes_of_row", lanes},
                                          {"vectors", vectors && length % vector == 0},
                                          {"dims", dims},
                                          {"index", rows < INT32_MAX ? "u32" : "u64"},
                                          {"threads", kThreads},
                                          {"unroll", kUnroll}},
                              .grid = {gpu::grid_of(p.tiles), 1, 1},
                              .block = {kThreads, 1, 1}});
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = gpu::named({{"rows", parameters_.rows}, {"head_dim_v", parameters_.length}});
    if (!steps().empty()) out.constants = gpu::named({{"rows_per_block", tile_}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<MergeAttentionArgs>();
    device::MergeAttentionParameters p = parameters_;
    p.a = args.out_a.data, p.b = args.out_b.data, p.out = args.out.data;
    p.lse_a = static_cast<const float*>(args.lse_a.data),
    p.lse_b = static_cast<const float*>(args.lse_b.data);
    p.lse = args.lse.defined() ? static_cast<float*>(args.lse.data) : nullptr;
    launch(queue, 0, p);
  }

 private:
  device::MergeAttentionParameters parameters_;
  std::int64_t tile_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() {
  return isomer::gpu::everywhere<MergeAttentionPlan>();
}

}  // namespace isomer::ops::merge_attention
