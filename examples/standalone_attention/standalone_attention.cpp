// Attention with no PyTorch, and what would run for it: which instantiation, with which parameters.
// usage: standalone_attention [batch seqlen heads heads_kv head_dim causal]
#include <isomer/attention.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

/// f16 numbers of either sign in [0.5, 1): a random mantissa under the exponent of 0.5.
std::vector<std::uint16_t> random_f16(std::int64_t count, std::uint32_t seed) {
  std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
  for (std::uint16_t& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<std::uint16_t>((seed >> 16 & 0x8000u) | 0x3800u | (seed >> 8 & 0x3FFu));
  }
  return values;
}

void print(const char* title, const isomer::Named& values) {
  std::printf("========== %s ==========\n", title);
  int column = 0;
  for (const auto& [name, value] : values) {
    column += std::printf(" %s=%s", name.c_str(), value.c_str());
    if (column > 80) column = 0, std::printf("\n");
  }
  if (column > 0) std::printf("\n");
}

}  // namespace

int main(int count, char** words) try {
  const auto option = [&](int i, std::int64_t fallback) {
    return i < count ? std::atoll(words[i]) : fallback;
  };
  const std::int64_t batch = option(1, 1), length = option(2, 1285), heads = option(3, 16);
  const std::int64_t heads_kv = option(4, 2), dim = option(5, 128);
  const std::vector<std::uint16_t> q = random_f16(batch * length * heads * dim, 1);
  const std::vector<std::uint16_t> k = random_f16(batch * length * heads_kv * dim, 2),
                                   v = random_f16(k.size(), 3);
  std::vector<std::uint16_t> out(q.size());

  using isomer::DType, isomer::Tensor;
  const isomer::Queue queue = isomer::Queue::best();
  const isomer::AttentionArgs args = {.q = Tensor(q.data(), DType::f16, {batch, length, heads, dim}),
                                      .k = Tensor(k.data(), DType::f16, {batch, length, heads_kv, dim}),
                                      .v = Tensor(v.data(), DType::f16, {batch, length, heads_kv, dim}),
                                      .out = Tensor(out.data(), DType::f16, {batch, length, heads, dim})};
  const isomer::AttentionOptions options = {.causal = option(6, 1) != 0};

  const isomer::Explanation plan = isomer::explain(queue, args, options);
  for (const auto& [implementation, reason] : plan.refusals)
    std::printf("not %s: %s\n", implementation.c_str(), reason.c_str());
  std::printf("%s runs on %s\n", plan.op.c_str(), plan.implementation.c_str());
  print("KERNEL INSTANTIATION", plan.description.variant);
  print("RUNTIME PARAMS", plan.description.parameters);
  print("COMPUTED", plan.description.constants);
  for (const isomer::Launch& launch : plan.description.launches)
    std::printf(" %s: grid %lld %lld %lld, block %lld, shared %lld bytes\n", launch.kernel.c_str(),
                static_cast<long long>(launch.grid[0]), static_cast<long long>(launch.grid[1]),
                static_cast<long long>(launch.grid[2]), static_cast<long long>(launch.block[0]),
                static_cast<long long>(launch.shared_bytes));

  const auto begin = std::chrono::steady_clock::now();
  isomer::attention(queue, args, options);
  queue.synchronize();
  std::printf("ran in %.1f ms\n",
              std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count());
} catch (const isomer::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
