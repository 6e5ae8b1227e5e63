// A program that finds the driver while it runs, as CUDA's runtime does.
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstring>

namespace {

template <class Function>
Function look(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

int main(int count, char** words) {
  // Nobody has loaded a driver yet.
  if (dlsym(RTLD_DEFAULT, "cuLaunchKernel") != nullptr) return 11;
  // Other look-ups are what they were: of the C library, of a name that is nobody's, and behind the caller.
  if (dlsym(RTLD_DEFAULT, "getpid") == nullptr || dlsym(RTLD_DEFAULT, "cuNobodys") != nullptr) return 12;
  if (getppid() != 1) return 13;
  if (count > 1 && std::strcmp(words[1], "no-driver") == 0) return 0;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) return 14;
  const auto function = reinterpret_cast<CUfunction>(0x1000);
  CUdeviceptr x = 0x7f0000000100;
  int n = 7;
  float by = 0.5f;
  void* parameters[] = {&x, &n, &by};

  const auto plain = look<decltype(&cuLaunchKernel)>(library, "cuLaunchKernel");
  if (plain(function, 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr) != CUDA_SUCCESS) return 15;

  using Find = CUresult (*)(const char*, void**, int, cuuint64_t, CUdriverProcAddressQueryResult*);
  auto find = look<Find>(library, "cuGetProcAddress_v2");
  void* again = nullptr;
  if (find("cuGetProcAddress", &again, 12000, 0, nullptr) != CUDA_SUCCESS) return 16;
  find = reinterpret_cast<Find>(again);
  void* found = nullptr;
  if (find("cuNobodys", &found, 12000, 0, nullptr) != CUDA_ERROR_NOT_FOUND || found != nullptr) return 17;
  if (find("cuDriverGetVersion", &found, 12000, 0, nullptr) != CUDA_SUCCESS) return 18;
  int version = 0;
  if (reinterpret_cast<CUresult (*)(int*)>(found)(&version) != CUDA_SUCCESS || version != 13000) return 19;
  if (find("cuLaunchKernelEx", &found, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr) !=
      CUDA_SUCCESS)
    return 20;
  CUlaunchAttribute cluster{};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim = {2, 1, 1};
  CUlaunchConfig config{};
  config.gridDimX = 8, config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = 128, config.blockDimY = config.blockDimZ = 1;
  config.attrs = &cluster;
  config.numAttrs = 1;
  const auto by_config = reinterpret_cast<decltype(&cuLaunchKernelEx)>(found);
  return by_config(&config, function, parameters, nullptr) != CUDA_SUCCESS;
}
