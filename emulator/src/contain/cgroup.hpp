// A limit of processes where the user's own is none: root's processes are not counted by rlimits.
#pragma once

#include <string>
#include <vector>

namespace isomer::emulator {

/// A cgroup for a process and all that it starts; where none can be made, nothing is done.
class Cgroup {
 public:
  Cgroup() = default;
  explicit Cgroup(int processes);
  ~Cgroup();
  Cgroup(Cgroup&& other) noexcept;
  Cgroup& operator=(Cgroup&& other) noexcept;
  /// `command`, which joins the group before it starts anything.
  std::vector<std::string> in_group(std::vector<std::string> command) const;

 private:
  std::string folder_;
};

}  // namespace isomer::emulator
