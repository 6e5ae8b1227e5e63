#pragma once

#include "lab/binary/binary.hpp"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace isomer::lab {

/// Made by tools/make_trace_fixtures.
inline std::string fixture(const std::string& name) {
  return std::string(ISOMER_TEST_DATA) + "/trace/fixtures/" + name;
}

inline std::vector<std::uint8_t> fixture_bytes(const std::string& name) {
  std::ifstream file(fixture(name), std::ios::binary);
  if (!file) throw std::runtime_error("no fixture " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::vector<BinaryKernel> kernels_of(const std::string& name) { return read_binary(fixture(name)); }

/// The kernel of one family and architecture. Throws where there is none.
inline const BinaryKernel& kernel_of(const std::vector<BinaryKernel>& kernels, const std::string& family,
                                     const std::string& arch) {
  for (const BinaryKernel& kernel : kernels)
    if (kernel.parsed->family == family && kernel.arch == arch) return kernel;
  throw std::runtime_error("no kernel " + family + " for " + arch);
}

}  // namespace isomer::lab
