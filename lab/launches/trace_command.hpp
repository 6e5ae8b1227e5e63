#pragma once

#include "lab/capture/joiner.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// How a traced program ended, and what was recorded of it.
struct Traced {
  int exit_status = 0;  ///< where it ended by itself
  int signal = 0;       ///< that ended it; 0: none
  Capture about;        ///< everything but the launches; incomplete where a process of it was cut off
  std::uint64_t launches = 0;
  int processes = 0;                 ///< that launched something or could have
  std::vector<std::string> missing;  ///< sentences: what could not be captured
};

/// Runs a command with its input and output as they are, every process of it recorded: CUDA's launches and
/// HIP's through the injected libraries, Isomer's own by the library itself. Then gives all launches on, each
/// process's in its order and the processes' by their times. `by_driver_calls` records CUDA's launches by the
/// driver's calls instead, for where another profiler holds CUPTI: without times, machine code and kernels of
/// graphs. Parts are kept in `folder` (a temporary one where empty) meanwhile and removed. Throws Error
/// bad_argument where the program cannot be started, io where there is no room for the parts, unsupported
/// where the driver's calls cannot be recorded.
Traced trace_command(const std::vector<std::string>& command, const std::string& folder,
                     const LaunchSink& sink, bool by_driver_calls = false);

}  // namespace isomer::lab
