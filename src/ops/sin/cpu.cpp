#include "core/ceil_div.hpp"
#include "cpu/implementation.hpp"
#include "cpu/rows.hpp"
#include "ops/sin/cpu_kernel.hpp"
#include "ops/sin/sin.hpp"

#include <algorithm>

namespace isomer::ops::sin {
namespace {

/// Elements that one task computes: long enough to hide the pool, short enough to balance.
constexpr std::int64_t kChunk = 32768;

class SinPlan : public core::Plan {
 public:
  SinPlan(const core::Call& call, const Queue&, cpu::Target target)
      : target_(target), dtype_(call.tensor(0).dtype), elements_(call.tensor(0).numel()) {
    const Tensor* views[] = {&call.tensor(1), &call.tensor(0)};
    const cpu::Rows rows(views);
    chunks_per_row_ = std::max<std::int64_t>(1, core::ceil_div(rows.length(), kChunk));
    rows_per_task_ = std::max<std::int64_t>(1, kChunk / std::max<std::int64_t>(1, rows.length()));
    tasks_ = core::ceil_div(rows.count(), rows_per_task_) * chunks_per_row_;
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))}, {"element", std::string(name_of(dtype_))}};
    out.parameters = {{"elements", std::to_string(elements_)}};
    out.constants = {{"chunk", std::to_string(kChunk)}};
    out.launches = {{.kernel = "sin", .grid = {tasks_, 1, 1}}};
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    const auto& args = call.args<SinArgs>();
    const Tensor* views[] = {&args.y, &args.x};
    const cpu::Rows rows(views);
    const RowFunction row = row_function()[target_];
    const std::int64_t element = size_of(dtype_);
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int) {
      const std::int64_t first = task / chunks_per_row_ * rows_per_task_;
      const std::int64_t begin = task % chunks_per_row_ * kChunk;
      const std::int64_t count =
          std::min(chunks_per_row_ > 1 ? kChunk : rows.length(), rows.length() - begin);
      for (std::int64_t r = first; r < std::min(first + rows_per_task_, rows.count()); ++r)
        row(dtype_, rows.row(1, r) + begin * rows.stride(1) * element, rows.stride(1),
            rows.row(0, r) + begin * rows.stride(0) * element, rows.stride(0), count);
    });
  }

 private:
  cpu::Target target_;
  DType dtype_;
  std::int64_t elements_ = 0, chunks_per_row_ = 1, rows_per_task_ = 1, tasks_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<SinPlan>(row_function());
}

}  // namespace isomer::ops::sin
