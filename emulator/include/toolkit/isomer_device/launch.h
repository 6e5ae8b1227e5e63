// A bare kernel on a real device, launched by the runtime that the source is compiled with.
#pragma once

#if defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define ISOMER_DEVICE_API(NAME) hip##NAME
#define ISOMER_DEVICE_PROPERTIES hipDeviceProp_t
#else
#include <cuda_runtime.h>
#define ISOMER_DEVICE_API(NAME) cuda##NAME
#define ISOMER_DEVICE_PROPERTIES cudaDeviceProp
#endif

#include "../../device/isomer_emulator/entries_abi.h"

namespace isomer::emulator {

template <class... P>
struct DeviceLauncher {
  const CallLaunch& launch;
  void (*function)(P...);

  void operator()(P... arguments) const {
    const void* kernel = reinterpret_cast<const void*>(function);
    void* addresses[] = {const_cast<void*>(reinterpret_cast<const volatile void*>(&arguments))..., nullptr};
    // More than that a launch has to ask for, and whoever launches this kernel would.
    constexpr std::uint64_t kUnasked = 48 << 10;
    if (launch.shared_bytes > kUnasked)
      static_cast<void>(ISOMER_DEVICE_API(FuncSetAttribute)(
          kernel, ISOMER_DEVICE_API(FuncAttributeMaxDynamicSharedMemorySize),
          static_cast<int>(launch.shared_bytes)));
    // What a refused launch says is asked for after the call.
    static_cast<void>(ISOMER_DEVICE_API(LaunchKernel)(
        kernel, dim3(launch.grid[0], launch.grid[1], launch.grid[2]),
        dim3(launch.block[0], launch.block[1], launch.block[2]), addresses, launch.shared_bytes, nullptr));
  }
};

template <class... P>
DeviceLauncher<P...> launcher_of(const CallLaunch& launch, void (*function)(P...)) {
  return {launch, function};
}

}  // namespace isomer::emulator
