// What `isomer trace` puts into a CUDA program: the driver loads this library where CUDA_INJECTION64_PATH
// names it and calls InitializeInjection. It records every kernel launch into a file of its own in the folder
// ISOMER_TRACE and changes nothing: where it cannot record, the file says why and the program runs on.
#include "lab/launches/inject/cuda/cupti.hpp"
#include "lab/launches/inject/cuda/launches.hpp"
#include "lab/launches/inject/cuda/modules.hpp"
#include "lab/launches/inject/cuda/runs.hpp"
#include "lab/launches/inject/recording.hpp"

#include <cstdlib>
#include <string>

namespace isomer::inject {
namespace {

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return heard(id, *static_cast<const CUpti_CallbackData*>(data));
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) heard_resource(id, *static_cast<const CUpti_ResourceData*>(data));
}

std::string version_text(unsigned version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void begin_file() {
  unsigned cupti = 0;
  int driver = 0;
  if (calls().version != nullptr) calls().version(&cupti);
  if (calls().driver_version != nullptr) calls().driver_version(&driver);
  write_header("isomer, through CUPTI",
               {{"cupti", std::to_string(cupti)}, {"driver", version_text(static_cast<unsigned>(driver))}});
}

/// Empty, or who or what keeps us from listening.
std::string subscribe() {
  CUpti_SubscriberHandle subscriber = nullptr;
  char holder[128] = {};
  CUptiResult result;
  if (calls().subscribe_v2 != nullptr) {
    CUpti_SubscriberParams parameters = {};
    parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
    parameters.subscriberName = "isomer trace";
    parameters.oldSubscriberName = holder;
    parameters.oldSubscriberSize = sizeof holder;
    result = calls().subscribe_v2(&subscriber, on_callback, nullptr, &parameters);
  } else {
    result = calls().subscribe(&subscriber, on_callback, nullptr);
  }
  if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
    return std::string("nothing could be recorded: another profiler or debugger uses CUPTI") +
           (holder[0] != '\0' ? std::string(" (") + holder + ")" : "") +
           "; run without it, record without times with isomer trace --driver, or export its own trace and "
           "pass that to isomer diff";
  if (result != CUPTI_SUCCESS) {
    const char* why = nullptr;
    if (calls().result_string != nullptr) calls().result_string(result, &why);
    return std::string("nothing could be recorded: CUPTI accepts no subscriber: ") +
           (why != nullptr ? why : "unknown");
  }
  for (const CUpti_CallbackId id : heard_calls())
    calls().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API, id);
  for (const CUpti_CallbackId id : heard_resources())
    calls().enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE, id);
  return {};
}

bool listening = false;

void at_exit() {
  if (listening) flush_runs();
  if (modules().ambiguous() > 0)
    note(std::to_string(modules().ambiguous()) +
         " kernels have the same name as another kernel with other code, so it is not known which one was "
         "launched");
  write_end({recorded_launches(), dropped_runs(), modules().hashed_bytes()});
}

void begin() {
  if (!open_part("cuda")) return;
  std::string failure = calls().open();
  begin_file();
  if (failure.empty()) failure = subscribe();
  if (failure.empty()) {
    listening = true;
    if (const char* why = begin_runs(); *why != '\0') note(std::string("no times: CUPTI says ") + why);
  } else {
    note(failure);
  }
  std::atexit(at_exit);
}

}  // namespace
}  // namespace isomer::inject

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  // The driver takes nothing but 1 as done, and a fault of ours must not be the program's.
  try {
    isomer::inject::begin();
  } catch (...) {
  }
  return 1;
}
