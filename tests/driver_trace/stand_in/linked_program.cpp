// A program that is linked to the driver.
#include <cuda.h>

int main() {
  const auto function = reinterpret_cast<CUfunction>(0x1000);
  CUdeviceptr x = 0x7f0000000100;
  int n = 5;
  float by = 0.5f;
  void* parameters[] = {&x, &n, &by};
  if (cuLaunchKernel(function, 4, 2, 1, 64, 1, 1, 256, nullptr, parameters, nullptr) != CUDA_SUCCESS)
    return 1;
  // Refused by the driver, and so no launch.
  if (cuLaunchKernel(function, 0, 1, 1, 64, 1, 1, 0, nullptr, parameters, nullptr) !=
      CUDA_ERROR_INVALID_VALUE)
    return 2;
  const auto capturing = reinterpret_cast<CUstream>(0x5);
  if (cuLaunchKernel(function, 4, 2, 1, 64, 1, 1, 0, capturing, parameters, nullptr) != CUDA_SUCCESS)
    return 3;
  if (cuGraphLaunch(reinterpret_cast<CUgraphExec>(0x2000), nullptr) != CUDA_SUCCESS) return 4;
  if (cuModuleUnload(reinterpret_cast<CUmodule>(0x3000)) != CUDA_SUCCESS) return 5;
  return cuLaunchCooperativeKernel(function, 2, 1, 1, 32, 1, 1, 0, nullptr, parameters) != CUDA_SUCCESS;
}
