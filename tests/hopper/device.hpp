#pragma once

#include "isomer/emulator/module.hpp"
#include "isomer/emulator/tensor_map.hpp"

#include "kernels/parameters.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace isomer::emulator::tests {

inline std::string path_of(const std::string& file) {
  return std::string(ISOMER_HOPPER_KERNELS) + "/" + file;
}

/// A file of kernels, compiled once in a process.
inline const Module& module_of(const std::string& file, bool watch = true) {
  static std::map<std::pair<std::string, bool>, Module> built;
  const auto key = std::pair(file, watch);
  if (const auto it = built.find(key); it != built.end()) return it->second;
  return built
      .emplace(key, Module::build({.sources = {path_of(file)},
                                   .watch = watch,
                                   .include_directories = {ISOMER_SOURCES, ISOMER_HOPPER_KERNELS},
                                   .definitions = {"ISOMER_EMULATED", "ISOMER_LANES=32"}}))
      .first->second;
}

/// Memory of the emulated device.
template <class T>
class Memory {
 public:
  explicit Memory(std::size_t count, T value = {}) : count_(count) {
    data_ = static_cast<T*>(device_allocate(count * sizeof(T)));
    for (std::size_t i = 0; i < count; ++i) data_[i] = value;
  }
  ~Memory() { device_free(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  T* data() { return data_; }
  std::size_t size() const { return count_; }
  T& operator[](std::size_t i) { return data_[i]; }

 private:
  T* data_;
  std::size_t count_;
};

inline device::TensorMap map_of(const TensorMapDescription& description) {
  device::TensorMap map;
  EXPECT_EQ(encode_tensor_map(description, &map), "");
  return map;
}

/// Rows of adjacent elements; boxes of `columns` by `rows`.
template <class T>
device::TensorMap map_of(Memory<T>& memory, std::uint64_t columns, std::uint64_t rows,
                         std::uint32_t box_columns, std::uint32_t box_rows, int swizzle_bytes) {
  return map_of({.data = memory.data(),
                 .element_bytes = sizeof(T),
                 .rank = 2,
                 .size = {columns, rows},
                 .stride_bytes = {sizeof(T), columns * sizeof(T)},
                 .box = {box_columns, box_rows},
                 .swizzle_bytes = swizzle_bytes});
}

inline RunResult run(const Module& module, const std::string& kernel, const device::HopperParameters& p,
                     unsigned threads, unsigned shared_bytes, std::uint64_t seed = 0,
                     Index3 grid = {1, 1, 1}) {
  return module.launch_here(kernel, {grid, {threads, 1, 1}, shared_bytes}, {Argument::value(p)},
                            {.seed = seed});
}

}  // namespace isomer::emulator::tests
