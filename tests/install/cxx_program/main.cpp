#include <isomer/isomer.hpp>

#include <cstdio>

int main() {
  const isomer::Queue queue = isomer::Queue::best();
  float x[3] = {0.0f, 0.5f, 1.0f}, y[3];
  const isomer::Tensor from(x, isomer::DType::f32, {3}), to(y, isomer::DType::f32, {3});
  isomer::sin(queue, {.x = from, .y = to});
  queue.synchronize();
  try {
    isomer::sin(queue, {.x = from, .y = isomer::Tensor(y, isomer::DType::f32, {2})});
  } catch (const isomer::Error& error) {
    std::printf("C++: %s\n", error.what());
  }
  std::printf("C++: isomer %s, sin %.4f %.4f %.4f\n", isomer_version(), y[0], y[1], y[2]);
}
