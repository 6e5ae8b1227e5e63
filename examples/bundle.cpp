// Tensors of any program in a file that the lab, Python and this library read: strides and all.
#include <isomer/bundle.hpp>

#include <cstdio>
#include <vector>

int main() {
  std::vector<float> memory(64);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
  const isomer::Tensor x = isomer::Tensor::strided(memory.data(), isomer::DType::f32, {3, 4}, {16, 2});
  isomer::save("example.safetensors", {{"x", x}}, {{"op", "sin"}});

  const isomer::Bundle bundle = isomer::load("example.safetensors");
  std::printf("%s, last element %g, op %s\n", bundle["x"].describe().c_str(), *bundle["x"].at<float>(2, 3),
              bundle.metadata().at("op").c_str());
  std::remove("example.safetensors");
}
