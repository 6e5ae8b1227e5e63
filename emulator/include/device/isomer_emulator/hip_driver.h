// Of HIP's host API what CUDA's runtime has no name for: devices and contexts as a driver has them, kinds of
// memory, errors of its own. A module cannot be loaded, since there is no machine code to load.
#pragma once

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
static inline hipError_t isomer_emulator_no_hip_module() {
  std::fprintf(stderr,
               "a module cannot be loaded: the emulator compiles kernels with their program, and has no "
               "machine to run code objects on\n");
  return static_cast<hipError_t>(isomer_emulator_fail(hipErrorNotSupported));
}
static inline hipError_t hipModuleLoad(hipModule_t*, const char*) { return isomer_emulator_no_hip_module(); }
static inline hipError_t hipModuleLoadData(hipModule_t*, const void*) {
  return isomer_emulator_no_hip_module();
}
static inline hipError_t hipModuleGetFunction(hipFunction_t*, hipModule_t, const char*) {
  return isomer_emulator_no_hip_module();
}
static inline hipError_t hipModuleGetGlobal(hipDeviceptr_t*, std::size_t*, hipModule_t, const char*) {
  return isomer_emulator_no_hip_module();
}
// In what a launch of a module's function gets beside its arguments.
#define HIP_LAUNCH_PARAM_BUFFER_POINTER (reinterpret_cast<void*>(1))
#define HIP_LAUNCH_PARAM_BUFFER_SIZE (reinterpret_cast<void*>(2))
#define HIP_LAUNCH_PARAM_END (reinterpret_cast<void*>(3))
static inline hipError_t hipModuleUnload(hipModule_t) { return hipSuccess; }
static inline hipError_t hipModuleLaunchKernel(hipFunction_t f, unsigned gx, unsigned gy, unsigned gz,
                                               unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                               hipStream_t s, void** arguments, void**) {
  return hipLaunchKernel(f, dim3(gx, gy, gz), dim3(bx, by, bz), arguments, shared, s);
}
