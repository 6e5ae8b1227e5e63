#pragma once

namespace isomer::cpu {

/// Threads of the standard pool: OMP_NUM_THREADS where it holds a positive integer (its first, of a list),
/// otherwise the CPUs of the process's affinity mask, at most the cgroup's CPU quota rounded up; at least 1.
int thread_count();

}  // namespace isomer::cpu
