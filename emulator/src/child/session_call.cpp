#include "child/session_call.hpp"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include <fmt/format.h>

#include "child/execute.hpp"
#include "child/host_limits.hpp"
#include "child/session_child.hpp"
#include "child/signals.hpp"
#include "memory/memory.hpp"
#include "runtime/settings.hpp"
#include "runtime/stream_order.hpp"
#include "watch/places.hpp"
#include "watch/reporter.hpp"
#include "watch/shadow.hpp"

namespace isomer::emulator {
namespace {

using End = CallResult::End;

std::atomic<bool> in_user_code{false};
pid_t own_process = 0;
void (*deliver_answer)(const std::string&) = nullptr;
SessionAnswer answer;
std::uint64_t answer_end = 0;  // where the next result's storage goes in the answer's file

constexpr int kFrames = 48;
thread_local void* thrown_from[kFrames];
thread_local int thrown_frames = 0;

void finish(End end, std::string message, Place place) {
  answer.result.end = end;
  answer.result.message = std::move(message);
  answer.result.place = std::move(place);
}

void send_answer() {
  end_host_limits();
  RunResult collected;
  collect(collected);
  answer.result.reports = std::move(collected.reports);
  answer.result.launches = std::move(collected.launches);
  answer.result.refusals = std::move(collected.refusals);
  deliver_answer(pack(answer));
}

void leave_user_code() {
  in_user_code = false;
  end_host_limits();
}

void stopped(const Stopped& what) {
  const End end = what.signal == SIGALRM   ? End::timed_out
                  : what.signal == SIGXFSZ ? End::over_limit
                                           : End::crashed;
  finish(end, what.signal == SIGXFSZ ? "it wrote a file larger than the limit" : what.sentence, what.place);
  answer.returned.clear();
  answer.storages.clear();
  send_answer();
}

// results

WireValue wire_of(const CallValue& v) {
  WireValue w;
  w.kind = static_cast<ValueKind>(v.kind);
  w.integer = v.integer;
  w.real = v.real;
  w.element = static_cast<Element>(v.element);
  if (v.text) w.text = v.text;
  for (std::uint64_t i = 0; i < v.count; ++i) w.items.push_back(wire_of(v.items[i]));
  if (v.kind != CallKind::tensor) return w;
  const CallTensor& t = *v.tensor;
  w.element = static_cast<Element>(t.element);
  w.shape.assign(t.shape, t.shape + t.rank);
  w.strides.assign(t.strides, t.strides + t.rank);
  w.storage = answer.storages.size();
  w.storage_offset = static_cast<std::uint64_t>(static_cast<char*>(t.data) - static_cast<char*>(t.storage));
  WireStorage storage;
  storage.bytes = t.storage_bytes;
  storage.offset = answer_end;
  if (t.storage_bytes > 0) {
    const std::uint64_t end = answer_end + (t.storage_bytes + kWirePage - 1) / kWirePage * kWirePage;
    if (ftruncate(kSessionAnswer, static_cast<off_t>(end)) != 0) throw std::bad_alloc();
    void* p = mmap(nullptr, t.storage_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, kSessionAnswer,
                   static_cast<off_t>(answer_end));
    if (p == MAP_FAILED) throw std::bad_alloc();
    storage.extents = touched_extents(t.storage, t.storage_bytes);
    copy_extents(static_cast<std::byte*>(p), static_cast<const std::byte*>(t.storage), storage.extents);
    munmap(p, t.storage_bytes);
    answer_end = end;
  }
  answer.storages.push_back(std::move(storage));
  return w;
}

struct Call {
  bool last = true;
  std::uint64_t memory_limit = 0, file_limit = 0;
  CallEnd end = CallEnd::returned;
  std::string message;
};

// All that the emulator reserves at its first use is there by now.
void on_entered(void* context) {
  const auto* call = static_cast<const Call*>(context);
  begin_host_limits(call->memory_limit, call->file_limit);
  thrown_frames = 0;
  in_user_code = true;
}
void on_result(void* context, const CallValue* value) {
  end_host_limits();
  if (value->kind == CallKind::tensor) stream_order::returned(value->tensor->storage);
  if (static_cast<Call*>(context)->last) answer.returned.push_back(wire_of(*value));
}
void on_end(void* context, CallEnd end, const char* message) {
  auto* call = static_cast<Call*>(context);
  call->end = end;
  call->message = message;
}

// arguments

// Values as the module takes them, and what they point to.
class Arguments {
 public:
  explicit Arguments(const std::vector<Buffer*>& buffers) : buffers_(buffers) {}

  CallValue make(const WireValue& w) {
    CallValue v{};
    v.kind = static_cast<CallKind>(w.kind);
    v.integer = w.kind == ValueKind::real ? static_cast<std::int64_t>(std::max(-9e18, std::min(9e18, w.real)))
                                          : w.integer;
    v.real = w.kind == ValueKind::real ? w.real : static_cast<double>(w.integer);
    v.element = w.element;
    v.text = w.text.c_str();
    if (w.kind == ValueKind::tensor) {
      CallTensor t{};
      const Buffer* b = w.storage < buffers_.size() ? buffers_[w.storage] : nullptr;
      t.storage = b ? b->begin : nullptr;
      t.storage_bytes = b ? b->bytes : 0;
      t.data = b ? b->begin + w.storage_offset : nullptr;
      t.element = w.element;
      t.rank = static_cast<std::int32_t>(w.shape.size());
      for (std::size_t i = 0; i < w.shape.size() && i < 8; ++i)
        t.shape[i] = w.shape[i], t.strides[i] = w.strides[i];
      tensors_.push_back(t);
      v.tensor = &tensors_.back();
    }
    if (!w.items.empty()) {
      std::vector<CallValue> items;
      for (const WireValue& item : w.items) items.push_back(make(item));
      lists_.push_back(std::move(items));
      v.items = lists_.back().data();
      v.count = lists_.back().size();
    }
    return v;
  }

 private:
  const std::vector<Buffer*>& buffers_;
  std::deque<CallTensor> tensors_;
  std::deque<std::vector<CallValue>> lists_;
};

// A default as it stands in the source: a number, true, false, nothing or a text.
bool read_default(const std::string& text, WireValue& v) {
  if (text == "true" || text == "false") {
    v.kind = ValueKind::boolean;
    v.integer = text == "true";
    return true;
  }
  if (text == "none" || text == "nullptr" || text == "0" || text == "NULL" || text == "{}" ||
      text.find("nullopt") != std::string::npos) {
    v.kind = text == "0" ? ValueKind::integer : ValueKind::none;
    return true;
  }
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') {
    v.kind = ValueKind::text;
    v.text = text.substr(1, text.size() - 2);
    return true;
  }
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  if (end == text.c_str()) return false;
  while (*end && std::strchr("fFlLuU", *end)) ++end;
  if (*end) return false;
  const bool whole = text.find_first_of(".eE") == std::string::npos || text.rfind("0x", 0) == 0;
  v.kind = whole ? ValueKind::integer : ValueKind::real;
  v.integer = whole ? std::strtoll(text.c_str(), nullptr, 0) : 0;
  v.real = number;
  return true;
}

// The arguments, filled up with defaults. A sentence where they do not fit.
std::string complete(const OfferedEntry& entry, std::vector<WireValue>& values) {
  const std::size_t wanted = entry.info.parameters.size();
  if (values.size() > wanted)
    return fmt::format("{} takes {} argument{}, got {}", entry.info.name, wanted, wanted == 1 ? "" : "s",
                       values.size());
  for (std::size_t i = values.size(); i < wanted; ++i) {
    WireValue v;
    const EntryParameter& p = entry.info.parameters[i];
    if (p.kind == EntryParameter::Kind::stream) {
      values.push_back(v);
    } else if (!p.has_default) {
      return fmt::format("{} takes {} argument{}, got {}{}", entry.info.name, wanted, wanted == 1 ? "" : "s",
                         i, p.name.empty() ? "" : ": " + p.name + " is missing");
    } else if (read_default(entry.defaults[i], v)) {
      values.push_back(v);
    } else {
      return fmt::format("{}: the default of {} ({}) cannot be evaluated from outside: pass a value",
                         entry.info.name, p.name, entry.defaults[i]);
    }
  }
  return {};
}

std::vector<Buffer*> place_storages(const SessionRequest& request, const std::byte* arena) {
  std::vector<Buffer*> buffers;
  for (const WireStorage& s : request.storages) {
    if (s.bytes == 0) {
      buffers.push_back(nullptr);
      continue;
    }
    Buffer* b = Memory::instance().allocate(s.bytes, Space::global, s.name);
    if (!b) throw Error(fmt::format("{} bytes for {} do not fit the device's memory", s.bytes, s.name));
    if (settings().watch) watch::forget(*b);
    // What is too large to be poisoned is zero where nothing travels.
    copy_extents(b->begin, arena + s.offset, s.extents);
    b->initialised = true;
    buffers.push_back(b);
  }
  return buffers;
}

void bring_back(const SessionRequest& request, const std::vector<Buffer*>& buffers, std::byte* arena) {
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer* b = buffers[i];
    answer.after.push_back(b ? touched_extents(b->begin, b->bytes) : std::vector<Extent>{});
    if (b) copy_extents(arena + request.storages[i].offset, b->begin, answer.after.back());
  }
}

void note_broken_canaries(const std::vector<Buffer*>& buffers) {
  for (const Buffer* b : buffers) {
    const std::ptrdiff_t at = b ? Memory::instance().broken_canary(*b) : -1;
    if (at < 0) continue;
    Report r;
    r.kind = Kind::out_of_bounds_write;
    r.buffer = b->name;
    r.offset = static_cast<std::int64_t>(b->bytes) + at;
    r.bytes = 1;
    r.text = fmt::format(
        "out-of-bounds-write: something behind buffer {} of {} bytes was written, first at offset {}",
        b->name, b->bytes, r.offset);
    answer.result.reports.push_back(std::move(r));
  }
}

// Who gets no stream and is no extension of PyTorch works for callers that use the default one.
void note_wrong_streams(const EntryInfo& entry) {
  const bool given = std::any_of(entry.parameters.begin(), entry.parameters.end(),
                                 [](const auto& p) { return p.kind == EntryParameter::Kind::stream; });
  if (!given && !entry.takes_tensors && !entry.returns_tensors) return;
  for (Report& r : stream_order::end_call(given)) answer.result.reports.push_back(std::move(r));
}

void call_once(const OfferedEntry& entry, const SessionRequest& request, const std::vector<WireValue>& values,
               const std::vector<Buffer*>& buffers, Call& call) {
  Arguments arguments(buffers);
  std::vector<CallValue> made;
  for (const WireValue& v : values) made.push_back(arguments.make(v));
  CallTensor stream{};
  stream.data = stream_order::callers_stream();
  for (std::size_t i = 0; i < made.size(); ++i) {
    const EntryParameter& p = entry.info.parameters[i];
    if (p.kind != EntryParameter::Kind::stream || made[i].kind != CallKind::none) continue;
    made[i].kind = p.bits == 0 ? CallKind::tensor : CallKind::integer;
    made[i].tensor = &stream;
    made[i].integer = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(stream.data));
  }
  CallLaunch launch{};
  launch.kernel = entry.launch_name.c_str();
  launch.file = entry.call.file;
  launch.line = entry.call.line;
  for (int i = 0; i < 3; ++i) {
    launch.grid[i] = request.options.geometry.grid[static_cast<std::size_t>(i)];
    launch.block[i] = request.options.geometry.block[static_cast<std::size_t>(i)];
  }
  launch.shared_bytes = request.options.geometry.shared_bytes;
  CallOutcome outcome{&call, &on_entered, &on_result, &on_end};
  stream_order::begin_call(buffers);
  entry.call.invoke(entry.call.state, made.data(), &launch, &outcome);
  in_user_code = false;
  end_host_limits();
}

End end_of(CallEnd end) {
  switch (end) {
    case CallEnd::returned:
      return End::returned;
    case CallEnd::refused:
      return End::refused;
    case CallEnd::not_callable:
      return End::not_callable;
    case CallEnd::out_of_memory:
      break;
  }
  return End::over_limit;
}

void run(const SessionRequest& request, const std::vector<OfferedEntry>& offered) {
  const OfferedEntry& entry = offered[request.entry];
  std::vector<WireValue> values = request.values;
  if (!entry.info.callable) {
    finish(End::not_callable,
           fmt::format("{} has parameters of types that cannot be passed", entry.info.name), {});
    return;
  }
  if (const std::string wrong = complete(entry, values); !wrong.empty()) {
    finish(End::not_callable, wrong, {});
    return;
  }
  struct stat s {};
  fstat(kSessionArena, &s);
  auto* arena = static_cast<std::byte*>(mmap(nullptr, static_cast<std::size_t>(s.st_size),
                                             PROT_READ | PROT_WRITE, MAP_SHARED, kSessionArena, 0));
  if (arena == MAP_FAILED) throw Error("no memory for the arguments");
  on_stop(&leave_user_code, &stopped);
  limit_time(request.options.timeout_seconds);
  for (int i = 1; i <= request.options.repeats; ++i) {
    Call call;
    call.last = i == request.options.repeats;
    call.memory_limit = request.options.memory_limit;
    call.file_limit = request.options.file_limit;
    const std::vector<Buffer*> buffers = place_storages(request, arena);
    // The same addresses with other contents: who keeps answers by address shows it in the last call.
    for (Buffer* b : buffers)
      if (b && !call.last) std::memset(b->begin, 0, b->bytes);
    call_once(entry, request, values, buffers, call);
    if (getpid() != own_process) _exit(0);
    if (call.end != CallEnd::returned) {
      std::string message = call.message;
      if (call.end == CallEnd::not_callable) message = entry.info.name + ": " + message;
      finish(end_of(call.end), message.substr(0, message.find('\n')),
             watch::place_of_frames(thrown_from, thrown_frames));
      call.last = true;
    }
    if (call.last) {
      note_broken_canaries(buffers);
      if (call.end == CallEnd::returned) note_wrong_streams(entry.info);
      bring_back(request, buffers, arena);
      break;
    }
    for (Buffer* b : buffers) {
      if (b && b->live) Memory::instance().release(b);
    }
  }
  limit_time(0);
}

}  // namespace

void answer_calls_with(void (*deliver)(const std::string&)) { deliver_answer = deliver; }

void make_call(const SessionRequest& request, const std::vector<OfferedEntry>& offered,
               const std::string& library) {
  own_process = getpid();
  watch::set_users_library(library);
  // The answer itself comes first: a mebibyte for it, however much was reported.
  answer_end = std::uint64_t{16} << 20;
  try {
    run(request, offered);
  } catch (const std::exception& e) {
    in_user_code = false;
    finish(End::not_callable, e.what(), {});
  }
  std::vector<Report> own = std::move(answer.result.reports);
  RunResult collected;
  collect(collected);
  answer.result.reports = std::move(collected.reports);
  answer.result.reports.insert(answer.result.reports.end(), own.begin(), own.end());
  answer.result.launches = std::move(collected.launches);
  answer.result.refusals = std::move(collected.refusals);
  std::fflush(nullptr);
  deliver_answer(pack(answer));
}

}  // namespace isomer::emulator

using namespace isomer::emulator;

int isomer_emulator_in_user_code() { return in_user_code && getpid() == own_process ? 1 : 0; }

void isomer_emulator_user_exits(int status) {
  in_user_code = false;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  finish(CallResult::End::exited, fmt::format("the code ended the process with exit status {}", status),
         watch::place_of_frames(frames, count));
  std::fflush(nullptr);
  send_answer();
  _exit(0);
}

void isomer_emulator_user_spawns(const char* what) {
  in_user_code = false;
  void* frames[kFrames];
  const int count = backtrace(frames, kFrames);
  finish(CallResult::End::over_limit,
         fmt::format("it starts another process ({}), which no kernel needs", what),
         watch::place_of_frames(frames, count));
  std::fflush(nullptr);
  send_answer();
  _exit(0);
}

void isomer_emulator_user_throws() { thrown_frames = backtrace(thrown_from, kFrames); }
