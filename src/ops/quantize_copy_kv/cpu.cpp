#include "ops/quantize_copy_kv/cpu_kernel.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

#include <algorithm>
#include <limits>

namespace isomer::ops::quantize_copy_kv {
namespace {

/// Elements of one task: long enough to hide the pool, short enough to balance.
constexpr std::int64_t kTaskElements = 32768;

class QuantizeCopyKvPlan : public core::Plan {
 public:
  QuantizeCopyKvPlan(const core::Call& call, const Queue& queue, cpu::Target target) : target_(target) {
    const auto& args = call.args<QuantizeCopyKvArgs>();
    tokens_ = args.k.size(0);
    shape_ = {.k_type = args.k.dtype,
              .scale_type = args.out_scale.dtype,
              .heads = args.k.size(1),
              .channels = args.k.size(2),
              .grouped = call.options<QuantizeCopyKvOptions>().group == kGroup,
              .k_head = args.k.stride(1),
              .k_channel = args.k.stride(2),
              .out_head = args.out.stride(1),
              .out_channel = args.out.stride(2),
              .scale_head = args.out_scale.stride(1),
              .scale_group = args.out_scale.rank == 3 ? args.out_scale.stride(2) : 0};
    rows_ = args.out.size(0);
    const std::int64_t token_elements = std::max<std::int64_t>(1, shape_.heads * shape_.channels);
    tokens_per_task_ = std::max<std::int64_t>(1, kTaskElements / token_elements);
    // One thread takes the tokens in order, and so the last of several with one dest wins by itself.
    if (queue.executor().concurrency() == 1 || tokens_ > std::numeric_limits<std::int32_t>::max())
      tokens_per_task_ = std::max<std::int64_t>(1, tokens_);
    tasks_ = (tokens_ + tokens_per_task_ - 1) / tokens_per_task_;
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(shape_.k_type))},
                   {"scale_element", std::string(name_of(shape_.scale_type))},
                   {"group", std::to_string(shape_.grouped ? kGroup : 0)}};
    out.parameters = {{"tokens", std::to_string(tokens_)},
                      {"heads", std::to_string(shape_.heads)},
                      {"head_dim", std::to_string(shape_.channels)}};
    out.constants = {{"tokens_per_task", std::to_string(tokens_per_task_)}};
    out.launches = {{.kernel = "quantize_copy_kv", .grid = {tasks_, 1, 1}}};
  }

  /// For every row of out the last token that goes there. Rows that no token goes to are never looked at.
  std::size_t workspace_bytes() const override {
    return tasks_ > 1 ? static_cast<std::size_t>(rows_) * sizeof(std::int32_t) : 0;
  }

  void run(const Queue& queue, const core::Call& call, void* workspace) const override {
    const auto& args = call.args<QuantizeCopyKvArgs>();
    const TokenFunction quantize = token_function()[target_];
    const auto dest = [&](std::int64_t token) -> std::int64_t {
      return args.dest.dtype == DType::i32 ? *args.dest.at<std::int32_t>(token)
                                           : *args.dest.at<std::int64_t>(token);
    };
    auto* last = tasks_ > 1 ? static_cast<std::int32_t*>(workspace) : nullptr;
    if (last != nullptr)
      for (std::int64_t token = 0; token < tokens_; ++token)
        last[dest(token)] = static_cast<std::int32_t>(token);
    parallel_for(queue.executor(), tasks_, [&](std::int64_t task, int) {
      const std::int64_t begin = task * tokens_per_task_, end = std::min(tokens_, begin + tokens_per_task_);
      for (std::int64_t token = begin; token < end; ++token) {
        const std::int64_t row = dest(token);
        if (last != nullptr && last[row] != token) continue;
        const bool more = token + 1 < end;
        quantize(shape_, {.k = args.k.at(token),
                          .out = args.out.at(row),
                          .scale = args.out_scale.at(row),
                          .next_k = more ? args.k.at(token + 1) : nullptr,
                          .next_out = more ? args.out.at(dest(token + 1)) : nullptr,
                          .next_scale = more ? args.out_scale.at(dest(token + 1)) : nullptr});
      }
    });
  }

 private:
  cpu::Target target_;
  TokenShape shape_;
  std::int64_t tokens_ = 0, rows_ = 0, tokens_per_task_ = 1, tasks_ = 0;
};

class QuantizeCopyKvCpu : public cpu::Implementation {
 public:
  using cpu::Implementation::Implementation;
  core::PlanOrRefusal plan(const core::Call& call, const Queue& queue) const override {
    return std::make_unique<QuantizeCopyKvPlan>(call, queue, target());
  }
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<QuantizeCopyKvCpu>(token_function());
}

}  // namespace isomer::ops::quantize_copy_kv
