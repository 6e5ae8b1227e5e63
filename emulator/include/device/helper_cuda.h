// What CUDA's samples, and the programs that began as one, check their calls with.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "cuda_runtime.h"
#include "helper_string.h"

#ifndef MAX
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#endif
#ifndef MIN
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#endif

inline const char* _cudaGetErrorEnum(cudaError_t error) { return cudaGetErrorName(error); }
template <class Status>
const char* _cudaGetErrorEnum(Status) {
  return "an error of a library";
}

template <class Status>
void check(Status status, const char* call, const char* file, int line) {
  if (static_cast<int>(status) == 0) return;
  std::fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\"\n", file, line, static_cast<int>(status),
               _cudaGetErrorEnum(status), call);
  std::exit(EXIT_FAILURE);
}
#define checkCudaErrors(call) check((call), #call, __FILE__, __LINE__)

inline void __getLastCudaError(const char* message, const char* file, int line, bool ends = true) {
  const cudaError_t error = cudaGetLastError();
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s(%i) : CUDA error: %s : (%d) %s.\n", file, line, message, static_cast<int>(error),
               cudaGetErrorString(error));
  if (ends) std::exit(EXIT_FAILURE);
}
inline void __printLastCudaError(const char* message, const char* file, int line) {
  __getLastCudaError(message, file, line, false);
}
#define getLastCudaError(message) __getLastCudaError(message, __FILE__, __LINE__)
#define printLastCudaError(message) __printLastCudaError(message, __FILE__, __LINE__)

inline int ftoi(float value) { return static_cast<int>(value >= 0 ? value + 0.5f : value - 0.5f); }

inline int _ConvertSMVer2Cores(int major, int) { return major >= 6 ? 128 : 192; }
inline const char* _ConvertSMVer2ArchName(int, int) { return "emulated"; }

inline int gpuDeviceInit(int device) {
  checkCudaErrors(cudaSetDevice(device < 0 ? 0 : device));
  return device < 0 ? 0 : device;
}
inline int gpuGetMaxGflopsDeviceId() { return 0; }
inline int findCudaDevice(int count, const char** words) {
  const int device = checkCmdLineFlag(count, words, "device") ? getCmdLineArgumentInt(count, words, "device") : 0;
  return gpuDeviceInit(device);
}
inline int findIntegratedGPU() { return -1; }
inline bool checkCudaCapabilities(int major, int minor) {
  cudaDeviceProp p;
  checkCudaErrors(cudaGetDeviceProperties(&p, 0));
  return p.major > major || (p.major == major && p.minor >= minor);
}
