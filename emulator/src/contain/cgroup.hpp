// A limit of processes where the user's own is none: root's processes are not counted by rlimits.
#pragma once

#include <sys/types.h>

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
  bool limits() const { return !folder_.empty(); }

 private:
  std::string folder_;
};

/// Processes and threads of `process` and of all below it, as far as the kernel lists them; no more than one
/// above `most` are counted.
int tasks_of(pid_t process, int most);

/// Groups of processes that have ended, which a kill left behind, are removed.
void remove_empty_groups();

}  // namespace isomer::emulator
