// Running another program: its output captured, its time bounded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace isomer::emulator {

struct Finished {
  bool started = false;
  bool timed_out = false;
  int status = 0;                ///< as waitpid gives it
  std::uint64_t peak_bytes = 0;  ///< the memory of its largest process
  std::string output;            ///< stdout and stderr together, at most the limit
};

/// `inherited`: descriptors that stay open in the child, under the same numbers.
Finished run_process(const std::vector<std::string>& command, double timeout_seconds,
                     std::size_t output_limit, const std::vector<int>& inherited = {});

}  // namespace isomer::emulator
