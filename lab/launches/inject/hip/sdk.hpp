#pragma once

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

namespace isomer::inject {

/// rocprofiler-sdk as it is in this process: opened by name, as it is what loads this library.
struct Sdk {
  decltype(&::rocprofiler_create_context) create_context = nullptr;
  decltype(&::rocprofiler_configure_callback_tracing_service) configure_callbacks = nullptr;
  decltype(&::rocprofiler_start_context) start_context = nullptr;
  decltype(&::rocprofiler_stop_context) stop_context = nullptr;
  decltype(&::rocprofiler_get_timestamp) timestamp = nullptr;
  decltype(&::rocprofiler_query_available_agents) agents = nullptr;
  decltype(&::rocprofiler_get_status_string) status_string = nullptr;

  /// False where a function is missing that version 1 has.
  bool open();
};

Sdk& sdk();

}  // namespace isomer::inject
