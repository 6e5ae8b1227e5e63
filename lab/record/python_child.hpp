#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// How a child ended, and the end of what it wrote to stdout and stderr together.
struct ChildEnd {
  bool started = false;  ///< false: no such program
  bool timed_out = false;
  int exit_status = 0;
  int signal = 0;
  std::string output;
};

/// Runs a program with no input, in a process group of its own that is ended with it, and waits.
ChildEnd run_child(const std::vector<std::string>& words, double timeout_seconds);

}  // namespace isomer::lab
