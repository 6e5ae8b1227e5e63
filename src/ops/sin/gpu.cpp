#include "core/ceil_div.hpp"
#include "core/joined.hpp"
#include "gpu/plan.hpp"
#include "ops/sin/kernels/sin.h"
#include "ops/sin/sin.hpp"

#include <algorithm>

namespace isomer::ops::sin {
namespace {

/// Vectors under way in a thread: 64 bytes; of single elements more, as they are small.
constexpr std::int64_t kThreads = 128, kUnroll = 4, kUnrollOfElements = 8;
/// The widest access of a thread.
constexpr std::int64_t kVectorBytes = 16;

bool aligned(const Tensor& tensor, const core::Joined& joined, std::size_t view) {
  bool holds = reinterpret_cast<std::uintptr_t>(tensor.data) % kVectorBytes == 0;
  for (std::size_t d = 0; d + 1 < static_cast<std::size_t>(joined.dims); ++d)
    holds = holds && joined.strides[view][d] * size_of(tensor.dtype) % kVectorBytes == 0;
  return holds && (joined.dims == 0 || joined.strides[view][static_cast<std::size_t>(joined.dims - 1)] == 1);
}

struct Decision {
  std::vector<gpu::Step> steps;
  device::SinParameters parameters{};
  std::int64_t elements = 0, piece = 0;  ///< of the tensor; vectors of a block
};

class SinPlan : public gpu::Plan {
 public:
  explicit SinPlan(Decision decision)
      : Plan(std::move(decision.steps)),
        parameters_(decision.parameters),
        elements_(decision.elements),
        piece_(decision.piece) {}

  static gpu::Decided<Decision> decide(const core::Call& call, const gpu::Facts&) {
    const auto& args = call.args<SinArgs>();
    const Tensor* views[] = {&args.y, &args.x};
    const core::Joined joined(views);
    Decision decision{.elements = joined.elements};
    if (joined.elements == 0) return decision;
    const bool vectors = aligned(args.y, joined, 0) && aligned(args.x, joined, 1);
    const std::int64_t vector = vectors ? kVectorBytes / size_of(args.x.dtype) : 1;
    const std::int64_t unroll = vectors ? kUnroll : kUnrollOfElements;

    auto& p = decision.parameters;
    const int dims = std::max(joined.dims, 1);
    p.length = joined.dims == 0 ? 1 : joined.sizes[static_cast<std::size_t>(dims - 1)];
    const std::int64_t row_vectors = core::ceil_div(p.length, vector);
    p.vectors = joined.elements / p.length * row_vectors;
    for (int d = 0; d < joined.dims; ++d) {
      const auto from = static_cast<std::size_t>(joined.dims - 1 - d);
      p.size[d] = device::divisor_of(d == 0 ? row_vectors : joined.sizes[from]);
      p.y_stride[d] = joined.strides[0][from] * (d == 0 ? vector : 1);
      p.x_stride[d] = joined.strides[1][from] * (d == 0 ? vector : 1);
    }
    const std::int64_t piece = kThreads * unroll, grid = core::ceil_div(p.vectors, piece);
    const bool narrow = grid * piece < std::int64_t{1} << 31;
    decision.piece = piece;
    decision.steps.push_back({.source = "ops/sin/kernels/sin.cu",
                              .kernel = "isomer_sin",
                              .variant = {{"element", args.x.dtype},
                                          {"vector", vector},
                                          {"unroll", unroll},
                                          {"ragged", p.length % vector != 0},
                                          {"dims", dims},
                                          {"index", narrow ? "u32" : "i64"},
                                          {"threads", kThreads}},
                              .grid = {static_cast<std::uint32_t>(grid), 1, 1},
                              .block = {static_cast<std::uint32_t>(kThreads), 1, 1}});
    return decision;
  }

  void describe(core::Description& out) const override {
    Plan::describe(out);
    out.parameters = gpu::named({{"elements", elements_}});
    if (!steps().empty())
      out.constants = gpu::named({{"vectors", parameters_.vectors}, {"vectors_per_block", piece_}});
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (steps().empty()) return;
    const auto& args = call.args<SinArgs>();
    device::SinParameters p = parameters_;
    p.x = args.x.data;
    p.y = args.y.data;
    launch(queue, 0, p);
  }

 private:
  device::SinParameters parameters_;
  std::int64_t elements_, piece_;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> gpu() { return gpu::everywhere<SinPlan>(); }

}  // namespace isomer::ops::sin
