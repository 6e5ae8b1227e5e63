// Static variables of functions, which the first thread that comes by initialises: of the first block, where blocks run
// side by side. Nobody leaves in the midst of it, since all others would wait for ever.
#include <cxxabi.h>

#include "execution/block.hpp"

#define EXPORT __attribute__((visibility("default")))

using namespace isomer::emulator;

extern "C" {

EXPORT int __wrap___cxa_guard_acquire(abi::__guard* guard) {
  Thread* const thread = current_thread();
  if (thread != nullptr) thread->block->await_turn();
  const int first = abi::__cxa_guard_acquire(guard);
  if (thread != nullptr && first != 0) thread->initialises = true;
  return first;
}
EXPORT void __wrap___cxa_guard_release(abi::__guard* guard) {
  if (Thread* const thread = current_thread()) thread->initialises = false;
  abi::__cxa_guard_release(guard);
}
}
