#include "core/ceil_div.hpp"
#include "cpu/implementation.hpp"
#include "cpu/rows.hpp"
#include "ops/act_quant/act_quant.hpp"
#include "ops/act_quant/cpu/kernel.hpp"

#include <algorithm>

namespace isomer::ops::act_quant {
namespace {

/// Elements of one task: long enough to hide the pool, short enough to balance.
constexpr std::int64_t kTaskElements = 32768;

class ActQuantPlan : public core::Plan {
 public:
  ActQuantPlan(const core::Call& call, const Queue&, cpu::Target target)
      : target_(target), element_(call.tensor(0).dtype), options_(call.options<ActQuantOptions>()) {
    const Tensor& x = call.tensor(0);
    row_blocks_ = x.size(-1) / options_.block_size;
    blocks_ = x.numel() / options_.block_size;
    blocks_per_task_ = kTaskElements / options_.block_size;
    tasks_ = core::ceil_div(blocks_, blocks_per_task_);
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(element_))},
                   {"scale_format", options_.scale_format == ScaleFormat::ue8m0 ? "ue8m0" : "f32"}};
    out.parameters = {{"rows", std::to_string(row_blocks_ > 0 ? blocks_ / row_blocks_ : 0)},
                      {"blocks_per_row", std::to_string(row_blocks_)},
                      {"block_size", std::to_string(options_.block_size)}};
    out.constants = {{"blocks_per_task", std::to_string(blocks_per_task_)}};
    out.launches = {{.kernel = "act_quant", .grid = {tasks_, 1, 1}}};
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    if (blocks_ == 0) return;
    const auto& args = call.args<ActQuantArgs>();
    const int last = args.x.rank - 1;
    const Tensor starts[] = {args.y.select(last, 0), args.x.select(last, 0), args.s.select(last, 0)};
    const Tensor* views[] = {&starts[0], &starts[1], &starts[2]};
    const cpu::Rows rows(views);
    const BlocksFunction quantize = blocks_function()[target_];
    const std::int64_t s_stride = args.s.stride(-1);
    const auto at = [&](int view, std::int64_t row, std::int64_t element) {
      const std::int64_t offset = row % rows.length() * rows.stride(view) + element;
      return rows.row(view, row / rows.length()) + offset * size_of(starts[view].dtype);
    };
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int) {
      std::int64_t block = task * blocks_per_task_;
      const std::int64_t end = std::min(blocks_, block + blocks_per_task_);
      while (block < end) {
        const std::int64_t row = block / row_blocks_, first = block % row_blocks_;
        const std::int64_t count = std::min(row_blocks_ - first, end - block);
        quantize(element_,
                 {.x = at(1, row, first * options_.block_size),
                  .y = at(0, row, first * options_.block_size),
                  .s = reinterpret_cast<float*>(at(2, row, first * s_stride)),
                  .s_stride = s_stride,
                  .count = count},
                 options_);
        block += count;
      }
    });
  }

 private:
  cpu::Target target_;
  DType element_;
  ActQuantOptions options_;
  std::int64_t row_blocks_ = 0, blocks_ = 0, blocks_per_task_ = 1, tasks_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<ActQuantPlan>(blocks_function());
}

}  // namespace isomer::ops::act_quant
