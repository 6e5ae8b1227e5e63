#pragma once

namespace isomer::cpu {

/// Threads of the standard pool: OMP_NUM_THREADS where it is set, otherwise the CPUs of the process's
/// affinity mask, at most the cgroup's CPU quota rounded up; at least 1. OMP_NUM_THREADS holds what OpenMP's
/// own runtimes take, positive numbers separated by commas, of which the first counts; throws Error
/// bad_argument for anything else, which they warn of and ignore.
int thread_count();

}  // namespace isomer::cpu
