// The smallest op, on a view with a stride: the sine of every second element.
#include <isomer/sin.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> x = {0.0f, -1.0f, 0.5f, -1.0f, 1.0f, -1.0f, 1.5f, -1.0f}, y(4);
  const isomer::Queue queue = isomer::Queue::cpu();
  isomer::sin(queue, {.x = isomer::Tensor::strided(x.data(), isomer::DType::f32, {4}, {2}),
                      .y = isomer::Tensor(y.data(), isomer::DType::f32, {4})});
  queue.synchronize();
  for (const float value : y) std::printf("%.6f\n", value);
}
