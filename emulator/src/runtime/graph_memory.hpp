// Memory that nodes of graphs ask for: it has its address as soon as the node is made, and is there from the
// node that asks for it to the node, or to the program's own call, that frees it.
#pragma once

#include "memory/memory.hpp"

namespace isomer::emulator::graph_memory {

/// Whether a graph asked for it.
bool owns(const void* pointer);
/// While one lives, memory that is asked for again is freed first.
class FreesAtLaunch {
 public:
  explicit FreesAtLaunch(bool frees);
  ~FreesAtLaunch();
  FreesAtLaunch(const FreesAtLaunch&) = delete;
  FreesAtLaunch& operator=(const FreesAtLaunch&) = delete;

 private:
  bool before_;
};

}  // namespace isomer::emulator::graph_memory
