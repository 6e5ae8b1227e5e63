#pragma once

#include "lab/binary/binary.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace isomer::lab {

/// The code object for gfx90a in the object file amd.o, which hipcc has made of amd.hip.cpp: its offload
/// bundle begins with a magic text, a number of entries, and for each its offset, size and target's length
/// and text.
inline std::vector<std::uint8_t> shift_code_object() {
  std::ifstream file(ISOMER_TEST_DATA "/trace/fixtures/amd.o", std::ios::binary);
  const std::string all((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string magic = "__CLANG_OFFLOAD_BUNDLE__";
  const std::size_t begin = all.find(magic);
  if (begin == std::string::npos) throw std::runtime_error("amd.o has no offload bundle");
  const auto number = [&](std::size_t at) {
    std::uint64_t value = 0;
    std::memcpy(&value, all.data() + begin + at, sizeof value);
    return value;
  };
  std::size_t at = magic.size() + 8;
  for (std::uint64_t i = 0; i < number(magic.size()); ++i) {
    const std::string target = all.substr(begin + at + 24, number(at + 16));
    if (target.find("gfx90a") != std::string::npos) {
      const auto* object = reinterpret_cast<const std::uint8_t*>(all.data()) + begin + number(at);
      return {object, object + number(at + 8)};
    }
    at += 24 + target.size();
  }
  throw std::runtime_error("amd.o has no code object for gfx90a");
}

/// What isomer kernels tells of its one kernel.
inline BinaryKernel shift_kernel() { return read_binary(ISOMER_TEST_DATA "/trace/fixtures/amd.o").at(0); }

}  // namespace isomer::lab
