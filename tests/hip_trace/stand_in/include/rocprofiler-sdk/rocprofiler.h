#pragma once

// What the recorder for HIP programs uses of rocprofiler-sdk and HIP, under their names, so that it is built
// and driven by tests where neither is installed. Numbers and layouts are this file's own.

#include <cstddef>
#include <cstdint>

#define ROCPROFILER_VERSION_MAJOR 1
#define HIP_RUNTIME_API_TABLE_STEP_VERSION 11

typedef enum { hipSuccess = 0, hipErrorOutOfMemory = 2 } hipError_t;
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipModuleSymbol_t* hipFunction_t;
typedef struct ihipModule_t* hipModule_t;

struct dim3 {
  std::uint32_t x, y, z;
};
struct hipLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  hipStream_t stream;
};
struct HIP_LAUNCH_CONFIG {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  hipStream_t hStream;
};

typedef enum {
  ROCPROFILER_STATUS_SUCCESS = 0,
  ROCPROFILER_STATUS_ERROR = 1,
} rocprofiler_status_t;
typedef enum { ROCPROFILER_AGENT_TYPE_CPU = 1, ROCPROFILER_AGENT_TYPE_GPU = 2 } rocprofiler_agent_type_t;
typedef enum { ROCPROFILER_AGENT_INFO_VERSION_0 = 1 } rocprofiler_agent_version_t;
typedef enum {
  ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API = 5,
  ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT = 10,
  ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH = 12,
} rocprofiler_callback_tracing_kind_t;
typedef enum {
  ROCPROFILER_CALLBACK_PHASE_NONE = 0,
  ROCPROFILER_CALLBACK_PHASE_ENTER = 1,
  ROCPROFILER_CALLBACK_PHASE_LOAD = 1,
  ROCPROFILER_CALLBACK_PHASE_EXIT = 2,
} rocprofiler_callback_phase_t;
typedef enum {
  ROCPROFILER_CODE_OBJECT_LOAD = 1,
  ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
  ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER,
} rocprofiler_code_object_operation_t;
typedef enum {
  ROCPROFILER_KERNEL_DISPATCH_ENQUEUE = 1,
  ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
} rocprofiler_kernel_dispatch_operation_t;
typedef enum {
  ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE = 1,
  ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
} rocprofiler_code_object_storage_type_t;
typedef enum {
  ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel_spt,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipExtLaunchKernel,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchCooperativeKernel,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchCooperativeKernel_spt,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipModuleLaunchKernel,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipModuleLaunchCooperativeKernel,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipExtModuleLaunchKernel,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernelExC,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipDrvLaunchKernelEx,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch_spt,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipModuleGetFunction,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipExtMallocWithFlags,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipMallocManaged,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipMallocAsync,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipMallocFromPoolAsync,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipMallocPitch,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipMemAddressReserve,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipFree,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipFreeAsync,
  ROCPROFILER_HIP_RUNTIME_API_ID_hipMemAddressFree,
} rocprofiler_hip_runtime_api_id_t;

typedef std::int32_t rocprofiler_tracing_operation_t;
typedef std::uint64_t rocprofiler_timestamp_t;
struct rocprofiler_context_id_t {
  std::uint64_t handle;
};
struct rocprofiler_agent_id_t {
  std::uint64_t handle;
};
struct rocprofiler_dim3_t {
  std::uint32_t x, y, z;
};
union rocprofiler_address_t {
  std::uint64_t value;
  const void* ptr;
};
union rocprofiler_user_data_t {
  std::uint64_t value;
};

struct rocprofiler_agent_v0_t {
  rocprofiler_agent_id_t id;
  rocprofiler_agent_type_t type;
  const char* product_name;
  std::int32_t logical_node_type_id;
};

struct rocprofiler_callback_tracing_record_t {
  std::uint64_t thread_id;
  rocprofiler_callback_tracing_kind_t kind;
  rocprofiler_tracing_operation_t operation;
  rocprofiler_callback_phase_t phase;
  void* payload;
};

struct rocprofiler_kernel_dispatch_info_t {
  rocprofiler_agent_id_t agent_id;
  std::uint64_t kernel_id, dispatch_id;
  std::uint32_t private_segment_size, group_segment_size;
  rocprofiler_dim3_t workgroup_size, grid_size;
};
struct rocprofiler_callback_tracing_kernel_dispatch_data_t {
  rocprofiler_timestamp_t start_timestamp, end_timestamp;
  rocprofiler_kernel_dispatch_info_t dispatch_info;
};

struct rocprofiler_callback_tracing_code_object_load_data_t {
  std::uint64_t code_object_id;
  const char* uri;
  rocprofiler_code_object_storage_type_t storage_type;
  std::uint64_t memory_base, memory_size;
};
struct rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t {
  std::uint64_t kernel_id, code_object_id;
  const char* kernel_name;
  std::uint32_t group_segment_size, private_segment_size, sgpr_count, arch_vgpr_count, accum_vgpr_count;
};
struct rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t {
  rocprofiler_address_t host_function;
  const char* device_function;
};

struct stand_in_host_launch {
  const void* function_address;
  rocprofiler_dim3_t numBlocks, dimBlocks;
  void** args;
  hipStream_t stream;
};
struct stand_in_module_launch {
  hipFunction_t func;
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
  hipStream_t stream;
  void** kernelParams;
  void** extra;
};
struct stand_in_allocation {
  void** ptr;
  std::size_t size;
};
struct stand_in_other_allocation {
  void** dev_ptr;
  std::size_t size;
};

union rocprofiler_hip_api_args_t {
  stand_in_host_launch hipLaunchKernel, hipLaunchKernel_spt, hipExtLaunchKernel;
  struct {
    const void* func;
    rocprofiler_dim3_t gridDim, blockDimX;
    void** kernelParams;
    hipStream_t stream;
  } hipLaunchCooperativeKernel;
  struct {
    const void* func;
    rocprofiler_dim3_t gridDim, blockDim;
    void** kernelParams;
    hipStream_t stream;
  } hipLaunchCooperativeKernel_spt;
  stand_in_module_launch hipModuleLaunchKernel, hipModuleLaunchCooperativeKernel;
  struct {
    hipFunction_t func;
    std::uint32_t globalWorkSizeX, globalWorkSizeY, globalWorkSizeZ;
    std::uint32_t localWorkSizeX, localWorkSizeY, localWorkSizeZ;
    hipStream_t stream;
    void** kernelParams;
    void** extra;
  } hipExtModuleLaunchKernel;
  struct {
    const hipLaunchConfig_t* config;
    const void* fPtr;
    void** args;
  } hipLaunchKernelExC;
  struct {
    const HIP_LAUNCH_CONFIG* config;
    hipFunction_t f;
    void** params;
    void** extra;
  } hipDrvLaunchKernelEx;
  struct {
    hipStream_t stream;
  } hipGraphLaunch, hipGraphLaunch_spt;
  struct {
    hipFunction_t* function;
    hipModule_t module;
    const char* kname;
  } hipModuleGetFunction;
  stand_in_allocation hipMalloc, hipMemAddressReserve;
  struct {
    void** ptr;
    std::size_t sizeBytes;
  } hipExtMallocWithFlags;
  stand_in_other_allocation hipMallocManaged, hipMallocAsync, hipMallocFromPoolAsync;
  struct {
    void** ptr;
    std::size_t *pitch, width, height;
  } hipMallocPitch;
  struct {
    void* ptr;
  } hipFree;
  struct {
    void* dev_ptr;
  } hipFreeAsync;
  struct {
    void* devPtr;
  } hipMemAddressFree;
};
struct rocprofiler_callback_tracing_hip_api_data_t {
  rocprofiler_hip_api_args_t args;
  union {
    hipError_t hipError_t_retval;
  } retval;
};

struct rocprofiler_client_id_t {
  std::size_t size;
  const char* name;
};
typedef void (*rocprofiler_client_finalize_t)(rocprofiler_client_id_t);
struct rocprofiler_tool_configure_result_t {
  std::size_t size;
  int (*initialize)(rocprofiler_client_finalize_t, void*);
  void (*finalize)(void*);
  void* tool_data;
};
typedef void (*rocprofiler_callback_tracing_cb_t)(rocprofiler_callback_tracing_record_t,
                                                  rocprofiler_user_data_t*, void*);
typedef rocprofiler_status_t (*rocprofiler_query_available_agents_cb_t)(rocprofiler_agent_version_t,
                                                                        const void**, std::size_t, void*);

extern "C" {
rocprofiler_tool_configure_result_t* rocprofiler_configure(std::uint32_t version, const char* words,
                                                           std::uint32_t priority,
                                                           rocprofiler_client_id_t* client);
rocprofiler_status_t rocprofiler_create_context(rocprofiler_context_id_t* context);
rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
    rocprofiler_context_id_t context, rocprofiler_callback_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t* operations, std::size_t count,
    rocprofiler_callback_tracing_cb_t callback, void* data);
rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context);
rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t context);
rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t* time);
rocprofiler_status_t rocprofiler_query_available_agents(rocprofiler_agent_version_t version,
                                                        rocprofiler_query_available_agents_cb_t callback,
                                                        std::size_t size, void* data);
const char* rocprofiler_get_status_string(rocprofiler_status_t status);
}
