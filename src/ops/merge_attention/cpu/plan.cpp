#include "core/ceil_div.hpp"
#include "cpu/implementation.hpp"
#include "ops/merge_attention/cpu/kernel.hpp"
#include "ops/merge_attention/merge_attention.hpp"

#include <algorithm>
#include <limits>

namespace isomer::ops::merge_attention {
namespace {

/// Elements of out that one task computes: some µs.
constexpr std::int64_t kElements = 32768;

/// Walks the rows of the six tensors together, in row-major order of [..., H].
class Cursor {
 public:
  enum { out_a, lse_a, out_b, lse_b, out, lse };

  Cursor(const MergeAttentionArgs& args, std::int64_t row)
      : dims_(args.lse_a.rank), sizes_(args.lse_a.shape), tensors_{&args.out_a, &args.lse_a, &args.out_b,
                                                                   &args.lse_b, &args.out,   &args.lse} {
    for (int i = dims_ - 1; i >= 0; --i) {
      index_[at(i)] = row % sizes_[at(i)];
      row /= sizes_[at(i)];
      move(i, index_[at(i)]);
    }
  }

  template <class T>
  T* element(int tensor) const {
    const Tensor& t = *tensors_[at(tensor)];
    return reinterpret_cast<T*>(static_cast<std::byte*>(t.data) + offset_[at(tensor)] * size_of(t.dtype));
  }

  void next() {
    for (int i = dims_ - 1; i >= 0; --i) {
      if (++index_[at(i)] < sizes_[at(i)]) return move(i, 1);
      move(i, 1 - sizes_[at(i)]);
      index_[at(i)] = 0;
    }
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void move(int dim, std::int64_t steps) {
    for (std::size_t t = 0; t < tensors_.size(); ++t) offset_[t] += steps * tensors_[t]->strides[at(dim)];
  }

  int dims_;
  std::array<std::int64_t, Tensor::kMaxRank> sizes_, index_{};
  std::array<const Tensor*, 6> tensors_;
  std::array<std::int64_t, 6> offset_{};  ///< in elements
};

class MergeAttentionPlan : public core::Plan {
 public:
  MergeAttentionPlan(const core::Call& call, const Queue&, cpu::Target target) : target_(target) {
    const auto& args = call.args<MergeAttentionArgs>();
    in_ = args.out_a.dtype;
    out_ = args.out.dtype;
    length_ = args.out.size(-1);
    rows_ = args.lse_a.numel();
    rows_per_task_ = std::max<std::int64_t>(1, kElements / std::max<std::int64_t>(1, length_));
    if (rows_per_task_ > kRows) rows_per_task_ = rows_per_task_ / kRows * kRows;
    tasks_ = core::ceil_div(rows_, rows_per_task_);
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(in_))},
                   {"element_out", std::string(name_of(out_))}};
    out.parameters = {{"rows", std::to_string(rows_)}, {"head_dim_v", std::to_string(length_)}};
    out.constants = {{"rows_per_task", std::to_string(rows_per_task_)}};
    out.launches = {{.kernel = "merge_attention", .grid = {tasks_, 1, 1}}};
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    const auto& args = call.args<MergeAttentionArgs>();
    const Kernel use = kernel()[target_]();
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int) {
      const std::int64_t end = std::min((task + 1) * rows_per_task_, rows_);
      for (std::int64_t r = task * rows_per_task_; r < end; r += kRows)
        merge(use, Cursor(args, r), std::min(kRows, end - r), args.lse.defined());
    });
  }

 private:
  /// `count` rows from the cursor on. Every lse is read before any is written: lse may be lse_a.
  void merge(const Kernel& use, const Cursor& first, std::int64_t count, bool write_lse) const {
    constexpr float kNothing = -std::numeric_limits<float>::infinity();
    Weights weights;
    std::fill(weights.a, weights.a + kRows, kNothing);
    std::fill(weights.b, weights.b + kRows, kNothing);
    bool with_a[kRows], with_b[kRows];
    Cursor row = first;
    for (std::int64_t i = 0; i < count; ++i, row.next()) {
      weights.a[i] = *row.element<const float>(Cursor::lse_a);
      weights.b[i] = *row.element<const float>(Cursor::lse_b);
      with_a[i] = weights.a[i] != kNothing;
      with_b[i] = weights.b[i] != kNothing;
    }
    use.weigh(weights);
    row = first;
    for (std::int64_t i = 0; i < count; ++i, row.next()) {
      use.merge({.in_dtype = in_,
                 .out_dtype = out_,
                 .a = with_a[i] ? row.element<const std::byte>(Cursor::out_a) : nullptr,
                 .b = with_b[i] ? row.element<const std::byte>(Cursor::out_b) : nullptr,
                 .weight_a = weights.a[i],
                 .weight_b = weights.b[i],
                 .out = row.element<std::byte>(Cursor::out),
                 .count = length_});
      if (write_lse) *row.element<float>(Cursor::lse) = weights.lse[i];
    }
  }

  cpu::Target target_;
  DType in_ = DType::f32, out_ = DType::f32;
  std::int64_t length_ = 0, rows_ = 0, rows_per_task_ = 1, tasks_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<MergeAttentionPlan>(kernel());
}

}  // namespace isomer::ops::merge_attention
