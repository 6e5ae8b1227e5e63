// What the user's code may not do to its process, and what means something else on a device, by the linker's
// order: a program's own definitions come before those of the C library for every library loaded into it.
// Everybody else is served as ever.
#include <dlfcn.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <typeinfo>

#include "child/runner.hpp"
#include "child/session_child.hpp"
#include "isomer_emulator/abi.h"

namespace {

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

void no_process(const char* what) {
  if (isomer_emulator_in_user_code()) isomer_emulator_user_spawns(what);
}

[[noreturn]] void leave(int status, const char* how) {
  if (isomer_emulator_in_user_code()) isomer_emulator_user_exits(status);
  if (isomer_emulator_in_program()) isomer_emulator_program_exits(status);
  next<void (*)(int)>(how)(status);
  __builtin_unreachable();
}

}  // namespace

#define INTERPOSED __attribute__((visibility("default")))

extern "C" {

/// On a device it is the device's counter, not the process's time.
INTERPOSED clock_t clock() {
  if (isomer_emulator_on_device()) return static_cast<clock_t>(isomer_emulator_clock());
  static const auto real = next<clock_t (*)()>("clock");
  return real();
}
INTERPOSED pid_t fork() {
  no_process("fork");
  static const auto real = next<pid_t (*)()>("fork");
  return real();
}
// A copy that shares the parent's frame cannot be wrapped; a full one serves.
INTERPOSED pid_t vfork() {
  no_process("vfork");
  return fork();
}
INTERPOSED int system(const char* command) {
  no_process("system");
  return next<int (*)(const char*)>("system")(command);
}
INTERPOSED FILE* popen(const char* command, const char* mode) {
  no_process("popen");
  return next<FILE* (*)(const char*, const char*)>("popen")(command, mode);
}
INTERPOSED int posix_spawn(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                           const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  no_process("posix_spawn");
  return next<decltype(&::posix_spawn)>("posix_spawn")(pid, path, actions, attributes, argv, envp);
}
INTERPOSED int posix_spawnp(pid_t* pid, const char* path, const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, char* const argv[], char* const envp[]) {
  no_process("posix_spawnp");
  return next<decltype(&::posix_spawnp)>("posix_spawnp")(pid, path, actions, attributes, argv, envp);
}
INTERPOSED int execve(const char* path, char* const argv[], char* const envp[]) {
  no_process("execve");
  return next<decltype(&::execve)>("execve")(path, argv, envp);
}

INTERPOSED void exit(int status) noexcept { leave(status, "exit"); }
INTERPOSED void _exit(int status) { leave(status, "_exit"); }
INTERPOSED void _Exit(int status) noexcept { leave(status, "_Exit"); }
INTERPOSED void quick_exit(int status) noexcept { leave(status, "quick_exit"); }

[[noreturn]] INTERPOSED void __cxa_throw(void* object, std::type_info* type, void (*destroy)(void*)) {
  if (isomer_emulator_in_user_code()) isomer_emulator_user_throws();
  static const auto real = next<void (*)(void*, std::type_info*, void (*)(void*))>("__cxa_throw");
  real(object, type, destroy);
  __builtin_unreachable();
}
}
