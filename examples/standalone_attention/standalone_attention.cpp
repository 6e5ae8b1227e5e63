// Attention with no PyTorch, and what would run for it: which instantiation, with which parameters.
// usage: standalone_attention [batch seqlen heads heads_kv head_dim causal]
#include <isomer/attention.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

/// f16 numbers of either sign in [0.5, 1): a random mantissa under the exponent of 0.5.
static std::vector<std::uint16_t> random_f16(std::int64_t count, std::uint32_t seed) {
  std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
  for (std::uint16_t& value : values) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<std::uint16_t>((seed >> 16 & 0x8000u) | 0x3800u | (seed >> 8 & 0x3FFu));
  }
  return values;
}

static void print(const char* title, const isomer::Named& values) {
  std::printf("========== %s ==========", title);
  for (int column = 81; const auto& [name, value] : values) {
    if (column > 80) column = 0, std::printf("\n");
    column += std::printf(" %s=%s", name.c_str(), value.c_str());
  }
  std::printf("\n");
}

int main(int count, char** words) try {
  const auto option = [&](int i, long long other) { return i < count ? std::atoll(words[i]) : other; };
  const std::int64_t batch = option(1, 1), length = option(2, 1285), heads = option(3, 16);
  const std::int64_t heads_kv = option(4, 2), dim = option(5, 128);
  const auto q = random_f16(batch * length * heads * dim, 1);
  const auto k = random_f16(batch * length * heads_kv * dim, 2), v = random_f16(std::ssize(k), 3);
  std::vector<std::uint16_t> out(q.size());

  using isomer::DType, isomer::Tensor;
  const auto queue = isomer::Queue::cpu();
  const isomer::AttentionArgs args = {.q = Tensor(q.data(), DType::f16, {batch, length, heads, dim}),
                                      .k = Tensor(k.data(), DType::f16, {batch, length, heads_kv, dim}),
                                      .v = Tensor(v.data(), DType::f16, {batch, length, heads_kv, dim}),
                                      .out = Tensor(out.data(), DType::f16, {batch, length, heads, dim})};
  const isomer::AttentionOptions options = {.causal = option(6, 1) != 0};

  const isomer::Explanation plan = isomer::explain(queue, args, options);
  for (const auto& [name, reason] : plan.refusals) std::printf("not %s: %s\n", name.c_str(), reason.c_str());
  std::printf("%s runs on %s\n", plan.op.c_str(), plan.implementation.c_str());
  print("KERNEL INSTANTIATION", plan.description.variant);
  print("RUNTIME PARAMS", plan.description.parameters);
  print("COMPUTED", plan.description.constants);
  for (const auto& [kernel, grid, block, cluster, shared, binary] : plan.description.launches)
    std::printf(" %s: grid %jd %jd %jd, block %jd, shared %jd bytes\n", kernel.c_str(),
                std::intmax_t{grid[0]}, std::intmax_t{grid[1]}, std::intmax_t{grid[2]},
                std::intmax_t{block[0]}, std::intmax_t{shared});

  const auto begin = std::chrono::steady_clock::now();
  isomer::attention(queue, args, options);
  queue.synchronize();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("ran in %.1f ms\n", took.count());
} catch (const isomer::Error& error) {
  return std::fprintf(stderr, "%s\n", error.what()), 1;
}
