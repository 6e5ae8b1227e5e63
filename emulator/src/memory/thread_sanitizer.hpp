// Whether the emulator itself is built with the thread sanitizer.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define ISOMER_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define ISOMER_THREAD_SANITIZER 1
#endif
#endif

#if defined(ISOMER_THREAD_SANITIZER)
extern "C" void __tsan_read_range(void* at, long bytes);
extern "C" void __tsan_write_range(void* at, long bytes);
#endif

namespace isomer::emulator {

#if defined(ISOMER_THREAD_SANITIZER)
inline constexpr bool kThreadSanitizer = true;
/// The emulated program, whose own code the sanitizer does not see, is to touch these bytes.
inline void tell_sanitizer(const void* at, unsigned long bytes, bool writes) {
  if (writes)
    __tsan_write_range(const_cast<void*>(at), static_cast<long>(bytes));
  else
    __tsan_read_range(const_cast<void*>(at), static_cast<long>(bytes));
}
#else
inline constexpr bool kThreadSanitizer = false;
inline void tell_sanitizer(const void*, unsigned long, bool) {}
#endif

}  // namespace isomer::emulator
