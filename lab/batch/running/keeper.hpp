#pragma once

#include <sys/types.h>

namespace isomer::lab {

/// A process that stands beside the one that owns a batch, and ends with SIGKILL what the owner's death has
/// left behind: bubblewrap asks the kernel to end a room with its parent only when the room is half made, and
/// one whose parent is killed before that waits for ever. What is started after the keeper has its mark in
/// the environment, and is found by that. Where the owner ends in order, the keeper has nothing to do.
class Keeper {
 public:
  Keeper();
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;
  pid_t process() const { return process_; }  ///< -1 where none could be started

 private:
  pid_t process_ = -1;
};

}  // namespace isomer::lab
