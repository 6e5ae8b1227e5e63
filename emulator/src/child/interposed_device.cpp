// A real device's allocations by the code under test and by the libraries that it uses, by the linker's order
// as in interposed.cpp. The runtimes are libraries of the module; nothing of them is needed to build this.
#include <dlfcn.h>

#include "child/device_memory.hpp"
#include "child/session_child.hpp"

namespace {

template <class F>
F next(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

constexpr int kNotThere = 999;  // "unknown error" of both runtimes

int allocated(void** out, unsigned long bytes, const char* name) {
  const auto real = next<int (*)(void**, unsigned long)>(name);
  if (!real) return kNotThere;
  if (!isomer_emulator_in_user_code() || !out) return real(out, bytes);
  return isomer_emulator_device_allocate(out, bytes, real);
}

int released(void* p, const char* name) {
  const auto real = next<int (*)(void*)>(name);
  if (!real) return kNotThere;
  return isomer_emulator_device_release(p) ? 0 : real(p);
}

}  // namespace

#define INTERPOSED __attribute__((visibility("default")))

extern "C" {
INTERPOSED int cudaMalloc(void** out, unsigned long bytes) { return allocated(out, bytes, "cudaMalloc"); }
INTERPOSED int hipMalloc(void** out, unsigned long bytes) { return allocated(out, bytes, "hipMalloc"); }
INTERPOSED int cudaFree(void* p) { return released(p, "cudaFree"); }
INTERPOSED int hipFree(void* p) { return released(p, "hipFree"); }
}
