// What `isomer trace` puts into a CUDA program: the driver loads this library where CUDA_INJECTION64_PATH
// names it and calls InitializeInjection. It records every kernel launch into a file of its own in the folder
// ISOMER_TRACE and changes nothing: where it cannot record, the file says why and the program runs on.
#include "core/sha256.hpp"
#include "lab/trace/inject/cupti.hpp"
#include "lab/trace/inject/launches.hpp"
#include "lab/trace/inject/modules.hpp"
#include "lab/trace/inject/output.hpp"
#include "lab/trace/inject/runs.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

namespace isomer::inject {
namespace {

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (domain == CUPTI_CB_DOMAIN_DRIVER_API) return heard(id, *static_cast<const CUpti_CallbackData*>(data));
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) heard_resource(id, *static_cast<const CUpti_ResourceData*>(data));
}

void note(const std::string& sentence) {
  std::string line = "{\"note\":";
  append_quoted(line, sentence);
  output().line(line + "}");
}

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string words((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  while (!words.empty() && words.back() == '\0') words.pop_back();
  for (char& c : words)
    if (c == '\0') c = ' ';
  constexpr std::size_t kLongest = 4096;
  return words.substr(0, kLongest);
}

std::string version_text(unsigned version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void write_header() {
  unsigned cupti = 0;
  int driver = 0;
  if (calls().version != nullptr) calls().version(&cupti);
  if (calls().driver_version != nullptr) calls().driver_version(&driver);
  Line line("isomer_trace", 1);
  line.text("tool", "isomer, through CUPTI").text("command", command_line());
  line.number("process", static_cast<std::uint64_t>(getpid()));
  std::string facts = ",\"facts\":{\"cupti\":";
  append_quoted(facts, std::to_string(cupti));
  facts += ",\"driver\":";
  append_quoted(facts, version_text(static_cast<unsigned>(driver)));
  line.raw(facts + "}").write();
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
    return std::string("nothing could be recorded: another profiler or debugger holds CUPTI") +
           (holder[0] != '\0' ? std::string(" (") + holder + ")" : "") +
           "; run without it, or export its own trace and give that to isomer diff";
  if (result != CUPTI_SUCCESS) {
    const char* why = nullptr;
    if (calls().result_string != nullptr) calls().result_string(result, &why);
    return std::string("nothing could be recorded: CUPTI takes no listener: ") +
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
         " kernels have the name of another one of other code, and which was launched is not known");
  if (output().lost() > 0) note(std::to_string(output().lost()) + " lines found no space on the disk");
  std::string line = "{\"end\":{\"recorded\":";
  append(line, recorded_launches());
  line += ",\"dropped\":";
  append(line, dropped_runs() + output().lost());
  line += ",\"hashed_bytes\":";
  append(line, modules().hashed_bytes());
  output().line(line + "}}");
  output().close();
}

void begin() {
  const char* folder = std::getenv("ISOMER_TRACE");
  if (folder == nullptr || *folder == '\0') return;
  if (!output().open(std::string(folder) + "/cuda-" + std::to_string(getpid()) + ".jsonl")) return;
  pthread_atfork(nullptr, nullptr, [] { output().abandon(); });
  std::string failure = calls().open();
  write_header();
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
