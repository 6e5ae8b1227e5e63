// What host code calls: memory, copies, streams and events of the two runtimes. The device is this process,
// so everything is finished when the call returns, and a stream or an event is only a handle and a time.
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "execution/turns.hpp"
#include "execution/worker.hpp"
#include "isomer/emulator/tensor_map.hpp"
#include "isomer_emulator/abi.h"
#include "memory/closed.hpp"
#include "memory/memory.hpp"
#include "memory/module_images.hpp"
#include "runtime/callers.hpp"
#include "runtime/errors.hpp"
#include "runtime/graph_memory.hpp"
#include "runtime/graphs.hpp"
#include "runtime/host_guesses.hpp"
#include "runtime/kernels.hpp"
#include "runtime/limits.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"
#include "watch/guesses.hpp"
#include "watch/host_order.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

using namespace isomer::emulator;

#define EXPORT __attribute__((visibility("default")))

namespace {

enum Kind : int { host_to_host, host_to_device, device_to_host, device_to_device, any_direction };

struct Event {
  std::chrono::steady_clock::time_point time;
  bool recorded = false;
};

std::mutex handles_mutex;
std::set<void*> streams, events;
std::set<const void*> pinned;  ///< where memory of the host begins that the runtime has given

bool is_device(const void* p) { return Memory::instance().contains(p) || variable_at(p) != nullptr; }

// A range that begins in a buffer has to end in it.
int check_range(const void* p, std::size_t bytes, const char* role) {
  const Buffer* b = Memory::instance().find(p);
  if (!b) b = variable_at(p);
  if (!b) {
    if (!Memory::instance().contains(p)) return error::success;
    return refuse(error::invalid_value, fmt::format("copy: the {} is no live device buffer", role));
  }
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(p) - b->begin);
  if (offset + bytes <= b->bytes) return error::success;
  return refuse(error::invalid_value, fmt::format("copy: {} bytes at offset {} of the {}, which has {} bytes",
                                                  bytes, offset, role, b->bytes));
}

}  // namespace

extern "C" {

EXPORT int isomer_emulator_malloc(void** out, std::size_t bytes, int kind) {
  run_alone();
  if (!out) return refuse(error::invalid_value, "malloc: null pointer for the result");
  *out = nullptr;
  if (bytes == 0) return error::success;
  Buffer* b = Memory::instance().allocate(bytes, kind == 0 ? Space::global : Space::managed, "");
  if (!b) {
    settings().allocation_refused = true;
    return refuse(
        error::out_of_memory,
        fmt::format("malloc: {} bytes wanted, the device has {} of {} free", bytes,
                    Memory::instance().limit() - Memory::instance().in_use(), Memory::instance().limit()));
  }
  // Host writes to it go unseen; of a tensor each launch looks whether there were any.
  if (kind == 1 || kind == 3 || settings().host_writes_unseen) b->initialised = true;
  // A tensor's unwritten elements are known by their poison.
  b->tensor = kind == 2;
  if (b->tensor) Memory::instance().fill_poison(*b);
  if (settings().watch) watch::forget(*b);
  if (settings().leaks) b->made = callers();
  closed::close(*b);
  {
    const std::lock_guard lock(handles_mutex);
    if (kind == 3) {
      pinned.insert(b->begin);
    } else {
      pinned.erase(b->begin);
    }
  }
  *out = b->begin;
  return error::success;
}

EXPORT void isomer_emulator_host_writes_unseen() { settings().host_writes_unseen = true; }

EXPORT int isomer_emulator_free(void* pointer) {
  run_alone();
  if (!pointer) return error::success;
  if (graph_memory::owns(pointer)) return isomer_emulator_graph_memory_ends(pointer);
  stream_order::released(pointer);
  const bool watch = settings().watch;
  if (Memory::instance().release(pointer, watch, watch ? callers() : std::vector<void*>{}))
    return error::success;
  return refuse(error::invalid_value, "free: the pointer is not the begin of a live device buffer");
}

EXPORT int isomer_emulator_free_of_kind(void* pointer, int host) {
  const int kind = isomer_emulator_pointer_kind(pointer, nullptr);
  if (host == 0 && kind == 4)
    return refuse(error::invalid_value,
                  "free: the pointer is memory of the host that the runtime gave, which cudaFreeHost frees");
  if (host != 0 && (kind == 2 || kind == 3))
    return refuse(error::invalid_value, "free: the pointer is memory of the device, which cudaFree frees");
  return isomer_emulator_free(pointer);
}
}

namespace {

using Work = std::optional<watch::host_order::Moment>;

int copy(void* to, const void* from, std::size_t bytes, int kind, const Work& work) {
  if (bytes == 0) return error::success;
  if (!to || !from) return refuse(error::invalid_value, "copy: null pointer");
  const closed::Open open;
  if (kind < host_to_host || kind > any_direction) {
    return refuse(error::invalid_memcpy_direction, fmt::format("copy: direction {}", kind));
  }
  // As the runtimes have it: what is said to be the device's has to be, what is said to be the host's may be
  // either.
  const bool to_device = is_device(to), from_device = is_device(from);
  const bool wants_to = kind == host_to_device || kind == device_to_device;
  const bool wants_from = kind == device_to_host || kind == device_to_device;
  if (kind != any_direction && ((wants_to && !to_device) || (wants_from && !from_device))) {
    return refuse(error::invalid_value,
                  fmt::format("copy: the direction says that the {} is device memory, it is not",
                              wants_to && !to_device ? "destination" : "source"));
  }
  const Buffer* target = Memory::instance().find(to);
  const Buffer* source = Memory::instance().find(from);
  if (settings().copies_by_role && ((kind == device_to_host && target && target->space == Space::global) ||
                                    (kind == host_to_device && source && source->space == Space::global))) {
    return refuse(error::invalid_value,
                  Refusal{Refusal::Cause::no_host_memory, "",
                          fmt::format("copy: the direction says that the {} is host memory, it is not",
                                      kind == device_to_host ? "destination" : "source")});
  }
  if (int e = check_range(to, bytes, "destination")) return e;
  if (int e = check_range(from, bytes, "source")) return e;
  std::memmove(to, from, bytes);
  if (work) watch::host_order::copied(*work, to, from, bytes);
  if (!settings().watch) return error::success;
  if (source && !target) host_guesses::reads(*source);
  if (target && !source && host_guesses::sends(from, bytes)) {
    watch::mark_guessed(to, bytes);
  } else {
    watch::copy_state(to, from, bytes);
  }
  return error::success;
}

}  // namespace

extern "C" {

EXPORT int isomer_emulator_copy(void* to, const void* from, std::size_t bytes, int kind) {
  run_alone();
  return copy(to, from, bytes, kind, watch::host_order::taken());
}

EXPORT int isomer_emulator_copy_2d(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                   std::size_t width, std::size_t height, int kind) {
  if (width > to_pitch || width > from_pitch) {
    return refuse(error::invalid_value,
                  fmt::format("copy: rows of {} bytes in a pitch of {} and {}", width, to_pitch, from_pitch));
  }
  const Work work = watch::host_order::taken();
  // Rows without gaps are one piece: a vector of a library is as many rows as it has elements.
  if (to_pitch == width && from_pitch == width) return copy(to, from, width * height, kind, work);
  for (std::size_t row = 0; row < height; ++row) {
    if (int e = copy(static_cast<char*>(to) + row * to_pitch,
                     static_cast<const char*>(from) + row * from_pitch, width, kind, work)) {
      return e;
    }
  }
  return error::success;
}

EXPORT int isomer_emulator_set(void* to, int value, std::size_t bytes) {
  run_alone();
  const Work work = watch::host_order::taken();
  if (bytes == 0) return error::success;
  if (!to || !is_device(to)) return refuse(error::invalid_value, "memset: the pointer is not device memory");
  const closed::Open open;
  if (int e = check_range(to, bytes, "destination")) return e;
  std::memset(to, value, bytes);
  if (work) watch::host_order::copied(*work, to, nullptr, bytes);
  if (settings().watch) watch::mark_written(to, bytes);
  return error::success;
}

EXPORT int isomer_emulator_set_elements(void* to, std::size_t pitch, unsigned value, unsigned element,
                                        std::size_t width, std::size_t height) {
  if (element != 1 && element != 2 && element != 4)
    return refuse(error::invalid_value,
                  fmt::format("memset: elements of {} bytes, expected 1, 2 or 4", element));
  std::string row;
  for (std::size_t i = 0; i < width; ++i) row.append(reinterpret_cast<const char*>(&value), element);
  (void)watch::host_order::taken();
  for (std::size_t y = 0; y < height; ++y) {
    if (int e =
            copy(static_cast<char*>(to) + y * pitch, row.data(), row.size(), host_to_device, std::nullopt))
      return e;
  }
  return error::success;
}

EXPORT int isomer_emulator_symbol(const void* symbol, void** address, std::size_t* bytes) {
  const SymbolEntry* s = find_symbol(symbol);
  if (!s)
    return refuse(error::invalid_symbol,
                  "the symbol is no __device__ or __constant__ variable of a loaded module");
  if (address) *address = s->address;
  if (bytes) *bytes = s->bytes;
  return error::success;
}

EXPORT int isomer_emulator_pointer_kind(const void* pointer, std::size_t* bytes) {
  const Buffer* b = Memory::instance().find(pointer);
  if (bytes) *bytes = b ? b->bytes : 0;
  if (!b) return Memory::instance().in_host_range(pointer) ? 4 : variable_at(pointer) != nullptr ? 2 : 0;
  if (b->space == Space::global) return 2;
  const std::lock_guard lock(handles_mutex);
  return pinned.count(b->begin) != 0 ? 4 : 3;
}

EXPORT int isomer_emulator_register_host(void* pointer, std::size_t bytes) {
  Memory::instance().add_host_range(pointer, bytes);
  return error::success;
}

EXPORT int isomer_emulator_memory_info(std::size_t* available, std::size_t* total) {
  if (available) *available = Memory::instance().limit() - Memory::instance().in_use();
  if (total) *total = Memory::instance().limit();
  return error::success;
}

EXPORT int isomer_emulator_host_call(const char* function) {
  if (!current_thread()) return 0;
  watch::report_event(isomer::emulator::Kind::host_call, __builtin_return_address(0),
                      std::string("calls ") + function + ", a host function");
  return 1;
}

EXPORT int isomer_emulator_last_error(int clear) { return last_error(clear != 0); }
EXPORT int isomer_emulator_fail(int code) { return refuse(code, ""); }
EXPORT int isomer_emulator_refuse(int code, const char* sentence) { return refuse(code, sentence); }
EXPORT int isomer_emulator_encode_tensor_map(void* into, unsigned element_bytes, int rank, void* data,
                                             const unsigned long* sizes, const unsigned long* strides,
                                             const unsigned* box, int swizzle_bytes) {
  TensorMapDescription description{data, element_bytes, rank, {}, {}, {}, swizzle_bytes};
  for (int i = 0; i < rank && i < 5; ++i) {
    description.size[i] = sizes[i];
    description.box[i] = box[i];
    if (i > 0) description.stride_bytes[i] = strides[i - 1];
  }
  const std::string fault = encode_tensor_map(description, into);
  return fault.empty() ? error::success : refuse(error::invalid_value, "cuTensorMapEncodeTiled: " + fault);
}
EXPORT const char* isomer_emulator_error_string(int code) { return describe(code); }

// action: 0 create, 1 destroy, 2 use, 3 create one that does not wait for the default stream
EXPORT int isomer_emulator_stream(void** stream, int action) {
  std::lock_guard lock(handles_mutex);
  if (action == 0 || action == 3) {
    if (!stream) return refuse(error::invalid_value, "stream: null pointer for the result");
    *stream = new char;
    streams.insert(*stream);
    stream_order::created(*stream, action == 0);
    return error::success;
  }
  // The default streams are null and two small numbers.
  if (reinterpret_cast<std::uintptr_t>(*stream) <= 2 || streams.count(*stream)) {
    if (action == 1 && streams.erase(*stream)) {
      forget_captured(*stream);
      delete static_cast<char*>(*stream);
    }
    return error::success;
  }
  return refuse(error::invalid_handle, "stream: the handle is no live stream");
}

// action: 0 create, 1 destroy, 2 record, 3 use
EXPORT int isomer_emulator_event(void** event, int action) {
  std::lock_guard lock(handles_mutex);
  if (action == 0) {
    if (!event) return refuse(error::invalid_value, "event: null pointer for the result");
    *event = new Event;
    events.insert(*event);
    return error::success;
  }
  if (!events.count(*event)) return refuse(error::invalid_handle, "event: the handle is no live event");
  auto* e = static_cast<Event*>(*event);
  if (action == 1) {
    events.erase(*event);
    forget_captured(*event);
    delete e;
  } else if (action == 2) {
    e->time = std::chrono::steady_clock::now();
    e->recorded = true;
  }
  return error::success;
}

EXPORT int isomer_emulator_event_elapsed(float* milliseconds, void* start, void* stop) {
  if (!milliseconds) return refuse(error::invalid_value, "event: null pointer for the elapsed time");
  std::lock_guard lock(handles_mutex);
  if (!events.count(start) || !events.count(stop))
    return refuse(error::invalid_handle, "event: the handle is no live event");
  const auto *a = static_cast<Event*>(start), *b = static_cast<Event*>(stop);
  if (!a->recorded || !b->recorded)
    return refuse(error::invalid_handle, "event: elapsed time of an event never recorded");
  *milliseconds = std::chrono::duration<float, std::milli>(b->time - a->time).count();
  return error::success;
}

EXPORT int isomer_emulator_set_max_shared(const void* function, std::size_t bytes) {
  if (bytes > limits().shared_bytes_opt_in) {
    return refuse(error::invalid_value,
                  fmt::format("{} bytes of dynamic shared memory wanted, the device has {}", bytes,
                              limits().shared_bytes_opt_in));
  }
  set_max_dynamic_shared(function, bytes);
  return error::success;
}

EXPORT int isomer_emulator_attribute(int which) {
  const Limits& l = limits();
  switch (which) {
    case 0:
      return static_cast<int>(l.threads_per_block);
    case 1:
    case 2:
    case 3:
      return static_cast<int>(l.block[which - 1]);
    case 4:
    case 5:
    case 6:
      return static_cast<int>(l.grid[which - 4]);
    case 7:
      return static_cast<int>(l.shared_bytes);
    case 8:
      return settings().lanes;
    case 9:
      return static_cast<int>(l.processors);
    case 10:
      return static_cast<int>(l.threads_per_processor);
    case 11:
      return static_cast<int>(l.shared_bytes_opt_in);
    case 12:
      return static_cast<int>(l.registers_per_block);
    default:
      return 0;
  }
}
}
