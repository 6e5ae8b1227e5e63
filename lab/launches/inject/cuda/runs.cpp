#include "lab/launches/inject/cuda/runs.hpp"

#include "lab/launches/inject/cuda/cupti.hpp"
#include "lab/launches/inject/output.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <unordered_map>

namespace isomer::inject {
namespace {

constexpr std::size_t kBuffer = 1 << 20;  // some 4800 kernels
constexpr std::uint32_t kFlushMilliseconds = 500;

std::atomic<std::uint64_t> dropped{0};
std::uint32_t cupti_version = 0;

/// Numbers for names, written once each.
std::uint64_t number_of_name(const char* name) {
  struct Names {
    std::mutex mutex;
    std::unordered_map<std::string, std::uint64_t> numbers;
  };
  static Names& names = *new Names;
  const std::lock_guard lock(names.mutex);
  const auto [entry, is_new] = names.numbers.emplace(name == nullptr ? "" : name, names.numbers.size() + 1);
  if (is_new) Line("text", entry->second).text("is", entry->first).write();
  return entry->second;
}

std::uint64_t positive(std::int64_t value) { return value > 0 ? static_cast<std::uint64_t>(value) : 0; }

/// NOTES: the record is laid out by the CUPTI that is loaded; each has grown at its end only, so the newest
/// that the headers know reads them all, and fields that an older one lacks are not looked at.
void write_run(const CUpti_ActivityKernel10& kernel) {
  constexpr std::uint32_t kHasClusters = 18;  // CUDA 12.0
  Line line("ran", kernel.correlationId);
  line.number("name", number_of_name(kernel.name));
  line.triple("grid", positive(kernel.gridX), positive(kernel.gridY), positive(kernel.gridZ));
  line.triple("block", positive(kernel.blockX), positive(kernel.blockY), positive(kernel.blockZ));
  if (cupti_version >= kHasClusters && kernel.clusterX > 0)
    line.triple("cluster", kernel.clusterX, kernel.clusterY, kernel.clusterZ);
  line.number("registers", kernel.registersPerThread);
  line.number("shared_static", positive(kernel.staticSharedMemory));
  line.number("shared_dynamic", positive(kernel.dynamicSharedMemory));
  line.number("local_bytes", kernel.localMemoryPerThread);
  line.number("device", kernel.deviceId).number("stream", kernel.streamId);
  if (kernel.graphNodeId != 0) line.number("graph_node", kernel.graphNodeId);
  // Both 0: the device had no memory left to keep its times in.
  if (kernel.end > kernel.start)
    line.number("start", kernel.start).number("duration", kernel.end - kernel.start);
  line.write();
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, kBuffer));
  *bytes = *buffer == nullptr ? 0 : kBuffer;
  *records = 0;
}

void CUPTIAPI take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                          std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (valid > 0 && calls().activity_next(buffer, valid, &record) == CUPTI_SUCCESS)
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || record->kind == CUPTI_ACTIVITY_KIND_KERNEL)
      write_run(*reinterpret_cast<const CUpti_ActivityKernel10*>(record));
  std::size_t lost = 0;
  if (calls().activity_dropped(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  std::free(buffer);
}

}  // namespace

const char* begin_runs() {
  calls().version(&cupti_version);
  CUptiResult result = calls().activity_register(give_buffer, take_buffer);
  // Not KIND_KERNEL: it runs one kernel at a time.
  if (result == CUPTI_SUCCESS) result = calls().activity_enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (result != CUPTI_SUCCESS) {
    const char* why = nullptr;
    if (calls().result_string != nullptr) calls().result_string(result, &why);
    return why != nullptr ? why : "unknown";
  }
  if (calls().activity_period != nullptr) calls().activity_period(kFlushMilliseconds);
  return "";
}

void flush_runs() { calls().activity_flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED); }

std::uint64_t dropped_runs() { return dropped.load(); }

}  // namespace isomer::inject
