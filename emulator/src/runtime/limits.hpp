// What the emulated device can hold. CUDA sources see an H100-like device, HIP sources an MI300-like one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace isomer::emulator {

struct Limits {
  std::uint32_t threads_per_block = 1024;
  std::uint32_t block[3] = {1024, 1024, 64};
  std::uint32_t grid[3] = {2147483647u, 65535u, 65535u};
  std::size_t static_shared_bytes = 48 * 1024;
  std::size_t shared_bytes = 48 * 1024;  ///< dynamic plus static, without an opt-in
  std::size_t shared_bytes_opt_in = 227 * 1024;
  std::uint32_t processors = 16;  ///< fewer than the real ones: resident threads need stacks
  std::uint32_t threads_per_processor = 2048;
  std::uint32_t registers_per_block = 65536;
};

const Limits& limits();

}  // namespace isomer::emulator
