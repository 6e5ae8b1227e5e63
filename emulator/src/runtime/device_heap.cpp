// malloc, free, new and delete as a module calls them: what a device thread of a watched launch allocates is
// a buffer like any other, so that its bounds, its first values and its end are known. All else is the
// host's.
#include <cstdlib>
#include <cstring>
#include <new>

#include "execution/turns.hpp"
#include "execution/worker.hpp"
#include "memory/memory.hpp"
#include "runtime/errors.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

using namespace isomer::emulator;

#define EXPORT __attribute__((visibility("default")))

namespace {

bool on_device() { return current_thread() != nullptr && current_block()->launch().watch; }

/// Null where the device has no room left, as on a device.
void* allocate(std::size_t bytes) {
  run_alone();
  Buffer* buffer = Memory::instance().allocate(bytes, Space::global, "");
  if (buffer == nullptr) return nullptr;
  watch::forget(*buffer);
  return buffer->begin;
}

/// False where it is not the device's.
bool release(void* pointer, void* site) {
  Memory& memory = Memory::instance();
  if (pointer == nullptr || !memory.contains(pointer)) return false;
  run_alone();
  if (memory.release(pointer, true, {site})) return true;
  const Buffer* owner = memory.page_owner(pointer);
  if (!on_device()) return true;
  if (owner != nullptr && !owner->live) {
    watch::report_freed(site, *owner, pointer, 0, true);
  } else {
    watch::report_event(Kind::crash, site, "frees an address that is not the begin of an allocation");
  }
  current_block()->launch().error = error::illegal_address;
  current_block()->kill_current();
}

}  // namespace

extern "C" {

EXPORT void* __wrap_malloc(std::size_t bytes) { return on_device() ? allocate(bytes) : std::malloc(bytes); }
EXPORT void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  if (!on_device()) return std::calloc(count, bytes);
  std::size_t all = 0;
  if (__builtin_mul_overflow(count, bytes, &all)) return nullptr;
  void* const memory = allocate(all);
  if (memory == nullptr) return nullptr;
  watch::mark_written(memory, all);
  return std::memset(memory, 0, all);
}
EXPORT void __wrap_free(void* pointer) {
  if (!release(pointer, __builtin_return_address(0))) std::free(pointer);
}
EXPORT void* __wrap__Znwm(std::size_t bytes) { return on_device() ? allocate(bytes) : ::operator new(bytes); }
EXPORT void* __wrap__Znam(std::size_t bytes) {
  return on_device() ? allocate(bytes) : ::operator new[](bytes);
}
EXPORT void __wrap__ZdlPv(void* pointer) {
  if (!release(pointer, __builtin_return_address(0))) ::operator delete(pointer);
}
EXPORT void __wrap__ZdaPv(void* pointer) {
  if (!release(pointer, __builtin_return_address(0))) ::operator delete[](pointer);
}
EXPORT void __wrap__ZdlPvm(void* pointer, std::size_t) {
  if (!release(pointer, __builtin_return_address(0))) ::operator delete(pointer);
}
EXPORT void __wrap__ZdaPvm(void* pointer, std::size_t) {
  if (!release(pointer, __builtin_return_address(0))) ::operator delete[](pointer);
}
}
