#include "core/joined.hpp"
#include "gpu/plan.hpp"
#include "ops/sin/kernels/sin.h"
#include "ops/sin/sin.hpp"

#include <algorithm>

namespace isomer::ops::sin {
namespace {

constexpr int kThreads = 256, kUnroll = 4;
/// The widest access of a thread.
constexpr int kVectorBytes = 16;
/// Blocks of one launch; more pieces are taken in turn.
constexpr std::int64_t kMostBlocks = 1 << 30;

bool aligned(const Tensor& tensor, const std::array<std::int64_t, Tensor::kMaxRank>& strides, int dims) {
  bool holds = reinterpret_cast<std::uintptr_t>(tensor.data) % kVectorBytes == 0;
  for (int d = 0; d + 1 < dims; ++d)
    holds = holds && strides[static_cast<std::size_t>(d)] * size_of(tensor.dtype) % kVectorBytes == 0;
  return holds && (dims == 0 || strides[static_cast<std::size_t>(dims - 1)] == 1);
}

class SinPlan : public gpu::Plan {
 public:
  SinPlan(const core::Call& call, const gpu::Facts&) {
    const auto& args = call.args<SinArgs>();
    const Tensor* views[] = {&args.y, &args.x};
    const core::Joined joined(views);
    parameters_ = {{"elements", std::to_string(joined.elements)}};
    if (joined.elements == 0) return;
    const bool vectors =
        aligned(args.y, joined.strides[0], joined.dims) && aligned(args.x, joined.strides[1], joined.dims);
    const std::int64_t vector = vectors ? kVectorBytes / size_of(args.x.dtype) : 1;
    const std::int64_t piece = kThreads * kUnroll * vector;
    auto& p = arguments_;
    const int outer = std::max(joined.dims - 1, 0);
    p.length = joined.dims == 0 ? 1 : joined.sizes[static_cast<std::size_t>(outer)];
    p.y_step = joined.strides[0][static_cast<std::size_t>(outer)];
    p.x_step = joined.strides[1][static_cast<std::size_t>(outer)];
    p.pieces = (p.length + piece - 1) / piece;
    p.rows = joined.elements / p.length;
    for (int d = 0; d < device::SinParameters::kOuter; ++d) {
      const auto at = static_cast<std::size_t>(std::max(outer - 1 - d, 0));
      p.outer[d] = d < outer ? joined.sizes[at] : 1;
      p.y_stride[d] = d < outer ? joined.strides[0][at] : 0;
      p.x_stride[d] = d < outer ? joined.strides[1][at] : 0;
    }
    constants_ = {{"piece", std::to_string(piece)}, {"rows", std::to_string(p.rows)}};
    steps_.push_back(
        {.program = {.source = "ops/sin/kernels/sin.cu",
                     .kernel = "isomer_sin",
                     .variant = {{"element", std::string(name_of(args.x.dtype))},
                                 {"vector", std::to_string(vector)},
                                 {"threads", std::to_string(kThreads)},
                                 {"unroll", std::to_string(kUnroll)}}},
         .grid = {static_cast<std::uint32_t>(std::min<std::int64_t>(p.rows * p.pieces, kMostBlocks)), 1, 1},
         .block = {kThreads, 1, 1}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps_.empty()) return;
    const auto& args = call.args<SinArgs>();
    device::SinParameters p = arguments_;
    p.x = args.x.data;
    p.y = args.y.data;
    launch(queue, 0, p);
  }

 private:
  device::SinParameters arguments_{};
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::portable<SinPlan>(); }

}  // namespace isomer::ops::sin
