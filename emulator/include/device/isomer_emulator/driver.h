// CUDA's driver API as far as it needs no code object: devices, contexts, memory, streams, events and the launch of
// a kernel that this program contains. A module cannot be loaded, since there is no machine code to load.
#pragma once

#include "cuda_runtime.h"

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st* CUcontext;
typedef struct CUmod_st* CUmodule;
typedef const void* CUfunction;
typedef cudaEvent_t CUevent;
typedef cudaGraph_t CUgraph;
typedef cudaGraphExec_t CUgraphExec;
typedef cudaArray_t CUarray;
typedef cudaTextureObject_t CUtexObject;
#include "driver_types.inc"

static inline CUresult isomer_emulator_cu(int error) { return static_cast<CUresult>(error); }
static inline void* isomer_emulator_pointer(CUdeviceptr p) { return reinterpret_cast<void*>(p); }

static inline CUresult cuInit(unsigned) { return CUDA_SUCCESS; }
static inline CUresult cuDriverGetVersion(int* v) { return isomer_emulator_cu(cudaDriverGetVersion(v)); }
static inline CUresult cuDeviceGetCount(int* n) { return isomer_emulator_cu(cudaGetDeviceCount(n)); }
static inline CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return isomer_emulator_cu(cudaSetDevice(ordinal));
}
static inline CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  cudaDeviceProp p;
  const auto e = cudaGetDeviceProperties(&p, device);
  if (e == cudaSuccess) std::snprintf(name, static_cast<std::size_t>(length), "%s", p.name);
  return isomer_emulator_cu(e);
}
static inline CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which, CUdevice device) {
  return isomer_emulator_cu(cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(which), device));
}
static inline CUresult cuDeviceTotalMem(std::size_t* bytes, CUdevice) {
  return isomer_emulator_cu(isomer_emulator_memory_info(nullptr, bytes));
}
static inline CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice) {
  *major = 9, *minor = 0;
  return CUDA_SUCCESS;
}
static inline CUresult cuDeviceCanAccessPeer(int* can, CUdevice a, CUdevice b) {
  return isomer_emulator_cu(cudaDeviceCanAccessPeer(can, a, b));
}
static inline CUresult cuCtxCreate(CUcontext* c, unsigned, CUdevice) {
  *c = reinterpret_cast<CUcontext>(1);
  return CUDA_SUCCESS;
}
struct CUctxCreateParams {  // of CUDA 13: which part of a device, where there are several
  void* execAffinityParams;
  int numExecAffinityParams;
  void* cigParams;
};
static inline CUresult cuCtxCreate(CUcontext* c, CUctxCreateParams*, unsigned flags, CUdevice d) {
  return cuCtxCreate(c, flags, d);
}
static inline CUresult cuDevicePrimaryCtxRetain(CUcontext* c, CUdevice d) { return cuCtxCreate(c, 0, d); }
static inline CUresult cuDevicePrimaryCtxRelease(CUdevice) { return CUDA_SUCCESS; }
static inline CUresult cuCtxGetCurrent(CUcontext* c) { return cuCtxCreate(c, 0, 0); }
static inline CUresult cuCtxSetCurrent(CUcontext) { return CUDA_SUCCESS; }
static inline CUresult cuCtxPushCurrent(CUcontext) { return CUDA_SUCCESS; }
static inline CUresult cuCtxPopCurrent(CUcontext* c) { return c ? cuCtxCreate(c, 0, 0) : CUDA_SUCCESS; }
static inline CUresult cuCtxGetDevice(CUdevice* device) { return isomer_emulator_cu(cudaGetDevice(device)); }
static inline CUresult cuCtxDestroy(CUcontext) { return CUDA_SUCCESS; }
static inline CUresult cuCtxDetach(CUcontext) { return CUDA_SUCCESS; }
static inline CUresult cuCtxSynchronize() { return isomer_emulator_cu(cudaDeviceSynchronize()); }
static inline CUresult cuGetErrorString(CUresult e, const char** text) {
  *text = isomer_emulator_error_string(e);
  return CUDA_SUCCESS;
}
static inline CUresult cuGetErrorName(CUresult e, const char** text) { return cuGetErrorString(e, text); }

static inline CUresult cuMemAlloc(CUdeviceptr* out, std::size_t bytes) {
  void* p = nullptr;
  const auto e = cudaMalloc(&p, bytes);
  *out = reinterpret_cast<CUdeviceptr>(p);
  return isomer_emulator_cu(e);
}
static inline CUresult cuMemAllocManaged(CUdeviceptr* out, std::size_t bytes, unsigned) {
  void* p = nullptr;
  const auto e = cudaMallocManaged(&p, bytes);
  *out = reinterpret_cast<CUdeviceptr>(p);
  return isomer_emulator_cu(e);
}
static inline CUresult cuMemHostAlloc(void** out, std::size_t bytes, unsigned) {
  return isomer_emulator_cu(cudaMallocHost(out, bytes));
}
static inline CUresult cuMemGetInfo(std::size_t* available, std::size_t* total) {
  return isomer_emulator_cu(cudaMemGetInfo(available, total));
}
static inline CUresult cuMemFree(CUdeviceptr p) {
  return isomer_emulator_cu(cudaFree(isomer_emulator_pointer(p)));
}
static inline CUresult cuMemAllocHost(void** out, std::size_t bytes) {
  return isomer_emulator_cu(cudaMallocHost(out, bytes));
}
static inline CUresult cuMemFreeHost(void* p) { return isomer_emulator_cu(cudaFreeHost(p)); }
static inline CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, std::size_t bytes) {
  return isomer_emulator_cu(cudaMemcpy(isomer_emulator_pointer(to), from, bytes, cudaMemcpyHostToDevice));
}
static inline CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, std::size_t bytes) {
  return isomer_emulator_cu(cudaMemcpy(to, isomer_emulator_pointer(from), bytes, cudaMemcpyDeviceToHost));
}
static inline CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return isomer_emulator_cu(cudaMemcpy(isomer_emulator_pointer(to), isomer_emulator_pointer(from), bytes,
                                       cudaMemcpyDeviceToDevice));
}
static inline CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, std::size_t bytes, CUstream s) {
  return isomer_emulator_cu(
      cudaMemcpyAsync(isomer_emulator_pointer(to), from, bytes, cudaMemcpyHostToDevice, s));
}
static inline CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, std::size_t bytes, CUstream s) {
  return isomer_emulator_cu(
      cudaMemcpyAsync(to, isomer_emulator_pointer(from), bytes, cudaMemcpyDeviceToHost, s));
}
static inline CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, std::size_t count) {
  return isomer_emulator_cu(cudaMemset(isomer_emulator_pointer(to), value, count));
}
static inline CUresult cuMemsetD32(CUdeviceptr to, unsigned value, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    if (const CUresult e = cuMemcpyHtoD(to + 4 * i, &value, sizeof value)) return e;
  return CUDA_SUCCESS;
}
static inline CUresult cuStreamCreate(CUstream* s, unsigned flags) {
  return isomer_emulator_cu(cudaStreamCreateWithFlags(s, flags));
}
static inline CUresult cuStreamSynchronize(CUstream s) {
  return isomer_emulator_cu(cudaStreamSynchronize(s));
}
static inline CUresult cuStreamQuery(CUstream s) { return isomer_emulator_cu(cudaStreamQuery(s)); }
static inline CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned) {
  return isomer_emulator_cu(cudaStreamWaitEvent(s, e));
}
static inline CUresult cuEventQuery(CUevent e) { return isomer_emulator_cu(cudaEventQuery(e)); }
static inline CUresult cuStreamDestroy(CUstream s) { return isomer_emulator_cu(cudaStreamDestroy(s)); }
static inline CUresult cuEventCreate(CUevent* e, unsigned) { return isomer_emulator_cu(cudaEventCreate(e)); }
static inline CUresult cuEventRecord(CUevent e, CUstream s) {
  return isomer_emulator_cu(cudaEventRecord(e, s));
}
static inline CUresult cuEventSynchronize(CUevent e) { return isomer_emulator_cu(cudaEventSynchronize(e)); }
static inline CUresult cuEventElapsedTime(float* ms, CUevent a, CUevent b) {
  return isomer_emulator_cu(cudaEventElapsedTime(ms, a, b));
}
static inline CUresult cuEventDestroy(CUevent e) { return isomer_emulator_cu(cudaEventDestroy(e)); }

/// A kernel of this program by its address, as cudaGetFuncBySymbol gives it.
template <class... P>
static inline cudaError_t cudaGetFuncBySymbol(CUfunction* out, void (*kernel)(P...)) {
  *out = isomer::emulator::kernel_address(kernel);
  return cudaSuccess;
}
static inline CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, CUstream s, void** arguments,
                                      void**) {
  return isomer_emulator_cu(cudaLaunchKernel(f, dim3(gx, gy, gz), dim3(bx, by, bz), arguments, shared, s));
}
static inline CUresult isomer_emulator_no_module() {
  std::fprintf(stderr, "a module cannot be loaded: the emulator compiles kernels with their program, and has no "
                       "machine to run code objects on\n");
  return isomer_emulator_cu(isomer_emulator_fail(CUDA_ERROR_NOT_SUPPORTED));
}
static inline CUresult cuModuleLoad(CUmodule*, const char*) { return isomer_emulator_no_module(); }
static inline CUresult cuModuleLoadData(CUmodule*, const void*) { return isomer_emulator_no_module(); }
template <class... A>
static inline CUresult cuModuleLoadDataEx(CUmodule*, const void*, A...) {
  return isomer_emulator_no_module();
}
static inline CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) {
  return isomer_emulator_no_module();
}
static inline CUresult cuModuleUnload(CUmodule) { return CUDA_SUCCESS; }
