// Of HIP's host API what CUDA's runtime has no name for: devices and contexts as a driver has them, kinds of
// memory, errors of its own, and modules that a program has compiled while it runs or that are made of a source
// beside it.
#pragma once

#include "code_objects.h"

// Included by hip_runtime.h.

#define hipErrorNotInitialized hipErrorInitializationError
#define hipErrorDeinitialized hipErrorCudartUnloading
#define hipErrorInvalidImage hipErrorInvalidKernelImage
#define hipErrorInvalidContext hipErrorDeviceUninitialized
#define hipErrorContextAlreadyCurrent static_cast<hipError_t>(202)
#define hipErrorMapFailed hipErrorMapBufferObjectFailed
#define hipErrorUnmapFailed hipErrorUnmapBufferObjectFailed
#define hipErrorNoBinaryForGpu hipErrorNoKernelImageForDevice
#define hipErrorECCNotCorrectable hipErrorECCUncorrectable
#define hipErrorContextAlreadyInUse hipErrorDeviceAlreadyInUse
#define hipErrorInvalidKernelFile hipErrorInvalidPtx
#define hipErrorNotFound hipErrorSymbolNotFound
#define hipErrorLaunchTimeOut hipErrorLaunchTimeout
#define hipErrorRuntimeMemory static_cast<hipError_t>(1052)
#define hipErrorRuntimeOther static_cast<hipError_t>(1053)
#define hipErrorTbd static_cast<hipError_t>(1054)

enum {
  hipHostMallocWriteCombined = 4,
  hipHostMallocNumaUser = 0x20000000,
  hipHostMallocCoherent = 0x40000000,
  hipDeviceMallocDefault = 0,
  hipDeviceMallocFinegrained = 1,
  hipMallocSignalMemory = 2,
  hipDeviceMallocUncached = 3
};
#define hipHostMallocNonCoherent 0x80000000u
#define hipMemAdviseSetCoarseGrain static_cast<hipMemoryAdvise>(100)
#define hipMemAdviseUnsetCoarseGrain static_cast<hipMemoryAdvise>(101)
#define hipDeviceAttributeWallClockRate static_cast<hipDeviceAttribute_t>(10017)

template <class T>
static inline hipError_t hipExtMallocWithFlags(T** out, std::size_t bytes, unsigned) {
  return hipMalloc(out, bytes);
}
static inline hipError_t hipMemcpyWithStream(void* to, const void* from, std::size_t bytes,
                                             hipMemcpyKind kind, hipStream_t s) {
  if (const hipError_t e = hipMemcpyAsync(to, from, bytes, kind, s)) return e;
  return hipStreamSynchronize(s);
}
static inline hipError_t hipMemcpyHtoDAsync(void* to, const void* from, std::size_t bytes, hipStream_t s) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyHostToDevice, s);
}
static inline hipError_t hipMemcpyDtoHAsync(void* to, const void* from, std::size_t bytes, hipStream_t s) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToHost, s);
}
static inline hipError_t hipMemcpyDtoDAsync(void* to, const void* from, std::size_t bytes, hipStream_t s) {
  return hipMemcpyAsync(to, from, bytes, hipMemcpyDeviceToDevice, s);
}

typedef int hipDevice_t;
typedef void* hipDeviceptr_t;
typedef struct ihipCtx_t* hipCtx_t;
typedef struct ihipModule_t* hipModule_t;
typedef const void* hipFunction_t;
static inline hipError_t hipDeviceGet(hipDevice_t* device, int ordinal) {
  *device = ordinal;
  return hipSetDevice(ordinal);
}
static inline hipError_t hipDeviceGetName(char* name, int length, hipDevice_t device) {
  hipDeviceProp_t p;
  const hipError_t e = hipGetDeviceProperties(&p, device);
  if (e == hipSuccess) std::snprintf(name, static_cast<std::size_t>(length), "%s", p.name);
  return e;
}
static inline hipError_t hipDeviceTotalMem(std::size_t* bytes, hipDevice_t) {
  return hipMemGetInfo(nullptr, bytes);
}
static inline hipError_t hipDeviceComputeCapability(int* major, int* minor, hipDevice_t) {
  *major = 9, *minor = 0;
  return hipSuccess;
}
static inline hipError_t hipStreamGetDevice(hipStream_t, hipDevice_t* device) { return hipGetDevice(device); }
static inline hipError_t hipCtxCreate(hipCtx_t* c, unsigned, hipDevice_t) {
  *c = reinterpret_cast<hipCtx_t>(1);
  return hipSuccess;
}
static inline hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* c, hipDevice_t d) {
  return hipCtxCreate(c, 0, d);
}
static inline hipError_t hipDevicePrimaryCtxRelease(hipDevice_t) { return hipSuccess; }
static inline hipError_t hipCtxGetCurrent(hipCtx_t* c) { return hipCtxCreate(c, 0, 0); }
static inline hipError_t hipCtxSetCurrent(hipCtx_t) { return hipSuccess; }
static inline hipError_t hipCtxPushCurrent(hipCtx_t) { return hipSuccess; }
static inline hipError_t hipCtxPopCurrent(hipCtx_t* c) { return c ? hipCtxCreate(c, 0, 0) : hipSuccess; }
static inline hipError_t hipCtxDestroy(hipCtx_t) { return hipSuccess; }
static inline hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
static inline hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return static_cast<hipError_t>(isomer_emulator_module_load(reinterpret_cast<void**>(module), path));
}
static inline hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return static_cast<hipError_t>(isomer_emulator_module_load_data(reinterpret_cast<void**>(module), image));
}
template <class Options>
static inline hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned, Options, void**) {
  return hipModuleLoadData(module, image);
}
static inline hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return static_cast<hipError_t>(isomer_emulator_module_function(function, module, name));
}
static inline hipError_t hipModuleGetGlobal(hipDeviceptr_t* address, std::size_t* bytes, hipModule_t module,
                                            const char* name) {
  return static_cast<hipError_t>(isomer_emulator_module_global(address, bytes, module, name));
}
static inline hipError_t hipModuleUnload(hipModule_t module) {
  return static_cast<hipError_t>(isomer_emulator_module_unload(module));
}
// In what a launch of a module's function gets beside its arguments.
#define HIP_LAUNCH_PARAM_BUFFER_POINTER (reinterpret_cast<void*>(1))
#define HIP_LAUNCH_PARAM_BUFFER_SIZE (reinterpret_cast<void*>(2))
#define HIP_LAUNCH_PARAM_END (reinterpret_cast<void*>(3))
static inline hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
                                               unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                               hipStream_t s, void** arguments, void** packed) {
  const auto request = isomer::emulator::request_of("kernel", "", 0, {dim3(gx, gy, gz), dim3(bx, by, bz), shared, s});
  return static_cast<hipError_t>(isomer::emulator::launch_array_or_packed(
      request, f, arguments, packed, HIP_LAUNCH_PARAM_BUFFER_POINTER, HIP_LAUNCH_PARAM_BUFFER_SIZE,
      HIP_LAUNCH_PARAM_END));
}
static inline hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
                                                          unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                                          hipStream_t s, void** arguments) {
  const auto request =
      isomer::emulator::request_of("kernel", "", 0, {dim3(gx, gy, gz), dim3(bx, by, bz), shared, s}, 1);
  return static_cast<hipError_t>(isomer::emulator::launch_array(request, f, arguments));
}
/// Of a grid that is counted in threads, as HSA counts it.
static inline hipError_t hipExtModuleLaunchKernel(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned bx,
                                                  unsigned by, unsigned bz, std::size_t shared, hipStream_t s,
                                                  void** arguments, void** packed, hipEvent_t start = nullptr,
                                                  hipEvent_t stop = nullptr, unsigned = 0) {
  if (start != nullptr) hipEventRecord(start, s);
  const hipError_t e = hipModuleLaunchKernel(f, (x + bx - 1) / bx, (y + by - 1) / by, (z + bz - 1) / bz, bx, by, bz,
                                             static_cast<unsigned>(shared), s, arguments, packed);
  if (stop != nullptr) hipEventRecord(stop, s);
  return e;
}
enum hipArray_Format {
  HIP_AD_FORMAT_UNSIGNED_INT8 = 0x01,
  HIP_AD_FORMAT_UNSIGNED_INT16 = 0x02,
  HIP_AD_FORMAT_UNSIGNED_INT32 = 0x03,
  HIP_AD_FORMAT_SIGNED_INT8 = 0x08,
  HIP_AD_FORMAT_SIGNED_INT16 = 0x09,
  HIP_AD_FORMAT_SIGNED_INT32 = 0x0a,
  HIP_AD_FORMAT_HALF = 0x10,
  HIP_AD_FORMAT_FLOAT = 0x20
};
enum hipFunction_attribute {
  HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  HIP_FUNC_ATTRIBUTE_NUM_REGS = 4,
  HIP_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  HIP_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
  HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9,
  HIP_FUNC_ATTRIBUTE_MAX
};
static inline hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute what, hipFunction_t function) {
  hipFuncAttributes all;
  if (const hipError_t e = hipFuncGetAttributes(&all, function)) return e;
  return isomer_emulator_attribute(all, what, value) ? hipSuccess : hipErrorInvalidValue;
}
static inline hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                                            int threads, std::size_t shared) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared);
}
static inline hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function,
                                                                 std::size_t shared, int limit) {
  return hipOccupancyMaxPotentialBlockSize(grid, block, function, shared, limit);
}
