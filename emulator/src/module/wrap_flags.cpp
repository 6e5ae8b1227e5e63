// What of a module's calls the linker hands to the emulator's library.
#include "module/compiler.hpp"

namespace isomer::emulator {
namespace {

// Hooks and C library calls that the linker hands to the emulator's library.
const char* const kWrapped[] = {"memcpy",
                                "memmove",
                                "memset",
                                "malloc",
                                "calloc",
                                "free",
                                "_Znwm",
                                "_Znam",
                                "_ZdlPv",
                                "_ZdaPv",
                                "_ZdlPvm",
                                "_ZdaPvm",
                                "printf",
                                "vprintf",
                                "puts",
                                "putchar",
                                "__printf_chk",
                                "__cxa_guard_acquire",
                                "__cxa_guard_release",
                                "abort",
                                "__assert_fail",
                                "__ubsan_handle_type_mismatch_v1",
                                "__ubsan_handle_float_cast_overflow",
                                "__tsan_init",
                                "__tsan_func_entry",
                                "__tsan_func_exit",
                                "__tsan_read_range",
                                "__tsan_write_range",
                                "__tsan_vptr_read",
                                "__tsan_vptr_update",
                                "__tsan_atomic_thread_fence",
                                "__tsan_atomic_signal_fence"};
const char* const kSized[] = {"read",
                              "write",
                              "read_write",
                              "unaligned_read",
                              "unaligned_write",
                              "unaligned_read_write",
                              "volatile_read",
                              "volatile_write",
                              "unaligned_volatile_read",
                              "unaligned_volatile_write"};
const char* const kAtomics[] = {"load",
                                "store",
                                "exchange",
                                "fetch_add",
                                "fetch_sub",
                                "fetch_and",
                                "fetch_or",
                                "fetch_xor",
                                "fetch_nand",
                                "compare_exchange_strong",
                                "compare_exchange_weak",
                                "compare_exchange_val"};

}  // namespace

std::vector<std::string> wrap_flags() {
  std::vector<std::string> flags;
  for (const char* name : kWrapped) flags.push_back(std::string("-Wl,--wrap=") + name);
  for (const char* kind : kSized) {
    for (const char* bytes : {"1", "2", "4", "8", "16"})
      flags.push_back(std::string("-Wl,--wrap=__tsan_") + kind + bytes);
  }
  for (const char* op : kAtomics) {
    for (const char* bits : {"8", "16", "32", "64"})
      flags.push_back(std::string("-Wl,--wrap=__tsan_atomic") + bits + "_" + op);
  }
  return flags;
}

}  // namespace isomer::emulator
