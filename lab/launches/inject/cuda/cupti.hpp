#pragma once

#include <cupti.h>

#include <string>

namespace isomer::inject {

/// CUPTI and the driver as they are in this process: opened by name, so that the program's own copy serves.
/// What an older one lacks is null.
struct Calls {
  decltype(&::cuptiSubscribe) subscribe = nullptr;
  decltype(&::cuptiSubscribe_v2) subscribe_v2 = nullptr;
  decltype(&::cuptiEnableCallback) enable_callback = nullptr;
  decltype(&::cuptiEnableDomain) enable_domain = nullptr;
  decltype(&::cuptiActivityEnable) activity_enable = nullptr;
  decltype(&::cuptiActivityRegisterCallbacks) activity_register = nullptr;
  decltype(&::cuptiActivityGetNextRecord) activity_next = nullptr;
  decltype(&::cuptiActivityGetNumDroppedRecords) activity_dropped = nullptr;
  decltype(&::cuptiActivityFlushAll) activity_flush = nullptr;
  decltype(&::cuptiActivityFlushPeriod) activity_period = nullptr;
  decltype(&::cuptiGetGraphNodeId) graph_node_id = nullptr;
  decltype(&::cuptiGetVersion) version = nullptr;
  decltype(&::cuptiGetResultString) result_string = nullptr;

  decltype(&::cuDriverGetVersion) driver_version = nullptr;
  decltype(&::cuCtxGetDevice) current_device = nullptr;
  decltype(&::cuDeviceGetName) device_name = nullptr;
  decltype(&::cuFuncGetModule) function_module = nullptr;
  decltype(&::cuFuncGetAttribute) function_attribute = nullptr;
  decltype(&::cuFuncGetParamInfo) function_parameter = nullptr;
  decltype(&::cuFuncGetName) function_name = nullptr;
  decltype(&::cuKernelGetParamInfo) kernel_parameter = nullptr;
  decltype(&::cuKernelGetFunction) kernel_function = nullptr;
  decltype(&::cuKernelGetName) kernel_name = nullptr;
  decltype(&::cuMemGetAddressRange) address_range = nullptr;
  decltype(&::cuGraphGetNodes) graph_nodes = nullptr;
  decltype(&::cuGraphNodeGetType) node_type = nullptr;
  /// Its first version, which refuses edges that carry more than an order.
  CUresult (*graph_edges)(CUgraph, CUgraphNode*, CUgraphNode*, std::size_t*) = nullptr;

  CUresult (*is_capturing)(CUstream, CUstreamCaptureStatus*) = nullptr;
  CUresult (*is_capturing_of_thread)(CUstream, CUstreamCaptureStatus*) = nullptr;

  /// Empty where everything that is needed is there; otherwise why not, as a sentence.
  std::string open();
  /// The driver alone; `calls_are_heard` where its calls tell of memory.
  std::string open_driver(bool calls_are_heard);
};

Calls& calls();

}  // namespace isomer::inject
