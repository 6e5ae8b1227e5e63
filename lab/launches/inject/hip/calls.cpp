#include "lab/launches/inject/hip/calls.hpp"

#include "lab/launches/inject/allocations.hpp"

namespace isomer::inject {
namespace {

#define CALL(name) ROCPROFILER_HIP_RUNTIME_API_ID_##name

/// hipLaunchKernelExC and hipDrvLaunchKernelEx came with ROCm 6.4.
#if HIP_RUNTIME_API_TABLE_STEP_VERSION >= 11
#define ISOMER_HIP_LAUNCHES_BY_CONFIG
#endif

template <class Triple>
void set(std::uint32_t (&to)[3], const Triple& from) {
  to[0] = from.x, to[1] = from.y, to[2] = from.z;
}

template <class Handle>
std::uint64_t number(Handle handle) {
  return reinterpret_cast<std::uintptr_t>(handle);
}

/// hipLaunchKernel and those whose arguments it shares.
template <class Arguments>
bool host_launch(const Arguments& from, HipCall& launch) {
  launch.function = from.function_address;
  set(launch.grid, from.numBlocks);
  set(launch.block, from.dimBlocks);
  launch.parameters = from.args;
  launch.stream = number(from.stream);
  return true;
}

template <class Arguments>
bool module_launch(const Arguments& from, HipCall& launch) {
  launch.function = from.func;
  launch.grid[0] = from.gridDimX, launch.grid[1] = from.gridDimY, launch.grid[2] = from.gridDimZ;
  launch.block[0] = from.blockDimX, launch.block[1] = from.blockDimY, launch.block[2] = from.blockDimZ;
  launch.parameters = from.kernelParams;
  launch.stream = number(from.stream);
  return true;
}

bool graph_launch(std::uint64_t stream, HipCall& launch) {
  launch.graph = true;
  launch.stream = stream;
  return true;
}

}  // namespace

const std::vector<rocprofiler_tracing_operation_t>& heard_hip_calls() {
  static const std::vector<rocprofiler_tracing_operation_t> calls = {CALL(hipLaunchKernel),
                                                                     CALL(hipLaunchKernel_spt),
                                                                     CALL(hipExtLaunchKernel),
                                                                     CALL(hipLaunchCooperativeKernel),
                                                                     CALL(hipLaunchCooperativeKernel_spt),
                                                                     CALL(hipModuleLaunchKernel),
                                                                     CALL(hipModuleLaunchCooperativeKernel),
                                                                     CALL(hipExtModuleLaunchKernel),
#ifdef ISOMER_HIP_LAUNCHES_BY_CONFIG
                                                                     CALL(hipLaunchKernelExC),
                                                                     CALL(hipDrvLaunchKernelEx),
#endif
                                                                     CALL(hipGraphLaunch),
                                                                     CALL(hipGraphLaunch_spt),
                                                                     CALL(hipModuleGetFunction),
                                                                     CALL(hipMalloc),
                                                                     CALL(hipExtMallocWithFlags),
                                                                     CALL(hipMallocManaged),
                                                                     CALL(hipMallocAsync),
                                                                     CALL(hipMallocFromPoolAsync),
                                                                     CALL(hipMallocPitch),
                                                                     CALL(hipMemAddressReserve),
                                                                     CALL(hipFree),
                                                                     CALL(hipFreeAsync),
                                                                     CALL(hipMemAddressFree)};
  return calls;
}

bool launch_of(rocprofiler_tracing_operation_t call, const rocprofiler_hip_api_args_t& arguments,
               HipCall& launch) {
  switch (call) {
    case CALL(hipLaunchKernel):
      return host_launch(arguments.hipLaunchKernel, launch);
    case CALL(hipLaunchKernel_spt):
      return host_launch(arguments.hipLaunchKernel_spt, launch);
    case CALL(hipExtLaunchKernel):
      return host_launch(arguments.hipExtLaunchKernel, launch);
    case CALL(hipLaunchCooperativeKernel): {
      const auto& from = arguments.hipLaunchCooperativeKernel;
      launch.function = from.func;
      set(launch.grid, from.gridDim);
      set(launch.block, from.blockDimX);
      launch.parameters = from.kernelParams;
      launch.stream = number(from.stream);
      return launch.cooperative = true;
    }
    case CALL(hipLaunchCooperativeKernel_spt): {
      const auto& from = arguments.hipLaunchCooperativeKernel_spt;
      launch.function = from.func;
      set(launch.grid, from.gridDim);
      set(launch.block, from.blockDim);
      launch.parameters = from.kernelParams;
      launch.stream = number(from.stream);
      return launch.cooperative = true;
    }
    case CALL(hipModuleLaunchKernel):
      launch.extra = arguments.hipModuleLaunchKernel.extra;
      return module_launch(arguments.hipModuleLaunchKernel, launch);
    case CALL(hipModuleLaunchCooperativeKernel):
      launch.cooperative = true;
      return module_launch(arguments.hipModuleLaunchCooperativeKernel, launch);
    case CALL(hipExtModuleLaunchKernel): {
      const auto& from = arguments.hipExtModuleLaunchKernel;
      launch.function = from.func;
      launch.grid[0] = from.globalWorkSizeX, launch.grid[1] = from.globalWorkSizeY,
      launch.grid[2] = from.globalWorkSizeZ;
      launch.block[0] = from.localWorkSizeX, launch.block[1] = from.localWorkSizeY,
      launch.block[2] = from.localWorkSizeZ;
      launch.grid_in_work_items = true;
      launch.parameters = from.kernelParams;
      launch.extra = from.extra;
      launch.stream = number(from.stream);
      return true;
    }
#ifdef ISOMER_HIP_LAUNCHES_BY_CONFIG
    case CALL(hipLaunchKernelExC): {
      const auto& from = arguments.hipLaunchKernelExC;
      if (from.config == nullptr) return false;
      launch.function = from.fPtr;
      set(launch.grid, from.config->gridDim);
      set(launch.block, from.config->blockDim);
      launch.parameters = from.args;
      launch.stream = number(from.config->stream);
      return true;
    }
    case CALL(hipDrvLaunchKernelEx): {
      const auto& from = arguments.hipDrvLaunchKernelEx;
      if (from.config == nullptr) return false;
      const auto& config = *from.config;
      launch.function = from.f;
      launch.grid[0] = config.gridDimX, launch.grid[1] = config.gridDimY, launch.grid[2] = config.gridDimZ;
      launch.block[0] = config.blockDimX, launch.block[1] = config.blockDimY,
      launch.block[2] = config.blockDimZ;
      launch.parameters = from.params;
      launch.extra = from.extra;
      launch.stream = number(config.hStream);
      return true;
    }
#endif
    case CALL(hipGraphLaunch):
      return graph_launch(number(arguments.hipGraphLaunch.stream), launch);
    case CALL(hipGraphLaunch_spt):
      return graph_launch(number(arguments.hipGraphLaunch_spt.stream), launch);
    default:
      return false;
  }
}

void heard_hip(rocprofiler_tracing_operation_t call, const rocprofiler_hip_api_args_t& arguments,
               HipRecorder& recorder) {
  const auto add = [](void** address, std::uint64_t bytes) {
    if (address != nullptr) allocations().add(number(*address), bytes);
  };
  switch (call) {
    case CALL(hipModuleGetFunction): {
      const auto& found = arguments.hipModuleGetFunction;
      if (found.function != nullptr && found.kname != nullptr) recorder.named(*found.function, found.kname);
      return;
    }
    case CALL(hipMalloc):
      return add(arguments.hipMalloc.ptr, arguments.hipMalloc.size);
    case CALL(hipExtMallocWithFlags):
      return add(arguments.hipExtMallocWithFlags.ptr, arguments.hipExtMallocWithFlags.sizeBytes);
    case CALL(hipMallocManaged):
      return add(arguments.hipMallocManaged.dev_ptr, arguments.hipMallocManaged.size);
    case CALL(hipMallocAsync):
      return add(arguments.hipMallocAsync.dev_ptr, arguments.hipMallocAsync.size);
    case CALL(hipMallocFromPoolAsync):
      return add(arguments.hipMallocFromPoolAsync.dev_ptr, arguments.hipMallocFromPoolAsync.size);
    case CALL(hipMallocPitch): {
      const auto& made = arguments.hipMallocPitch;
      return add(made.ptr, made.pitch == nullptr ? 0 : *made.pitch * made.height);
    }
    case CALL(hipMemAddressReserve):
      return add(arguments.hipMemAddressReserve.ptr, arguments.hipMemAddressReserve.size);
    case CALL(hipFree):
      return allocations().remove(number(arguments.hipFree.ptr));
    case CALL(hipFreeAsync):
      return allocations().remove(number(arguments.hipFreeAsync.dev_ptr));
    case CALL(hipMemAddressFree):
      return allocations().remove(number(arguments.hipMemAddressFree.devPtr));
    default:
      return;
  }
}

}  // namespace isomer::inject
