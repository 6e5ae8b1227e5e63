#include "core/ceil_div.hpp"
#include "cpu/implementation.hpp"
#include "ops/weight_quant/cpu_kernel.hpp"
#include "ops/weight_quant/weight_quant.hpp"

#include <algorithm>

namespace isomer::ops::weight_quant {
namespace {

/// Elements of one task: long enough to hide the pool, short enough to balance.
constexpr std::int64_t kTaskElements = 32768;

class WeightQuantPlan : public core::Plan {
 public:
  WeightQuantPlan(const core::Call& call, const Queue&, cpu::Target target)
      : target_(target),
        element_(call.tensor(0).dtype),
        options_(call.options<WeightQuantOptions>()),
        rows_(call.tensor(0).size(0)),
        columns_(call.tensor(0).size(1)),
        block_(std::min(options_.block_size, std::max(rows_, columns_))) {
    if (call.tensor(0).empty()) return;
    across_ = core::ceil_div(columns_, block_);
    blocks_ = core::ceil_div(rows_, block_) * across_;
    const std::int64_t elements = std::min(block_, rows_) * std::min(block_, columns_);
    per_task_ = std::max<std::int64_t>(1, kTaskElements / elements);
    tasks_ = core::ceil_div(blocks_, per_task_);
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(element_))},
                   {"scale_format", options_.scale_format == ScaleFormat::ue8m0 ? "ue8m0" : "f32"}};
    out.parameters = {{"rows", std::to_string(rows_)},
                      {"columns", std::to_string(columns_)},
                      {"block_size", std::to_string(options_.block_size)}};
    out.constants = {{"blocks_per_task", std::to_string(per_task_)}};
    out.launches = {{.kernel = "weight_quant", .grid = {tasks_, 1, 1}}};
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    const auto& args = call.args<WeightQuantArgs>();
    const BlockFunction quantize = block_function()[target_];
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int) {
      const std::int64_t end = std::min(blocks_, (task + 1) * per_task_);
      for (std::int64_t block = task * per_task_; block < end; ++block) {
        const std::int64_t i = block / across_, j = block % across_;
        quantize(element_,
                 {.x = args.x.at(i * block_, j * block_),
                  .y = args.y.at<cpu::E4M3>(i * block_, j * block_),
                  .s = args.s.at<float>(i, j),
                  .rows = std::min(block_, rows_ - i * block_),
                  .columns = std::min(block_, columns_ - j * block_),
                  .x_row = args.x.stride(0),
                  .y_row = args.y.stride(0)},
                 options_);
      }
    });
  }

 private:
  cpu::Target target_;
  DType element_;
  WeightQuantOptions options_;
  std::int64_t rows_, columns_, block_;  ///< block: no longer than the matrix
  std::int64_t across_ = 1, blocks_ = 0, per_task_ = 1, tasks_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<WeightQuantPlan>(block_function());
}

}  // namespace isomer::ops::weight_quant
