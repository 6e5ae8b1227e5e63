// CUDA's driver API: devices, contexts, memory, streams, events, the launch of a kernel that this program contains,
// and modules that it has compiled while it runs or that are made of a source beside it.
#pragma once

#include "code_objects.h"
#include "cuda_runtime.h"

#define __cuda_cuda_h__  // headers of others ask by it whether the driver API is there
#ifndef CUDA_VERSION
#define CUDA_VERSION 12000
#endif

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
#include "tensor_map_api.h"

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
static inline isomer::emulator::LaunchRequest isomer_emulator_launch_of(dim3 grid, dim3 block, unsigned shared,
                                                                        void* stream, int cooperative = 0) {
  return isomer::emulator::request_of("kernel", "", 0, {grid, block, shared, stream}, cooperative);
}
#define CU_LAUNCH_PARAM_END (reinterpret_cast<void*>(0))
#define CU_LAUNCH_PARAM_BUFFER_POINTER (reinterpret_cast<void*>(1))
#define CU_LAUNCH_PARAM_BUFFER_SIZE (reinterpret_cast<void*>(2))
static inline CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                      unsigned by, unsigned bz, unsigned shared, CUstream s, void** arguments,
                                      void** packed) {
  const auto request = isomer_emulator_launch_of(dim3(gx, gy, gz), dim3(bx, by, bz), shared, s);
  return isomer_emulator_cu(isomer::emulator::launch_array_or_packed(
      request, f, arguments, packed, CU_LAUNCH_PARAM_BUFFER_POINTER, CU_LAUNCH_PARAM_BUFFER_SIZE,
      CU_LAUNCH_PARAM_END));
}
static inline CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz,
                                                 unsigned bx, unsigned by, unsigned bz, unsigned shared,
                                                 CUstream s, void** arguments) {
  const auto request = isomer_emulator_launch_of(dim3(gx, gy, gz), dim3(bx, by, bz), shared, s, 1);
  return isomer_emulator_cu(isomer::emulator::launch_array(request, f, arguments));
}

static inline CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return isomer_emulator_cu(isomer_emulator_module_load(reinterpret_cast<void**>(module), path));
}
static inline CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return isomer_emulator_cu(isomer_emulator_module_load_data(reinterpret_cast<void**>(module), image));
}
template <class Options>
static inline CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, Options, void**) {
  return cuModuleLoadData(module, image);
}
static inline CUresult cuModuleLoadFatBinary(CUmodule* module, const void* image) {
  return cuModuleLoadData(module, image);
}
static inline CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return isomer_emulator_cu(isomer_emulator_module_function(function, module, name));
}
static inline CUresult cuModuleGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUmodule module,
                                         const char* name) {
  return isomer_emulator_cu(
      isomer_emulator_module_global(reinterpret_cast<void**>(address), bytes, module, name));
}
static inline CUresult cuModuleUnload(CUmodule module) {
  return isomer_emulator_cu(isomer_emulator_module_unload(module));
}
#include "driver_functions.h"
#include "driver_link.h"
