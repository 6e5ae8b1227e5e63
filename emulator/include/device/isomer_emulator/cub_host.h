// What CUB's own programs use beside its algorithms: an allocator and a look at what a call returns.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "cub_device.h"

namespace cub {

inline Status Debug(Status status, const char* file, int line) {
  if (status != Status(0))
    std::fprintf(stderr, "CUB error %d [%s, %d]\n", static_cast<int>(status), file, line);
  return status;
}
#define CubDebug(call) ::cub::Debug(static_cast<::cub::Status>(call), __FILE__, __LINE__)
#define CubDebugExit(call) \
  if (CubDebug(call) != ::cub::Status(0)) std::exit(1)

/// Keeps nothing: what is freed is freed, so that a later use of it is seen.
struct CachingDeviceAllocator {
  CachingDeviceAllocator() = default;
  explicit CachingDeviceAllocator(bool, bool = false) {}
  CachingDeviceAllocator(unsigned, unsigned, unsigned, std::size_t, bool = false, bool = false) {}
  Status DeviceAllocate(void** pointer, std::size_t bytes, Stream = nullptr) {
#ifdef ISOMER_EMULATOR_HIP
    return hipMalloc(pointer, bytes);
#else
    return cudaMalloc(pointer, bytes);
#endif
  }
  Status DeviceFree(void* pointer) {
#ifdef ISOMER_EMULATOR_HIP
    return hipFree(pointer);
#else
    return cudaFree(pointer);
#endif
  }
  Status FreeAllCached() { return Status(0); }
};

}  // namespace cub
