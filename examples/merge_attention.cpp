// Attention over two halves of the keys, merged: what ring or cascaded attention does.
#include <isomer/attention.hpp>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  constexpr std::int64_t length = 64, heads = 2, dim = 16;
  std::vector<float> q(length * heads * dim), k(q.size()), v(q.size());
  for (std::size_t i = 0; i < q.size(); ++i) {
    q[i] = std::sin(0.37f * static_cast<float>(i));
    k[i] = std::cos(0.61f * static_cast<float>(i));
    v[i] = std::sin(0.11f * static_cast<float>(i));
  }
  using isomer::DType, isomer::Tensor;
  const isomer::Queue queue = isomer::Queue::cpu();
  const auto tensor = [&](std::vector<float>& memory) {
    return Tensor(memory.data(), DType::f32, {1, length, heads, dim});
  };
  struct Part {
    std::vector<float> out = std::vector<float>(length * heads * dim),
                       lse = std::vector<float>(length * heads);
    // lse of attention is [B, H, S]; merge_attention reads [..., H].
    Tensor denominators() { return Tensor(lse.data(), DType::f32, {1, heads, length}); }
  };
  const auto attend = [&](std::int64_t begin, std::int64_t end, Part& part) {
    isomer::attention(queue, {.q = tensor(q),
                              .k = tensor(k).slice(1, begin, end),
                              .v = tensor(v).slice(1, begin, end),
                              .out = tensor(part.out),
                              .lse = part.denominators()});
  };
  Part all, first, second;
  attend(0, length, all);
  attend(0, length / 2, first);
  attend(length / 2, length, second);
  isomer::merge_attention(queue, {.out_a = tensor(first.out),
                                  .lse_a = first.denominators().transpose(1, 2),
                                  .out_b = tensor(second.out),
                                  .lse_b = second.denominators().transpose(1, 2),
                                  .out = tensor(first.out)});
  queue.synchronize();
  float worst = 0;
  for (std::size_t i = 0; i < q.size(); ++i) worst = std::max(worst, std::fabs(all.out[i] - first.out[i]));
  std::printf("the halves merged %s attention over all keys\n", worst < 1e-5f ? "equal" : "DIFFER FROM");
}
