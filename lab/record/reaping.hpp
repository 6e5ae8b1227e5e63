#pragma once

#include <sys/types.h>

namespace isomer::lab {

/// Called between fork and exec: stays behind as the parent of what is to be executed, in the fork that this
/// returns from, and of all that it leaves behind in groups and sessions of its own. Ends when that one ends,
/// as it ended, or on SIGTERM; nothing of it is left then.
void stay_behind_as_reaper();

/// Ends the children of the calling thread, and those of what is ended where they become this process's; all
/// but these `count` ones.
void end_all_children(const pid_t* kept = nullptr, int count = 0);

}  // namespace isomer::lab
