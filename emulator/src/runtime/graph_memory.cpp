#include "runtime/graph_memory.hpp"

#include <algorithm>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "isomer_emulator/abi.h"
#include "memory/closed.hpp"
#include "runtime/callers.hpp"
#include "runtime/errors.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator::graph_memory {
namespace {

std::mutex mutex;
std::set<const void*> owned;
unsigned long long bytes_now = 0, bytes_most = 0;
thread_local bool frees_at_launch = false;

void leave(Buffer& buffer) {
  stream_order::released(buffer.begin);
  buffer.freed = settings().watch ? callers() : std::vector<void*>{};
  buffer.live = false;
  bytes_now -= buffer.bytes;
}

}  // namespace

bool owns(const void* pointer) {
  const std::lock_guard lock(mutex);
  return owned.count(pointer) != 0;
}

FreesAtLaunch::FreesAtLaunch(bool frees) : before_(frees_at_launch) { frees_at_launch = before_ || frees; }
FreesAtLaunch::~FreesAtLaunch() { frees_at_launch = before_; }

}  // namespace isomer::emulator::graph_memory

using namespace isomer::emulator;
using namespace isomer::emulator::graph_memory;

#define EXPORT __attribute__((visibility("default")))
extern "C" {

EXPORT int isomer_emulator_graph_malloc(void** out, std::size_t bytes) {
  constexpr int kOfDevice = 0;
  const int code = isomer_emulator_malloc(out, bytes, kOfDevice);
  if (code != error::success || *out == nullptr) return code;
  const std::lock_guard lock(mutex);
  Memory::instance().find(*out)->live = false;
  owned.insert(*out);
  return error::success;
}

EXPORT int isomer_emulator_graph_memory_begins(void* pointer) {
  const closed::Open open;
  const std::lock_guard lock(mutex);
  Buffer& buffer = *Memory::instance().page_owner(pointer);
  if (buffer.live) {
    if (!frees_at_launch)
      return refuse(error::invalid_value,
                    fmt::format("graph launch: the {} bytes that a node asks for are there since an earlier "
                                "launch, and nobody has freed them",
                                buffer.bytes));
    leave(buffer);
  }
  buffer.live = true;
  buffer.initialised = settings().host_writes_unseen;
  buffer.sampled = false;
  Memory::instance().fill_poison(buffer);
  if (settings().watch) watch::forget(buffer);
  bytes_most = std::max(bytes_most, bytes_now += buffer.bytes);
  return error::success;
}

EXPORT int isomer_emulator_graph_memory_ends(void* pointer) {
  if (!owns(pointer)) return isomer_emulator_free(pointer);
  const std::lock_guard lock(mutex);
  Buffer& buffer = *Memory::instance().page_owner(pointer);
  if (!buffer.live)
    return refuse(error::invalid_value,
                  "free: the memory of a graph is not there: no node has asked for it "
                  "since it was freed");
  leave(buffer);
  return error::success;
}

EXPORT void isomer_emulator_graph_memory_use(unsigned long long* now, unsigned long long* most, int trim) {
  const std::lock_guard lock(mutex);
  if (trim) bytes_most = bytes_now;
  *now = bytes_now;
  *most = bytes_most;
}
}
