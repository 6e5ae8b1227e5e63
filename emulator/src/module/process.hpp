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

/// `inherited`: descriptors that stay open in the child, under the same numbers. `variables`: NAME=VALUE, in
/// place of what the environment has for these names.
Finished run_process(const std::vector<std::string>& command, double timeout_seconds,
                     std::size_t output_limit, const std::vector<int>& inherited = {},
                     const std::vector<std::string>& variables = {});

}  // namespace isomer::emulator
