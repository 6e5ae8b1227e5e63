// The kernels of tests/kernels, each with what the documentation says that it computes.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace isomer::emulator::tests {

struct Row {
  const char* file;
  const char* kernel;
  unsigned blocks, threads;
  std::uint64_t (*expected)(unsigned t, unsigned lanes,
                            unsigned threads);  ///< of thread t, over the whole grid
  unsigned results = 0;                         ///< how many numbers; 0: one for each thread
  bool cooperative = false;
  bool zeroed = false;           ///< the results begin as zero instead of poison
  bool deliberate_race = false;  ///< reads or writes what others do, without a barrier, by design
  unsigned shared_bytes = 0;
};

inline void PrintTo(const Row& row, std::ostream* out) { *out << row.kernel; }

const std::vector<Row>& kernel_table();

}  // namespace isomer::emulator::tests
