// What the thread sanitizer has to be told where the emulator itself is built with it: each stack is a thread of its own
// to it, with a record of its own, and a switch orders what both do. Without the sanitizer these do nothing.
#pragma once

#include "memory/thread_sanitizer.hpp"

#if defined(ISOMER_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif

namespace isomer::emulator::followed {

// A call of its own would begin on one stack's record and end on another's.
#define ISOMER_FOLLOWS [[gnu::always_inline]] inline

#if defined(ISOMER_THREAD_SANITIZER)
ISOMER_FOLLOWS void* stack_that_runs() { return __tsan_get_current_fiber(); }
ISOMER_FOLLOWS void* new_stack() { return __tsan_create_fiber(0); }
ISOMER_FOLLOWS void end_of_stack(void* record) { __tsan_destroy_fiber(record); }
ISOMER_FOLLOWS void switch_to(void* record) { __tsan_switch_to_fiber(record, 0); }
#else
ISOMER_FOLLOWS void* stack_that_runs() { return nullptr; }
ISOMER_FOLLOWS void* new_stack() { return nullptr; }
ISOMER_FOLLOWS void end_of_stack(void*) {}
ISOMER_FOLLOWS void switch_to(void*) {}
#endif

#undef ISOMER_FOLLOWS

}  // namespace isomer::emulator::followed
