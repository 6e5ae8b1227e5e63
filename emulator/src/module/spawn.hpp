// Starting another program that cannot outlive the thread that started it.
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

namespace isomer::emulator {

struct Spawn {
  std::vector<std::string> words;  ///< the program, looked up in PATH, and its arguments
  std::vector<std::pair<int, int>>
      descriptors;  ///< which descriptor stands where in the child; stdin is /dev/null
  std::vector<std::string> variables = {};  ///< NAME=VALUE, in place of what the environment has
};

/// The process, which leads a group of its own, or -1 where it cannot be started. The kernel ends it when the
/// calling thread ends, from before the program's first instruction: a program that asks for this itself, as
/// bubblewrap does, is left behind where its parent is killed before it has asked.
pid_t spawn(const Spawn& what);

}  // namespace isomer::emulator
