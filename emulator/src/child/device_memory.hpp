// What the code under test allocates on a real device: poisoned, guarded and limited.
#pragma once

namespace isomer::emulator {
/// Whether it has asked for more than it may since the last call began.
bool device_memory_over_limit();
/// While calls are measured what is given back is kept and given out again, as a framework's own allocator
/// does: no allocation and no poison is in their time. Ending that frees what is kept.
void keep_device_memory(bool keep);
/// Poisons what is kept.
void poison_kept_device_memory();
}  // namespace isomer::emulator

extern "C" {
/// Does it with the runtime's own function; its errors.
__attribute__((visibility("default"))) int isomer_emulator_device_allocate(void** out, unsigned long bytes,
                                                                           int (*allocate)(void**,
                                                                                           unsigned long));
/// 1: it is kept, and must not be freed.
__attribute__((visibility("default"))) int isomer_emulator_device_release(void* p);
}
