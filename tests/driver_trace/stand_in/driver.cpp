// A driver with one kernel, scale(float* x, int n, float by), which takes launches and makes none.
#include <cuda.h>

#include <cstring>
#include <string>

#undef cuGetProcAddress

extern "C" {
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra);
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction f, void** parameters, void** extra);

CUresult cuDriverGetVersion(int* version) {
  *version = 13000;
  return CUDA_SUCCESS;
}

/// A handle comes back as another kernel's once its module is gone.
static bool unloaded = false;
CUresult cuModuleUnload(CUmodule) {
  unloaded = true;
  return CUDA_SUCCESS;
}

CUresult cuFuncGetName(const char** name, CUfunction) {
  *name = unloaded ? "_Z5otherPfif" : "_Z5scalePfif";
  return CUDA_SUCCESS;
}

CUresult cuFuncGetParamInfo(CUfunction, std::size_t index, std::size_t* offset, std::size_t* size) {
  const std::size_t offsets[] = {0, 8, 12}, sizes[] = {8, 4, 4};
  if (index >= 3) return CUDA_ERROR_INVALID_VALUE;
  *offset = offsets[index];
  *size = sizes[index];
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  *value = attribute == CU_FUNC_ATTRIBUTE_NUM_REGS ? 24 : 0;
  return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, std::size_t* bytes, CUdeviceptr address) {
  constexpr CUdeviceptr kBegin = 0x7f0000000000;
  if (address < kBegin || address >= kBegin + 4096) return CUDA_ERROR_INVALID_VALUE;
  *begin = kBegin;
  *bytes = 4096;
  return CUDA_SUCCESS;
}

/// The stream 0x5 is in a graph's capture.
CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  const bool capturing = stream == reinterpret_cast<CUstream>(0x5);
  *status = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}
CUresult cuStreamIsCapturing_ptsz(CUstream stream, CUstreamCaptureStatus* status) {
  return cuStreamIsCapturing(stream, status);
}

CUresult cuLaunchKernel(CUfunction, unsigned gx, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        CUstream, void**, void**) {
  return gx == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
CUresult cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                             unsigned bz, unsigned shared, CUstream stream, void** parameters, void** extra) {
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra);
}
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }
CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig*, CUfunction, void**, void**) { return CUDA_SUCCESS; }
CUresult cuLaunchCooperativeKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, CUstream, void**) {
  return CUDA_SUCCESS;
}
CUresult cuGraphLaunch(CUgraphExec, CUstream) { return CUDA_SUCCESS; }

CUresult cuGetProcAddress_v2(const char* symbol, void** found, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  const std::string name = symbol;
  const bool of_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  *found = nullptr;
  if (name == "cuLaunchKernel")
    *found =
        of_thread ? reinterpret_cast<void*>(&cuLaunchKernel_ptsz) : reinterpret_cast<void*>(&cuLaunchKernel);
  if (name == "cuLaunchKernelEx")
    *found = of_thread ? reinterpret_cast<void*>(&cuLaunchKernelEx_ptsz)
                       : reinterpret_cast<void*>(&cuLaunchKernelEx);
  if (name == "cuLaunchCooperativeKernel") *found = reinterpret_cast<void*>(&cuLaunchCooperativeKernel);
  if (name == "cuGetProcAddress") *found = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  if (name == "cuDriverGetVersion") *found = reinterpret_cast<void*>(&cuDriverGetVersion);
  if (status != nullptr)
    *status = *found != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return *found != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
}
