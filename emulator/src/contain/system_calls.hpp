// Calls of the kernel that neither a compiler nor a kernel's code needs.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace isomer::emulator {

/// Whether this build and this kernel can refuse them.
bool can_refuse_system_calls();
/// From now on they fail with EPERM in this process and its children: looking into other processes, sockets
/// other than a pair's, namespaces, mounts, io_uring, what an administrator needs. False where that cannot be
/// had here although this build has libseccomp.
bool refuse_system_calls();

/// From now on this process and its children start no process but by fork_with(word); threads they may start.
/// False where that cannot be had here.
bool refuse_new_processes(std::uint64_t word);
/// From now on this process signals itself alone, and does nothing else to others: they may be anybody of
/// this user's where processes have no namespace. False where that cannot be had here.
bool refuse_signals_to_others();
/// From now on no signal goes to everybody at once (kill of -1).
bool refuse_signals_to_all();
/// As fork, but nothing of what is done at a fork is done: for a process with one thread.
pid_t fork_with(std::uint64_t word);

}  // namespace isomer::emulator
