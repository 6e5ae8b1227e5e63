#include "cpu/implementation.hpp"
#include "ops/quantize_copy_kv/cpu/kernel.hpp"
#include "ops/quantize_copy_kv/quantize_copy_kv.hpp"

#include <algorithm>
#include <bit>

namespace isomer::ops::quantize_copy_kv {
namespace {

/// Elements below which one task does all tokens.
constexpr std::int64_t kTaskElements = 32768;
/// Adjacent rows of out that have one owner: mostly adjacent tokens, so that both sides are walked in long
/// runs.
constexpr int kOwnedRowsLog2 = 4;

/// Which of 2^tasks_log2 tasks writes that row. A task takes the tokens of its rows in order, so that the
/// last of several tokens with one dest wins whatever the number of threads.
std::int64_t owner(std::int64_t row, int tasks_log2) {
  if (tasks_log2 == 0) return 0;
  const std::uint64_t mixed = static_cast<std::uint64_t>(row >> kOwnedRowsLog2) * 0x9E3779B97F4A7C15ull;
  return static_cast<std::int64_t>(mixed >> (64 - tasks_log2));
}

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
    const std::int64_t enough = args.k.numel() / kTaskElements;
    const auto threads = static_cast<std::int64_t>(queue.executor().concurrency());
    const auto tasks = static_cast<std::uint64_t>(threads == 1 ? 1 : std::min(4 * threads, enough));
    if (tasks > 1) tasks_log2_ = std::bit_width(tasks - 1);
  }

  void describe(core::Description& out) const override {
    out.variant = {{"target", std::string(cpu::name_of(target_))},
                   {"element", std::string(name_of(shape_.k_type))},
                   {"scale_element", std::string(name_of(shape_.scale_type))},
                   {"group", std::to_string(shape_.grouped ? kGroup : 0)}};
    out.parameters = {{"tokens", std::to_string(tokens_)},
                      {"heads", std::to_string(shape_.heads)},
                      {"head_dim", std::to_string(shape_.channels)}};
    out.constants = {{"owned_rows", std::to_string(1 << kOwnedRowsLog2)}};
    out.launches = {{.kernel = "quantize_copy_kv", .grid = {std::int64_t{1} << tasks_log2_, 1, 1}}};
  }

  void run(const Queue& queue, const core::Call& call, void*) const override {
    const auto& args = call.args<QuantizeCopyKvArgs>();
    const TokenFunction quantize = token_function()[target_];
    const auto dest = [&](std::int64_t token) -> std::int64_t {
      return args.dest.dtype == DType::i32 ? *args.dest.at<std::int32_t>(token)
                                           : *args.dest.at<std::int64_t>(token);
    };
    parallel_for(queue.executor(), std::int64_t{1} << tasks_log2_, [&](std::int64_t task, int) {
      for (std::int64_t token = 0; token < tokens_; ++token) {
        const std::int64_t row = dest(token);
        if (owner(row, tasks_log2_) != task) continue;
        quantize(shape_, {.k = args.k.at(token), .out = args.out.at(row), .scale = args.out_scale.at(row)});
      }
    });
  }

 private:
  cpu::Target target_;
  TokenShape shape_;
  std::int64_t tokens_ = 0;
  int tasks_log2_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<const core::Implementation>> cpu() {
  return cpu::implementations<QuantizeCopyKvPlan>(token_function());
}

}  // namespace isomer::ops::quantize_copy_kv
