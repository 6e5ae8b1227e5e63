#pragma once

#include <sys/types.h>

namespace isomer::lab {

/// Called between fork and exec: stays behind as the parent of what is to be executed, in the fork that this
/// returns from, and of all that it leaves behind in groups and sessions of its own. Ends when that one ends,
/// as it ended, or on SIGTERM; nothing of it is left then.
void stay_behind_as_reaper();

}  // namespace isomer::lab
