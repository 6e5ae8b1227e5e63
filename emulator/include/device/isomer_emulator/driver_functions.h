// What the driver API says of a function and sets for it, and its names for what the runtime has under others.
#pragma once

// Included by driver.h.

enum CUfunction_attribute {
  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0,
  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
  CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2,
  CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3,
  CU_FUNC_ATTRIBUTE_NUM_REGS = 4,
  CU_FUNC_ATTRIBUTE_PTX_VERSION = 5,
  CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6,
  CU_FUNC_ATTRIBUTE_CACHE_MODE_CA = 7,
  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
  CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9
};
enum CUfunc_cache {
  CU_FUNC_CACHE_PREFER_NONE = 0,
  CU_FUNC_CACHE_PREFER_SHARED = 1,
  CU_FUNC_CACHE_PREFER_L1 = 2,
  CU_FUNC_CACHE_PREFER_EQUAL = 3
};
enum CUsharedconfig {
  CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE = 0,
  CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE = 1,
  CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE = 2
};
enum CUjit_option {
  CU_JIT_MAX_REGISTERS = 0,
  CU_JIT_THREADS_PER_BLOCK = 1,
  CU_JIT_WALL_TIME = 2,
  CU_JIT_INFO_LOG_BUFFER = 3,
  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES = 4,
  CU_JIT_ERROR_LOG_BUFFER = 5,
  CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6,
  CU_JIT_OPTIMIZATION_LEVEL = 7,
  CU_JIT_TARGET_FROM_CUCONTEXT = 8,
  CU_JIT_TARGET = 9,
  CU_JIT_FALLBACK_STRATEGY = 10,
  CU_JIT_GENERATE_DEBUG_INFO = 11,
  CU_JIT_LOG_VERBOSE = 12,
  CU_JIT_GENERATE_LINE_INFO = 13,
  CU_JIT_CACHE_MODE = 14
};
enum { CU_EVENT_DEFAULT = 0, CU_EVENT_BLOCKING_SYNC = 1, CU_EVENT_DISABLE_TIMING = 2, CU_STREAM_DEFAULT = 0, CU_STREAM_NON_BLOCKING = 1 };
enum { CU_MEMHOSTALLOC_PORTABLE = 1, CU_MEMHOSTALLOC_DEVICEMAP = 2, CU_MEMHOSTALLOC_WRITECOMBINED = 4 };
enum { CU_CTX_SCHED_YIELD = 2, CU_CTX_BLOCKING_SYNC = 4, CU_CTX_LMEM_RESIZE_TO_MAX = 16 };
enum { CU_MEM_ATTACH_GLOBAL = 1, CU_MEM_ATTACH_HOST = 2, CU_MEM_ATTACH_SINGLE = 4 };
enum { CU_COMPUTEMODE_DEFAULT = 0, CU_COMPUTEMODE_PROHIBITED = 2, CU_COMPUTEMODE_EXCLUSIVE_PROCESS = 3 };

static inline CUresult cuFuncGetAttribute(int* value, CUfunction_attribute what, CUfunction function) {
  cudaFuncAttributes all;
  if (const auto e = cudaFuncGetAttributes(&all, function)) return isomer_emulator_cu(e);
  return isomer_emulator_attribute(all, what, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
static inline CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute what, int value) {
  return isomer_emulator_cu(cudaFuncSetAttribute(function, static_cast<cudaFuncAttribute>(what), value));
}
static inline CUresult cuFuncSetCacheConfig(CUfunction, CUfunc_cache) { return CUDA_SUCCESS; }
static inline CUresult cuFuncSetSharedMemConfig(CUfunction, CUsharedconfig) { return CUDA_SUCCESS; }
static inline CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function, int threads,
                                                                   std::size_t shared) {
  return isomer_emulator_cu(cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, threads, shared));
}
typedef std::size_t (*CUoccupancyB2DSize)(int threads);
static inline CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                                        CUoccupancyB2DSize bytes_of, std::size_t shared,
                                                        int limit) {
  if (bytes_of == nullptr)
    return isomer_emulator_cu(cudaOccupancyMaxPotentialBlockSize(grid, block, function, shared, limit));
  return isomer_emulator_cu(cudaOccupancyMaxPotentialBlockSizeVariableSMem(grid, block, function, bytes_of, limit));
}

static inline CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t bytes) {
  return isomer_emulator_cu(
      cudaMemcpy(isomer_emulator_pointer(to), isomer_emulator_pointer(from), bytes, cudaMemcpyDefault));
}
static inline CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, CUstream s) {
  return isomer_emulator_cu(cudaMemcpyAsync(isomer_emulator_pointer(to), isomer_emulator_pointer(from), bytes,
                                            cudaMemcpyDeviceToDevice, s));
}
static inline CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, std::size_t count) {
  return isomer_emulator_cu(
      isomer_emulator_set_elements(isomer_emulator_pointer(to), 2 * count, value, 2, count, 1));
}
static inline CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream s) {
  return isomer_emulator_cu(cudaMemsetAsync(isomer_emulator_pointer(to), value, count, s));
}
static inline CUresult cuMemAllocPitch(CUdeviceptr* out, std::size_t* pitch, std::size_t width,
                                       std::size_t height, unsigned) {
  void* p = nullptr;
  const auto e = cudaMallocPitch(&p, pitch, width, height);
  *out = reinterpret_cast<CUdeviceptr>(p);
  return isomer_emulator_cu(e);
}
static inline CUresult cuMemHostGetDevicePointer(CUdeviceptr* out, void* host, unsigned flags) {
  void* p = nullptr;
  const auto e = cudaHostGetDevicePointer(&p, host, flags);
  *out = reinterpret_cast<CUdeviceptr>(p);
  return isomer_emulator_cu(e);
}
static inline CUresult cuMemHostRegister(void* p, std::size_t bytes, unsigned flags) {
  return isomer_emulator_cu(cudaHostRegister(p, bytes, flags));
}
static inline CUresult cuMemHostUnregister(void* p) { return isomer_emulator_cu(cudaHostUnregister(p)); }
static inline CUresult cuCtxGetApiVersion(CUcontext, unsigned* version) {
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
static inline CUresult cuProfilerStart() { return CUDA_SUCCESS; }
static inline CUresult cuProfilerStop() { return CUDA_SUCCESS; }
