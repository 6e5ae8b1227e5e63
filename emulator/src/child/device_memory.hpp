// What the code under test allocates on a real device: poisoned, guarded and limited.
#pragma once

namespace isomer::emulator {
/// Whether it has asked for more than it may since the last call began.
bool device_memory_over_limit();
}  // namespace isomer::emulator

extern "C" {
/// Does it with the runtime's own function; its errors.
__attribute__((visibility("default"))) int isomer_emulator_device_allocate(void** out, unsigned long bytes,
                                                                           int (*allocate)(void**,
                                                                                           unsigned long));
__attribute__((visibility("default"))) void isomer_emulator_device_release(void* p);
}
