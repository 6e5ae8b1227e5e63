#pragma once

#include "gpu/vendors/failure.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

/// The part of the CUDA driver's interface that Isomer uses, declared from its documentation so that the
/// build needs no toolkit. tests/abi holds every line against cuda.h where that is installed.
namespace isomer::gpu::cuda {

using Result = int;  // CUresult
using DeviceHandle = int;
using DevicePointer = unsigned long long;
using Context = struct ContextObject*;
using ModuleHandle = struct ModuleObject*;
using FunctionHandle = struct FunctionObject*;
using StreamHandle = struct StreamObject*;
using EventHandle = struct EventObject*;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kUncorrectableEcc = 214,
  kInvalidPtx = 218,
  kUncorrectableNvlink = 220,
  kUnsupportedPtxVersion = 222,
  kIllegalAddress = 700,
  kLaunchTimeout = 702,
  kContextIsDestroyed = 709,
  kAssert = 710,
  kHardwareStackError = 714,
  kIllegalInstruction = 715,
  kMisalignedAddress = 716,
  kInvalidAddressSpace = 717,
  kInvalidProgramCounter = 718,
  kLaunchFailed = 719,
  kUnknown = 999,
};

enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kWarpSize = 10,
  kMultiprocessorCount = 16,
  kL2CacheSize = 38,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedMemoryPerMultiprocessor = 81,
  kMaxRegistersPerMultiprocessor = 82,
  kMaxSharedMemoryPerBlockOptin = 97,
};

enum FunctionAttribute : int {
  kSharedSizeBytes = 1,
  kMaxDynamicSharedSizeBytes = 8,
  kNonPortableClusterSizeAllowed = 14,
};

enum LaunchAttributeId : int { kClusterDimension = 4, kProgrammaticStreamSerialization = 6 };

union alignas(8) LaunchAttributeValue {
  char pad[64];
  struct {
    unsigned x, y, z;
  } cluster;
  int programmatic_stream_serialization;
};

struct LaunchAttribute {
  LaunchAttributeId id;
  char pad[8 - sizeof(LaunchAttributeId)];
  LaunchAttributeValue value;
};

struct LaunchConfig {
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  StreamHandle stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};

/// 64 in CUDA 12, 128 since 13.
struct alignas(128) TensorMapObject {
  std::uint64_t opaque[16];
};

inline constexpr unsigned kStreamNonBlocking = 1, kEventDefault = 0;
enum CaptureStatus : int { kCaptureNone = 0 };
enum TensorMapType : int { kMapU8 = 0, kMapF16 = 6, kMapF32 = 7, kMapBf16 = 9 };
enum TensorMapInterleave : int { kInterleaveNone = 0 };
enum TensorMapSwizzle : int { kSwizzleNone = 0, kSwizzle32 = 1, kSwizzle64 = 2, kSwizzle128 = 3 };
enum TensorMapPromotion : int { kPromotionNone = 0, kPromotion64 = 1, kPromotion128 = 2, kPromotion256 = 3 };
enum TensorMapFill : int { kFillZero = 0 };

// X(name here, name in the driver, version of the interface, parameters)
#define ISOMER_CUDA_FUNCTIONS(X)                                                                            \
  X(init, cuInit, 2000, (unsigned))                                                                         \
  X(driver_get_version, cuDriverGetVersion, 2020, (int*))                                                   \
  X(get_error_name, cuGetErrorName, 6000, (Result, const char**))                                           \
  X(get_error_string, cuGetErrorString, 6000, (Result, const char**))                                       \
  X(device_get_count, cuDeviceGetCount, 2000, (int*))                                                       \
  X(device_get, cuDeviceGet, 2000, (DeviceHandle*, int))                                                    \
  X(device_get_name, cuDeviceGetName, 2000, (char*, int, DeviceHandle))                                     \
  X(device_get_attribute, cuDeviceGetAttribute, 2000, (int*, DeviceAttribute, DeviceHandle))                \
  X(device_total_memory, cuDeviceTotalMem, 3020, (std::size_t*, DeviceHandle))                              \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, 7000, (Context*, DeviceHandle))                       \
  X(context_get_current, cuCtxGetCurrent, 4000, (Context*))                                                 \
  X(context_set_current, cuCtxSetCurrent, 4000, (Context))                                                  \
  X(memory_allocate, cuMemAlloc, 3020, (DevicePointer*, std::size_t))                                       \
  X(memory_free, cuMemFree, 3020, (DevicePointer))                                                          \
  X(copy_async, cuMemcpyAsync, 4000, (DevicePointer, DevicePointer, std::size_t, StreamHandle))             \
  X(fill_async, cuMemsetD8Async, 3020, (DevicePointer, unsigned char, std::size_t, StreamHandle))           \
  X(stream_create, cuStreamCreate, 2000, (StreamHandle*, unsigned))                                         \
  X(stream_destroy, cuStreamDestroy, 4000, (StreamHandle))                                                  \
  X(stream_synchronize, cuStreamSynchronize, 2000, (StreamHandle))                                          \
  X(stream_is_capturing, cuStreamIsCapturing, 10000, (StreamHandle, CaptureStatus*))                        \
  X(event_create, cuEventCreate, 2000, (EventHandle*, unsigned))                                            \
  X(event_destroy, cuEventDestroy, 4000, (EventHandle))                                                     \
  X(event_record, cuEventRecord, 2000, (EventHandle, StreamHandle))                                         \
  X(event_synchronize, cuEventSynchronize, 2000, (EventHandle))                                             \
  X(event_elapsed_time, cuEventElapsedTime, 2000, (float*, EventHandle, EventHandle))                       \
  X(module_load_data, cuModuleLoadData, 2000, (ModuleHandle*, const void*))                                 \
  X(module_unload, cuModuleUnload, 2000, (ModuleHandle))                                                    \
  X(module_get_function, cuModuleGetFunction, 2000, (FunctionHandle*, ModuleHandle, const char*))           \
  X(function_get_attribute, cuFuncGetAttribute, 2020, (int*, FunctionAttribute, FunctionHandle))            \
  X(function_set_attribute, cuFuncSetAttribute, 9000, (FunctionHandle, FunctionAttribute, int))             \
  X(launch_kernel_ex, cuLaunchKernelEx, 11060, (const LaunchConfig*, FunctionHandle, void**, void**))       \
  X(tensor_map_encode_tiled, cuTensorMapEncodeTiled, 12000,                                                 \
    (TensorMapObject*, TensorMapType, unsigned, void*, const std::uint64_t*, const std::uint64_t*,          \
     const std::uint32_t*, const std::uint32_t*, TensorMapInterleave, TensorMapSwizzle, TensorMapPromotion, \
     TensorMapFill))

/// cuGetProcAddress_v2, which finds all of them.
using GetProcAddress = Result (*)(const char* symbol, void** function, int version, std::uint64_t flags,
                                  int* status);

/// The driver's functions, resolved with the versions above.
struct Driver {
#define ISOMER_MEMBER(name, symbol, version, parameters) Result(*name) parameters = nullptr;
  ISOMER_CUDA_FUNCTIONS(ISOMER_MEMBER)
#undef ISOMER_MEMBER
  int version = 0;          ///< 13000 for 13.0
  int forks = 0;            ///< of this process before the driver was initialised
  std::string unavailable;  ///< one sentence; empty where the driver has been initialised and has a device

  /// Opened, resolved and initialised once in this process.
  static const Driver& get();
};

/// "CUDA_ERROR_OUT_OF_MEMORY: out of memory"
std::string name_of(const Driver& driver, Result result);
Meaning meaning_of(Result result);

}  // namespace isomer::gpu::cuda
