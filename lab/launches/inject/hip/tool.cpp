// What `isomer trace` puts into a HIP program: rocprofiler-sdk loads this library where ROCP_TOOL_LIBRARIES
// names it and calls rocprofiler_configure. It records every kernel into a file of its own in the folder
// ISOMER_TRACE and changes nothing: where it cannot record, the file says why and the program runs on.
#include "lab/launches/inject/hip/calls.hpp"
#include "lab/launches/inject/hip/image.hpp"
#include "lab/launches/inject/recording.hpp"

#include <algorithm>
#include <ctime>
#include <string>
#include <unordered_map>
#include <vector>

namespace isomer::inject {
namespace {

HipRecorder& recorder() {
  // Never destroyed: the runtime's threads may tell of kernels until the process is gone.
  static HipRecorder& only = *new HipRecorder;
  return only;
}

rocprofiler_context_id_t context{};
/// What the profiler's clock lacks to count since 1970.
std::int64_t to_unix = 0;
std::unordered_map<std::uint64_t, std::uint32_t>& devices() {
  static auto& numbers = *new std::unordered_map<std::uint64_t, std::uint32_t>;
  return numbers;
}

HipDispatch dispatch_of(const rocprofiler_kernel_dispatch_info_t& from) {
  HipDispatch dispatch;
  dispatch.id = from.dispatch_id;
  dispatch.kernel = from.kernel_id;
  const auto device = devices().find(from.agent_id.handle);
  dispatch.device = device == devices().end() ? 0 : device->second;
  dispatch.group_bytes = from.group_segment_size;
  dispatch.private_bytes = from.private_segment_size;
  const auto& block = from.workgroup_size;
  const auto& grid = from.grid_size;
  dispatch.block[0] = block.x, dispatch.block[1] = block.y, dispatch.block[2] = block.z;
  dispatch.work_items[0] = grid.x, dispatch.work_items[1] = grid.y, dispatch.work_items[2] = grid.z;
  return dispatch;
}

void heard_code_object(const rocprofiler_callback_tracing_record_t& record) {
  if (record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD) return;
  if (record.operation == ROCPROFILER_CODE_OBJECT_LOAD) {
    const auto& from =
        *static_cast<const rocprofiler_callback_tracing_code_object_load_data_t*>(record.payload);
    if (from.storage_type == ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY) {
      rocprofiler_address_t begin{};
      begin.value = from.memory_base;
      return recorder().loaded(from.code_object_id, {static_cast<const std::uint8_t*>(begin.ptr),
                                                     static_cast<std::size_t>(from.memory_size)});
    }
    const std::vector<std::uint8_t> image = image_at(from.uri == nullptr ? "" : from.uri);
    return recorder().loaded(from.code_object_id, image);
  }
  if (record.operation == ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER) {
    const auto& from =
        *static_cast<const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t*>(
            record.payload);
    return recorder().registered({from.kernel_id, from.code_object_id,
                                  from.kernel_name == nullptr ? "" : from.kernel_name,
                                  from.group_segment_size, from.private_segment_size, from.arch_vgpr_count,
                                  from.accum_vgpr_count, from.sgpr_count});
  }
  if (record.operation == ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER) {
    const auto& from =
        *static_cast<const rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t*>(
            record.payload);
    if (from.device_function != nullptr) recorder().named(from.host_function.ptr, from.device_function);
  }
}

void heard_dispatch(const rocprofiler_callback_tracing_record_t& record) {
  const auto& from = *static_cast<const rocprofiler_callback_tracing_kernel_dispatch_data_t*>(record.payload);
  if (record.operation == ROCPROFILER_KERNEL_DISPATCH_ENQUEUE &&
      record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
    return recorder().enqueued(dispatch_of(from.dispatch_info), record.thread_id);
  if (record.operation != ROCPROFILER_KERNEL_DISPATCH_COMPLETE) return;
  const bool timed = from.start_timestamp != 0 && from.end_timestamp > from.start_timestamp;
  recorder().completed(dispatch_of(from.dispatch_info),
                       timed ? from.start_timestamp + static_cast<std::uint64_t>(to_unix) : 0,
                       timed ? from.end_timestamp + static_cast<std::uint64_t>(to_unix) : 0);
}

void heard_call(const rocprofiler_callback_tracing_record_t& record) {
  const auto& from = *static_cast<const rocprofiler_callback_tracing_hip_api_data_t*>(record.payload);
  HipCall launch;
  const bool launches = launch_of(record.operation, from.args, launch);
  if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
    if (launches) recorder().entered(launch);
    return;
  }
  if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT) return;
  if (launches) return recorder().left();
  if (from.retval.hipError_t_retval == hipSuccess) heard_hip(record.operation, from.args, recorder());
}

void on_callback(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t*, void*) {
  // A fault of ours must not be the program's.
  try {
    if (record.payload == nullptr) return;
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API) return heard_call(record);
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH) return heard_dispatch(record);
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT) return heard_code_object(record);
  } catch (...) {
  }
}

rocprofiler_status_t on_agents(rocprofiler_agent_version_t, const void** agents, std::size_t count, void*) {
  bool told = false;
  for (std::size_t i = 0; i < count; ++i) {
    const auto& agent = *static_cast<const rocprofiler_agent_v0_t*>(agents[i]);
    if (agent.type != ROCPROFILER_AGENT_TYPE_GPU) continue;
    devices()[agent.id.handle] = static_cast<std::uint32_t>(std::max(agent.logical_node_type_id, 0));
    if (!told && agent.product_name != nullptr) fact("device", agent.product_name);
    told = true;
  }
  return ROCPROFILER_STATUS_SUCCESS;
}

/// Reads both clocks; the program's own delay between them is at most the distance of the outer two.
void tie_clocks() {
  timespec before{}, after{};
  rocprofiler_timestamp_t own = 0;
  clock_gettime(CLOCK_REALTIME, &before);
  if (sdk().timestamp(&own) != ROCPROFILER_STATUS_SUCCESS) return;
  clock_gettime(CLOCK_REALTIME, &after);
  const auto ns = [](const timespec& time) { return std::int64_t{time.tv_sec} * 1000000000 + time.tv_nsec; };
  to_unix = ns(before) + (ns(after) - ns(before)) / 2 - static_cast<std::int64_t>(own);
}

/// Empty, or why nothing can be recorded.
std::string listen() {
  if (!sdk().open()) return "nothing could be recorded: this rocprofiler-sdk lacks functions that 1.0 has";
  std::string failure;
  const auto well = [&](rocprofiler_status_t status, const char* what) {
    if (status == ROCPROFILER_STATUS_SUCCESS || !failure.empty()) return;
    const char* why = sdk().status_string == nullptr ? nullptr : sdk().status_string(status);
    failure = std::string("nothing could be recorded: rocprofiler-sdk refuses ") + what + ": " +
              (why != nullptr ? why : "unknown");
  };
  well(sdk().create_context(&context), "a context");
  const auto hear = [&](rocprofiler_callback_tracing_kind_t kind, const char* what,
                        const std::vector<rocprofiler_tracing_operation_t>& only) {
    if (failure.empty())
      well(sdk().configure_callbacks(context, kind, only.empty() ? nullptr : only.data(), only.size(),
                                     on_callback, nullptr),
           what);
  };
  hear(ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, "to report code objects", {});
  hear(ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, "to report HIP's calls", heard_hip_calls());
  hear(ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, "to report kernels", {});
  if (!failure.empty()) return failure;
  sdk().agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents, sizeof(rocprofiler_agent_v0_t), nullptr);
  tie_clocks();
  well(sdk().start_context(context), "to start");
  return failure;
}

bool listening = false;

int on_initialize(rocprofiler_client_finalize_t, void*) {
  std::string failure;
  try {
    failure = listen();
  } catch (...) {
    failure = "nothing could be recorded: no memory";
  }
  listening = failure.empty();
  if (!listening) note(failure);
  return listening ? 0 : -1;
}

void on_finalize(void*) {
  if (listening) sdk().stop_context(context);
  write_end({recorder().recorded(), 0, recorder().hashed_bytes()});
}

rocprofiler_tool_configure_result_t* configure(std::uint32_t version, const char* words,
                                               rocprofiler_client_id_t* client) {
  if (!open_part("hip")) return nullptr;
  const std::string number = std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) +
                             "." + std::to_string(version % 100);
  write_header("isomer, through rocprofiler-sdk",
               {{"rocprofiler-sdk", words != nullptr && *words != '\0' ? number + " " + words : number}});
  if (version / 10000 != ROCPROFILER_VERSION_MAJOR) {
    note("nothing could be recorded: this is rocprofiler-sdk " + number + ", but this build supports " +
         std::to_string(ROCPROFILER_VERSION_MAJOR));
    write_end({});
    return nullptr;
  }
  client->name = "isomer trace";
  static rocprofiler_tool_configure_result_t tool{sizeof(rocprofiler_tool_configure_result_t), on_initialize,
                                                  on_finalize, nullptr};
  return &tool;
}

}  // namespace
}  // namespace isomer::inject

extern "C" __attribute__((visibility("default"))) rocprofiler_tool_configure_result_t* rocprofiler_configure(
    std::uint32_t version, const char* words, std::uint32_t, rocprofiler_client_id_t* client) {
  try {
    return isomer::inject::configure(version, words, client);
  } catch (...) {
    return nullptr;
  }
}
