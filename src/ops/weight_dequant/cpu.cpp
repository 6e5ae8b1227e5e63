#include "core/ceil_div.hpp"
#include "cpu/implementation.hpp"
#include "ops/weight_dequant/cpu_kernel.hpp"
#include "ops/weight_dequant/weight_dequant.hpp"

#include <algorithm>

namespace isomer::ops::weight_dequant {
namespace {

/// Elements of one task: long enough to hide the pool, short enough to balance.
constexpr std::int64_t kTaskElements = 32768;

class WeightDequantPlan : public core::Plan {
 public:
  WeightDequantPlan(const core::Call& call, const Queue&, cpu::Target target)
      : target_(target),
        element_(call.tensor(2).dtype),
        rows_(call.tensor(0).size(0)),
        columns_(call.tensor(0).size(1)),
        block_(call.options<WeightDequantOptions>().block_size) {
    if (call.tensor(0).empty()) return;
    // A task takes whole blocks of columns of a few rows.
    const std::int64_t blocks = std::max<std::int64_t>(1, kTaskElements / block_);
    task_columns_ = block_ >= columns_ ? columns_ : std::min(columns_, blocks * block_);
    task_rows_ = std::min(rows_, std::max<std::int64_t>(1, kTaskElements / task_columns_));
    stretches_ = core::ceil_div(columns_, task_columns_);
    tasks_ = core::ceil_div(rows_, task_rows_) * stretches_;
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(element_))}};
    out.parameters = {{"rows", std::to_string(rows_)},
                      {"columns", std::to_string(columns_)},
                      {"block_size", std::to_string(block_)}};
    out.constants = {{"task_rows", std::to_string(task_rows_)},
                     {"task_columns", std::to_string(task_columns_)}};
    out.launches = {{.kernel = "weight_dequant", .grid = {tasks_, 1, 1}}};
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    const auto& args = call.args<WeightDequantArgs>();
    const StretchFunction dequantize = stretch_function()[target_];
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int) {
      const std::int64_t first = task % stretches_ * task_columns_;
      const std::int64_t begin = task / stretches_ * task_rows_;
      const std::int64_t end = std::min(rows_, begin + task_rows_);
      for (std::int64_t row = begin; row < end; ++row)
        dequantize(element_, {.x = args.x.at<cpu::E4M3>(row, first),
                              .s = args.s.at<float>(row / block_, first / block_),
                              .y = args.y.at(row, first),
                              .count = std::min(task_columns_, columns_ - first),
                              .block_size = block_});
    });
  }

 private:
  cpu::Target target_;
  DType element_;
  std::int64_t rows_, columns_, block_;
  std::int64_t task_rows_ = 0, task_columns_ = 0, stretches_ = 0, tasks_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<WeightDequantPlan>(stretch_function());
}

}  // namespace isomer::ops::weight_dequant
