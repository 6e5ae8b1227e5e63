#include "lab/launches/inject/cuda/cupti.hpp"

#include "lab/launches/inject/allocations.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace isomer::inject {
namespace {

constexpr const char* kNames[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.14", "libcupti.so"};
constexpr const char* kFolders[] = {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/extras/CUPTI/lib64/"};

/// The copy that the program has mapped, else the one that `isomer trace` found, else what the loader finds.
void* open_cupti() {
  for (const char* name : kNames)
    if (void* mapped = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return mapped;
  if (const char* path = std::getenv("ISOMER_CUPTI"))
    if (void* library = dlopen(path, RTLD_NOW)) return library;
  for (const char* folder : kFolders)
    for (const char* name : kNames)
      if (void* library = dlopen((std::string(folder) + name).c_str(), RTLD_NOW)) return library;
  return nullptr;
}

template <class Function>
bool find_function(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

/// The driver is asked for allocations that no call has told of.
bool around(std::uint64_t address, std::uint64_t& begin, std::uint64_t& bytes) {
  CUdeviceptr first = 0;
  std::size_t size = 0;
  if (calls().address_range == nullptr || calls().address_range(&first, &size, address) != CUDA_SUCCESS)
    return false;
  begin = first;
  bytes = size;
  return true;
}

}  // namespace

Calls& calls() {
  static Calls& only = *new Calls;
  return only;
}

std::string Calls::open() {
  void* cupti = open_cupti();
  if (cupti == nullptr)
    return "libcupti.so.13 or .12 is not on this machine: install CUDA's cuda-cupti package or the wheel "
           "nvidia-cuda-cupti, or name the file in ISOMER_CUPTI";
  find_function(cupti, "cuptiSubscribe_v2", subscribe_v2);
  find_function(cupti, "cuptiActivityFlushPeriod", activity_period);
  find_function(cupti, "cuptiGetGraphNodeId", graph_node_id);
  find_function(cupti, "cuptiGetResultString", result_string);
  const bool whole = find_function(cupti, "cuptiSubscribe", subscribe) &&
                     find_function(cupti, "cuptiEnableCallback", enable_callback) &&
                     find_function(cupti, "cuptiEnableDomain", enable_domain) &&
                     find_function(cupti, "cuptiActivityEnable", activity_enable) &&
                     find_function(cupti, "cuptiActivityRegisterCallbacks", activity_register) &&
                     find_function(cupti, "cuptiActivityGetNextRecord", activity_next) &&
                     find_function(cupti, "cuptiActivityGetNumDroppedRecords", activity_dropped) &&
                     find_function(cupti, "cuptiActivityFlushAll", activity_flush) &&
                     find_function(cupti, "cuptiGetVersion", version);
  if (!whole) return "this libcupti lacks functions that CUDA 11's already has";
  return open_driver(true);
}

std::string Calls::open_driver(bool calls_are_heard) {
  void* driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (driver == nullptr) return "libcuda.so.1 is not on this machine";
  find_function(driver, "cuDriverGetVersion", driver_version);
  find_function(driver, "cuCtxGetDevice", current_device);
  find_function(driver, "cuDeviceGetName", device_name);
  find_function(driver, "cuFuncGetModule", function_module);
  find_function(driver, "cuFuncGetAttribute", function_attribute);
  find_function(driver, "cuFuncGetParamInfo", function_parameter);
  find_function(driver, "cuFuncGetName", function_name);
  find_function(driver, "cuKernelGetParamInfo", kernel_parameter);
  find_function(driver, "cuKernelGetFunction", kernel_function);
  find_function(driver, "cuKernelGetName", kernel_name);
  find_function(driver, "cuMemGetAddressRange_v2", address_range);
  find_function(driver, "cuGraphGetNodes", graph_nodes);
  find_function(driver, "cuGraphNodeGetType", node_type);
  find_function(driver, "cuGraphGetEdges", graph_edges);
  find_function(driver, "cuStreamIsCapturing", is_capturing);
  find_function(driver, "cuStreamIsCapturing_ptsz", is_capturing_of_thread);
  allocations().ask(around, !calls_are_heard);
  return {};
}

}  // namespace isomer::inject
