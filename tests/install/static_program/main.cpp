// C++17 and the static library.
#include <isomer/isomer.hpp>

#include <cstdio>
#include <vector>

int main() {
  const isomer::Queue queue = isomer::Queue::best();
  float x[3] = {0.0f, 0.5f, 1.0f}, y[3];
  const std::vector<std::int64_t> sizes = {3};
  isomer::SinArgs args;
  args.x = isomer::Tensor(x, isomer::DType::f32, sizes);
  args.y = isomer::Tensor(y, isomer::DType::f32, {3});
  isomer::sin(queue, args);
  queue.synchronize();
  try {
    args.y = isomer::Tensor(y, isomer::DType::f32, {2});
    isomer::sin(queue, args);
  } catch (const isomer::Error& error) {
    std::printf("C++: %s\n", error.what());
  }
  std::printf("C++: isomer %s, sin %.4f %.4f %.4f\n", isomer_version(), y[0], y[1], y[2]);
}
