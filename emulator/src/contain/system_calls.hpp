// Calls of the kernel that neither a compiler nor a kernel's code needs.
#pragma once

namespace isomer::emulator {

/// Whether this build and this kernel can refuse them.
bool can_refuse_system_calls();
/// From now on they fail with EPERM in this process and its children: looking into other processes, sockets
/// other than a pair's, namespaces, mounts, io_uring, what an administrator needs. False where that cannot be
/// had here although this build has libseccomp.
bool refuse_system_calls();

}  // namespace isomer::emulator
