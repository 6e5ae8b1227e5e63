// rocprofiler-sdk as a recorder sees it, in front of no device: it loads the tools that ROCP_TOOL_LIBRARIES
// names, and tells them what the program says.
#include "tests/hip_trace/stand_in/sdk.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <set>
#include <string>

namespace {

struct Service {
  rocprofiler_callback_tracing_cb_t callback;
  std::set<rocprofiler_tracing_operation_t> operations;  ///< empty: all
};

std::map<rocprofiler_callback_tracing_kind_t, Service> services;
rocprofiler_tool_configure_result_t* tool = nullptr;
bool started = false;

/// As version 1.0 reads a list: of several, those that a colon follows.
std::set<std::string> tools() {
  std::string list = std::getenv("ROCP_TOOL_LIBRARIES") == nullptr ? "" : std::getenv("ROCP_TOOL_LIBRARIES");
  std::set<std::string> all;
  if (list.find(':') == std::string::npos) {
    if (!list.empty()) all.insert(list);
    return all;
  }
  for (std::size_t end; (end = list.find(':')) != std::string::npos; list.erase(0, end + 1))
    if (end > 0) all.insert(list.substr(0, end));
  return all;
}

}  // namespace

extern "C" {

void stand_in_begin(std::uint32_t version) {
  for (const std::string& path : tools()) {
    void* library = dlopen(path.c_str(), RTLD_LOCAL | RTLD_LAZY);
    if (library == nullptr) std::abort();  // as the real one does
    const auto configure =
        reinterpret_cast<decltype(&rocprofiler_configure)>(dlsym(library, "rocprofiler_configure"));
    if (configure == nullptr) continue;
    rocprofiler_client_id_t client{sizeof client, nullptr};
    tool = configure(version, "stand-in", 0, &client);
    if (tool == nullptr) continue;
    if (tool->initialize(nullptr, tool->tool_data) != 0) started = false;
    std::atexit([] { tool->finalize(tool->tool_data); });
  }
}

void stand_in_tell(rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
                   rocprofiler_callback_phase_t phase, std::uint64_t thread, void* payload) {
  const auto service = services.find(kind);
  if (!started || service == services.end()) return;
  if (!service->second.operations.empty() && !service->second.operations.contains(operation)) return;
  rocprofiler_user_data_t data{};
  service->second.callback({thread, kind, operation, phase, payload}, &data, nullptr);
}

rocprofiler_status_t rocprofiler_create_context(rocprofiler_context_id_t* context) {
  context->handle = 7;
  return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
    rocprofiler_context_id_t context, rocprofiler_callback_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t* operations, std::size_t count,
    rocprofiler_callback_tracing_cb_t callback, void*) {
  if (context.handle != 7 || std::getenv("STAND_IN_REFUSES") != nullptr) return ROCPROFILER_STATUS_ERROR;
  services[kind].callback = callback;
  if (operations != nullptr) services[kind].operations.insert(operations, operations + count);
  return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_start_context(rocprofiler_context_id_t context) {
  started = context.handle == 7;
  return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_stop_context(rocprofiler_context_id_t) {
  started = false;
  return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_get_timestamp(rocprofiler_timestamp_t* time) {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  *time = static_cast<std::uint64_t>(now.tv_sec) * 1000000000 + static_cast<std::uint64_t>(now.tv_nsec);
  return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_query_available_agents(rocprofiler_agent_version_t version,
                                                        rocprofiler_query_available_agents_cb_t callback,
                                                        std::size_t, void* data) {
  static const rocprofiler_agent_v0_t host{{100}, ROCPROFILER_AGENT_TYPE_CPU, "a host", 0},
      first{{200}, ROCPROFILER_AGENT_TYPE_GPU, "a device", 0},
      second{{300}, ROCPROFILER_AGENT_TYPE_GPU, "another device", 1};
  const void* agents[] = {&host, &first, &second};
  return callback(version, agents, 3, data);
}

const char* rocprofiler_get_status_string(rocprofiler_status_t status) {
  return status == ROCPROFILER_STATUS_SUCCESS ? "well" : "a stand-in's refusal";
}
}
