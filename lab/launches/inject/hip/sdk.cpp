#include "lab/launches/inject/hip/sdk.hpp"

#include <dlfcn.h>

#include <initializer_list>

namespace isomer::inject {
namespace {

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

Sdk& sdk() {
  static Sdk& only = *new Sdk;
  return only;
}

bool Sdk::open() {
  void* library = RTLD_DEFAULT;
  for (const char* name : {"librocprofiler-sdk.so.1", "librocprofiler-sdk.so"})
    if (void* mapped = dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
      library = mapped;
      break;
    }
  find(library, "rocprofiler_get_status_string", status_string);
  return find(library, "rocprofiler_create_context", create_context) &&
         find(library, "rocprofiler_configure_callback_tracing_service", configure_callbacks) &&
         find(library, "rocprofiler_start_context", start_context) &&
         find(library, "rocprofiler_stop_context", stop_context) &&
         find(library, "rocprofiler_get_timestamp", timestamp) &&
         find(library, "rocprofiler_query_available_agents", agents);
}

}  // namespace isomer::inject
