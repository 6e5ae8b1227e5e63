#pragma once

#include "gpu/vendors/failure.hpp"

#include <cstddef>
#include <string>

/// The part of the HIP runtime's interface that Isomer uses, declared from its documentation so that the
/// build needs no ROCm. tests/abi holds every line against hip/hip_runtime_api.h where that is installed; HIP
/// 5, 6 and 7 agree in all of them.
namespace isomer::gpu::hip {

using DeviceHandle = int;  // hipDevice_t
using ModuleHandle = struct ModuleObject*;
using FunctionHandle = struct FunctionObject*;
using StreamHandle = struct StreamObject*;
using EventHandle = struct EventObject*;

enum Result : int {  // hipError_t
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kUncorrectableEcc = 214,
  kInvalidKernelFile = 218,
  kSharedObjectInitFailed = 303,
  kIllegalAddress = 700,
  kLaunchTimeOut = 702,
  kAssert = 710,
  kLaunchFailure = 719,
  kUnknown = 999,
};

enum DeviceAttribute : int {  // hipDeviceAttribute_t
  kL2CacheSize = 19,
  kMaxThreadsPerBlock = 56,
  kMaxThreadsPerMultiprocessor = 57,
  kMultiprocessorCount = 63,
  kMaxRegistersPerMultiprocessor = 72,
  kMaxSharedMemoryPerBlock = 74,
  kWarpSize = 87,
  kMaxSharedMemoryPerMultiprocessor = 10002,
};

enum CopyKind : int { kHostToDevice = 1, kDeviceToHost = 2, kDeviceToDevice = 3 };  // hipMemcpyKind
enum CaptureStatus : int { kCaptureNone = 0 };                                      // hipStreamCaptureStatus
inline constexpr unsigned kStreamNonBlocking = 1, kEventDefault = 0;

// X(result, name here, name in the runtime, parameters)
#define ISOMER_HIP_FUNCTIONS(X)                                                                          \
  X(Result, init, hipInit, (unsigned))                                                                   \
  X(Result, runtime_get_version, hipRuntimeGetVersion, (int*))                                           \
  X(const char*, get_error_name, hipGetErrorName, (Result))                                              \
  X(const char*, get_error_string, hipGetErrorString, (Result))                                          \
  X(Result, get_device_count, hipGetDeviceCount, (int*))                                                 \
  X(Result, device_get, hipDeviceGet, (DeviceHandle*, int))                                              \
  X(Result, device_get_name, hipDeviceGetName, (char*, int, DeviceHandle))                               \
  X(Result, device_get_attribute, hipDeviceGetAttribute, (int*, DeviceAttribute, int))                   \
  X(Result, device_total_memory, hipDeviceTotalMem, (std::size_t*, DeviceHandle))                        \
  X(Result, get_device, hipGetDevice, (int*))                                                            \
  X(Result, set_device, hipSetDevice, (int))                                                             \
  X(Result, memory_allocate, hipMalloc, (void**, std::size_t))                                           \
  X(Result, memory_free, hipFree, (void*))                                                               \
  X(Result, copy_async, hipMemcpyAsync, (void*, const void*, std::size_t, CopyKind, StreamHandle))       \
  X(Result, fill_async, hipMemsetAsync, (void*, int, std::size_t, StreamHandle))                         \
  X(Result, stream_create, hipStreamCreateWithFlags, (StreamHandle*, unsigned))                          \
  X(Result, stream_destroy, hipStreamDestroy, (StreamHandle))                                            \
  X(Result, stream_synchronize, hipStreamSynchronize, (StreamHandle))                                    \
  X(Result, stream_is_capturing, hipStreamIsCapturing, (StreamHandle, CaptureStatus*))                   \
  X(Result, event_create, hipEventCreateWithFlags, (EventHandle*, unsigned))                             \
  X(Result, event_destroy, hipEventDestroy, (EventHandle))                                               \
  X(Result, event_record, hipEventRecord, (EventHandle, StreamHandle))                                   \
  X(Result, event_synchronize, hipEventSynchronize, (EventHandle))                                       \
  X(Result, event_elapsed_time, hipEventElapsedTime, (float*, EventHandle, EventHandle))                 \
  X(Result, module_load_data, hipModuleLoadData, (ModuleHandle*, const void*))                           \
  X(Result, module_unload, hipModuleUnload, (ModuleHandle))                                              \
  X(Result, module_get_function, hipModuleGetFunction, (FunctionHandle*, ModuleHandle, const char*))     \
  X(Result, launch_kernel, hipModuleLaunchKernel,                                                        \
    (FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, StreamHandle, \
     void**, void**))

/// Where the name of a device's architecture lies in what a device-properties function writes. HIP has no
/// attribute, nor any other call, that tells it, and the compute capability is the same for gfx906 and
/// gfx90a. Each layout of that struct has a function of its own name, so the pair of name and offset cannot
/// go stale; nothing else of the struct is read.
struct ArchitectureName {
  const char* function;
  std::size_t offset, struct_bytes;
};
inline constexpr ArchitectureName kArchitectureNames[] = {
    {"hipGetDevicePropertiesR0600", 1160, 1472},  // HIP 6 and later
    {"hipGetDeviceProperties", 396, 792},         // HIP 5, and hipGetDevicePropertiesR0000 since
};
inline constexpr std::size_t kArchitectureNameBytes = 256;

/// The runtime's functions.
struct Runtime {
#define ISOMER_MEMBER(result, name, symbol, parameters) result(*name) parameters = nullptr;
  ISOMER_HIP_FUNCTIONS(ISOMER_MEMBER)
#undef ISOMER_MEMBER
  Result (*get_device_properties)(void*, int) = nullptr;
  ArchitectureName architecture_name{};
  int version = 0;          ///< 50221153 for 5.2.21153
  int forks = 0;            ///< of this process before the runtime was initialised
  std::string unavailable;  ///< one sentence; empty where the runtime has been initialised and has a device

  /// Opened, resolved and initialised once in this process.
  static const Runtime& get();

  /// "gfx90a", without the features that follow it; empty where the runtime does not say one.
  std::string architecture(int device) const;
};

/// "hipErrorOutOfMemory: out of memory"
std::string name_of(const Runtime& runtime, Result result);
Meaning meaning_of(Result result);

}  // namespace isomer::gpu::hip
