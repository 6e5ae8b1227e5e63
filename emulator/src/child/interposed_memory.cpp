// The C library's allocator as the user's code calls it, by the linker's order as in interposed.cpp: code
// that goes on with the null pointer that it was given ends anywhere, and this tells why. Sanitizers have an
// allocator of their own.
#include <errno.h>
#include <stddef.h>

#include "child/denied_memory.hpp"
#include "child/session_child.hpp"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

#define INTERPOSED __attribute__((visibility("default")))

namespace {
void* given(void* memory, size_t bytes) {
  if (!memory && bytes > 0 && isomer_emulator_in_user_code()) isomer_emulator_user_denied(bytes);
  return memory;
}
}  // namespace

INTERPOSED void* malloc(size_t bytes) { return given(__libc_malloc(bytes), bytes); }
INTERPOSED void* calloc(size_t count, size_t bytes) {
  size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) all = ~size_t{0};
  return given(__libc_calloc(count, bytes), all);
}
INTERPOSED void* realloc(void* old, size_t bytes) { return given(__libc_realloc(old, bytes), bytes); }
INTERPOSED void* aligned_alloc(size_t alignment, size_t bytes) {
  return given(__libc_memalign(alignment, bytes), bytes);
}
INTERPOSED int posix_memalign(void** out, size_t alignment, size_t bytes) {
  if (alignment % sizeof(void*) != 0 || (alignment & (alignment - 1)) != 0 || alignment == 0) return EINVAL;
  void* memory = given(__libc_memalign(alignment, bytes), bytes);
  if (!memory) return ENOMEM;
  *out = memory;
  return 0;
}
}

#endif
