#include "lab/launches/inject/cuda/launches.hpp"

#include "lab/launches/inject/allocations.hpp"
#include "lab/launches/inject/cuda/executables.hpp"
#include "lab/launches/inject/cuda/functions.hpp"
#include "lab/launches/inject/cuda/graphs.hpp"
#include "lab/launches/inject/cuda/modules.hpp"
#include "lab/launches/inject/cuda/staged.hpp"
#include "lab/launches/inject/output.hpp"
#include "lab/launches/inject/recording.hpp"

#include <atomic>

namespace isomer::inject {
namespace {

#define HEARD(call) CUPTI_DRIVER_TRACE_CBID_##call

/// The driver call that this thread is in. Its callbacks do not nest.
struct Call {
  bool launching = false;
  std::uint64_t node = 0;  ///< a stream capture has made this node of the launch
  std::string json;
  std::uint64_t modules_before = 0;
};
thread_local Call call;

std::atomic<std::uint64_t> recorded{0};

/// The launch that a call makes; false where it makes none.
bool stage(CUpti_CallbackId id, const void* parameters, Staged& staged) {
  switch (id) {
    case HEARD(cuLaunchKernel):
    case HEARD(cuLaunchKernel_ptsz): {
      const auto& launch = *static_cast<const cuLaunchKernel_params*>(parameters);
      staged = Staged::of(launch);
      staged.function = launch.f;
      staged.parameters = launch.kernelParams;
      staged.extra = launch.extra;
      return true;
    }
    case HEARD(cuLaunchKernelEx):
    case HEARD(cuLaunchKernelEx_ptsz): {
      const auto& launch = *static_cast<const cuLaunchKernelEx_params*>(parameters);
      if (launch.config == nullptr) return false;
      staged = Staged::of(*launch.config);
      staged.take_attributes(*launch.config);
      staged.function = launch.f;
      staged.parameters = launch.kernelParams;
      staged.extra = launch.extra;
      return true;
    }
    case HEARD(cuLaunchCooperativeKernel):
    case HEARD(cuLaunchCooperativeKernel_ptsz): {
      const auto& launch = *static_cast<const cuLaunchCooperativeKernel_params*>(parameters);
      staged = Staged::of(launch);
      staged.function = launch.f;
      staged.parameters = launch.kernelParams;
      staged.cooperative = true;
      return true;
    }
    default:
      return false;
  }
}

/// Memory came or went, well.
bool heard_memory(CUpti_CallbackId id, const void* parameters) {
  const auto add = [](const CUdeviceptr* address, std::size_t bytes) {
    if (address != nullptr) allocations().add(*address, bytes);
    return true;
  };
  const auto remove = [](std::uint64_t address) {
    allocations().remove(address);
    return true;
  };
  switch (id) {
    case HEARD(cuMemAlloc_v2): {
      const auto& made = *static_cast<const cuMemAlloc_v2_params*>(parameters);
      return add(made.dptr, made.bytesize);
    }
    case HEARD(cuMemAllocPitch_v2): {
      const auto& made = *static_cast<const cuMemAllocPitch_v2_params*>(parameters);
      return add(made.dptr, made.pPitch == nullptr ? 0 : *made.pPitch * made.Height);
    }
    case HEARD(cuMemAllocManaged): {
      const auto& made = *static_cast<const cuMemAllocManaged_params*>(parameters);
      return add(made.dptr, made.bytesize);
    }
    case HEARD(cuMemAllocAsync):
    case HEARD(cuMemAllocAsync_ptsz): {
      const auto& made = *static_cast<const cuMemAllocAsync_params*>(parameters);
      return add(made.dptr, made.bytesize);
    }
    case HEARD(cuMemAllocFromPoolAsync):
    case HEARD(cuMemAllocFromPoolAsync_ptsz): {
      const auto& made = *static_cast<const cuMemAllocFromPoolAsync_params*>(parameters);
      return add(made.dptr, made.bytesize);
    }
    case HEARD(cuMemAddressReserve): {
      const auto& made = *static_cast<const cuMemAddressReserve_params*>(parameters);
      return add(made.ptr, made.size);
    }
    case HEARD(cuMemFree_v2):
      return remove(static_cast<const cuMemFree_v2_params*>(parameters)->dptr);
    case HEARD(cuMemFreeAsync):
    case HEARD(cuMemFreeAsync_ptsz):
      return remove(static_cast<const cuMemFreeAsync_params*>(parameters)->dptr);
    case HEARD(cuMemAddressFree):
      return remove(static_cast<const cuMemAddressFree_params*>(parameters)->ptr);
    default:
      return false;
  }
}

/// A module was loaded into a handle. The four calls' parameters begin alike.
bool heard_module(CUpti_CallbackId id, const void* parameters) {
  switch (id) {
    case HEARD(cuModuleLoad):
    case HEARD(cuModuleLoadData):
    case HEARD(cuModuleLoadDataEx):
    case HEARD(cuModuleLoadFatBinary): {
      const auto& loaded = *static_cast<const cuModuleLoadData_params*>(parameters);
      if (loaded.module != nullptr) module_loaded(*loaded.module, call.modules_before);
      return true;
    }
    default:
      return false;
  }
}

void tell_device_once() {
  static std::atomic<bool> told{false};
  if (told.exchange(true, std::memory_order_relaxed)) return;
  CUdevice device = 0;
  char name[256] = {};
  if (calls().current_device != nullptr && calls().device_name != nullptr &&
      calls().current_device(&device) == CUDA_SUCCESS &&
      calls().device_name(name, sizeof name - 1, device) == CUDA_SUCCESS)
    fact("device", name);
}

void begin(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  call.launching = false;
  call.node = 0;
  call.modules_before = Modules::count();
  copies_begin();
  Staged staged;
  if (!stage(id, data.functionParams, staged)) return;
  tell_device_once();
  call.json = staged.json(data.symbolName);
  call.launching = true;
}

void end_launch(const CUpti_CallbackData& data) {
  call.launching = false;
  if (call.node != 0) return Line("node", call.node).yes("captured").raw(call.json).write();
  recorded.fetch_add(1, std::memory_order_relaxed);
  Line("launch", data.correlationId).yes("later").number("thread", thread_id()).raw(call.json).write();
}

}  // namespace

const std::vector<CUpti_CallbackId>& heard_calls() {
  static const std::vector<CUpti_CallbackId> ids = {HEARD(cuLaunchKernel),
                                                    HEARD(cuLaunchKernel_ptsz),
                                                    HEARD(cuLaunchKernelEx),
                                                    HEARD(cuLaunchKernelEx_ptsz),
                                                    HEARD(cuLaunchCooperativeKernel),
                                                    HEARD(cuLaunchCooperativeKernel_ptsz),
                                                    HEARD(cuGraphLaunch),
                                                    HEARD(cuGraphLaunch_ptsz),
                                                    HEARD(cuGraphAddKernelNode),
                                                    HEARD(cuGraphAddKernelNode_v2),
                                                    HEARD(cuGraphAddNode),
                                                    HEARD(cuGraphAddNode_v2),
                                                    HEARD(cuGraphKernelNodeSetParams_v2),
                                                    HEARD(cuGraphKernelNodeSetParams),
                                                    HEARD(cuGraphNodeSetParams),
                                                    HEARD(cuGraphExecKernelNodeSetParams),
                                                    HEARD(cuGraphExecKernelNodeSetParams_v2),
                                                    HEARD(cuGraphExecNodeSetParams),
                                                    HEARD(cuGraphExecUpdate),
                                                    HEARD(cuGraphExecUpdate_v2),
                                                    HEARD(cuGraphInstantiate),
                                                    HEARD(cuGraphInstantiate_v2),
                                                    HEARD(cuGraphInstantiateWithFlags),
                                                    HEARD(cuGraphInstantiateWithParams),
                                                    HEARD(cuGraphInstantiateWithParams_ptsz),
                                                    HEARD(cuGraphExecDestroy),
                                                    HEARD(cuMemAlloc_v2),
                                                    HEARD(cuMemAllocPitch_v2),
                                                    HEARD(cuMemAllocManaged),
                                                    HEARD(cuMemAllocAsync),
                                                    HEARD(cuMemAllocAsync_ptsz),
                                                    HEARD(cuMemAllocFromPoolAsync),
                                                    HEARD(cuMemAllocFromPoolAsync_ptsz),
                                                    HEARD(cuMemAddressReserve),
                                                    HEARD(cuMemFree_v2),
                                                    HEARD(cuMemFreeAsync),
                                                    HEARD(cuMemFreeAsync_ptsz),
                                                    HEARD(cuMemAddressFree),
                                                    HEARD(cuModuleLoad),
                                                    HEARD(cuModuleLoadData),
                                                    HEARD(cuModuleLoadDataEx),
                                                    HEARD(cuModuleLoadFatBinary)};
  return ids;
}

void heard(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  if (data.callbackSite == CUPTI_API_ENTER) return begin(id, data);
  const auto* result = static_cast<const CUresult*>(data.functionReturnValue);
  const bool well = result == nullptr || *result == CUDA_SUCCESS;
  const bool launching = call.launching;
  call.launching = false;
  if (!well) return;
  if (launching) return end_launch(data);
  if (heard_memory(id, data.functionParams) || heard_module(id, data.functionParams)) return;
  heard_graph(id, data);
}

const std::vector<CUpti_CallbackId>& heard_resources() {
  static const std::vector<CUpti_CallbackId> ids = {
      CUPTI_CBID_RESOURCE_MODULE_LOADED, CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING,
      CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};
  return ids;
}

void heard_resource(CUpti_CallbackId id, const CUpti_ResourceData& data) {
  if (data.resourceDescriptor == nullptr) return;
  if (id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    const auto& module = *static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor);
    modules().loaded(module.moduleId, module.pCubin, module.cubinSize);
  } else if (id == CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING) {
    modules().unloading(static_cast<const CUpti_ModuleResourceData*>(data.resourceDescriptor)->moduleId);
    forget_functions();
  } else {
    const auto& graph = *static_cast<const CUpti_GraphData*>(data.resourceDescriptor);
    if (graph.nodeType != CU_GRAPH_NODE_TYPE_KERNEL) return;
    if (id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED) return heard_clone(graph);
    if (call.launching) call.node = number_of(graph.node);
  }
}

std::uint64_t recorded_launches() { return recorded.load(std::memory_order_relaxed); }

}  // namespace isomer::inject
