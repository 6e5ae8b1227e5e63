#include "cpu/implementation.hpp"
#include "ops/silu_mul_quant/cpu_kernel.hpp"
#include "ops/silu_mul_quant/silu_mul_quant.hpp"

#include <algorithm>

namespace isomer::ops::silu_mul_quant {
namespace {

/// Elements of y in one task, in whole rows: long enough to hide the pool, short enough to balance.
constexpr std::int64_t kTaskElements = 16384;

class HostPlan : public core::Plan {
 public:
  HostPlan(const core::Call& call, const Queue&, cpu::Target target)
      : target_(target), element_(call.tensor(0).dtype), options_(call.options<SiluMulQuantOptions>()) {
    const auto& args = call.args<SiluMulQuantArgs>();
    const bool masked = args.row_counts.defined();
    entries_ = masked ? args.y.size(0) : 1;
    rows_ = args.y.size(-2);
    blocks_ = args.y.size(-1) / kBlock;
    rows_per_task_ = std::max<std::int64_t>(1, kTaskElements / std::max<std::int64_t>(blocks_ * kBlock, 1));
    tasks_ = args.y.empty() ? 0 : (entries_ * rows_ + rows_per_task_ - 1) / rows_per_task_;
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(element_))},
                   {"scale_format", options_.scale_format == ScaleFormat::ue8m0 ? "ue8m0" : "f32"}};
    out.parameters = {{"entries", std::to_string(entries_)},
                      {"rows", std::to_string(rows_)},
                      {"blocks_per_row", std::to_string(blocks_)}};
    out.constants = {{"rows_per_task", std::to_string(rows_per_task_)}};
    out.launches = {{.kernel = "silu_mul_quant", .grid = {tasks_, 1, 1}}};
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (tasks_ == 0) return;
    const auto& args = call.args<SiluMulQuantArgs>();
    const BlocksFunction quantize = blocks_function()[target_];
    const bool masked = args.row_counts.defined();
    const auto row_of = [&](const Tensor& tensor, std::int64_t entry, std::int64_t row) {
      const std::int64_t offset = (masked ? entry * tensor.stride(0) : 0) + row * tensor.stride(-2);
      return static_cast<std::byte*>(tensor.data) + offset * size_of(tensor.dtype);
    };
    const std::int64_t half = blocks_ * kBlock * size_of(element_);
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int) {
      const std::int64_t end = std::min((task + 1) * rows_per_task_, entries_ * rows_);
      for (std::int64_t i = task * rows_per_task_; i < end; ++i) {
        const std::int64_t entry = i / rows_, row = i % rows_;
        if (masked && row >= *args.row_counts.at<std::int32_t>(entry)) continue;
        const std::byte* const x = row_of(args.x, entry, row);
        quantize(element_,
                 {.gate = x,
                  .factor = x + half,
                  .y = row_of(args.y, entry, row),
                  .s = reinterpret_cast<float*>(row_of(args.s, entry, row)),
                  .s_stride = args.s.stride(-1),
                  .count = blocks_},
                 options_);
      }
    });
  }

 private:
  cpu::Target target_;
  DType element_;
  SiluMulQuantOptions options_;
  std::int64_t entries_ = 1, rows_ = 0, blocks_ = 0, rows_per_task_ = 1, tasks_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<HostPlan>(blocks_function());
}

}  // namespace isomer::ops::silu_mul_quant
