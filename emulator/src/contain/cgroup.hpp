// A limit of processes where the user's own is none: root's processes are not counted by rlimits.
#pragma once

#include <sys/types.h>

#include <string>

namespace isomer::emulator {

/// A cgroup for a process and all that it starts; where none can be made, nothing is done.
class Cgroup {
 public:
  Cgroup() = default;
  Cgroup(pid_t process, int processes);
  ~Cgroup();
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;

 private:
  std::string folder_;
};

}  // namespace isomer::emulator
