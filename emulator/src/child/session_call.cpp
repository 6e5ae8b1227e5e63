#include "child/session_call.hpp"

#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include <fmt/format.h>

#include "child/denied_memory.hpp"
#include "child/device_memory.hpp"
#include "child/execute.hpp"
#include "child/held_results.hpp"
#include "child/host_limits.hpp"
#include "child/session_arguments.hpp"
#include "child/session_child.hpp"
#include "child/signals.hpp"
#include "child/storages.hpp"
#include "memory/closed.hpp"
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
std::unique_ptr<Storages> storages;
bool waits_for_device = false;

constexpr int kFrames = 48;
thread_local void* thrown_from[kFrames];
thread_local int thrown_frames = 0;

void finish(End end, std::string message, Place place) {
  answer.result.end = end;
  answer.result.message = std::move(message);
  answer.result.place = std::move(place);
}

void add_collected() {
  RunResult collected;
  collect(collected);
  std::vector<Report>& reports = answer.result.reports;
  reports.insert(reports.begin(), collected.stopped.begin(), collected.stopped.end());
  collected.reports.insert(collected.reports.end(), reports.begin(), reports.end());
  reports = std::move(collected.reports);
  answer.result.launches = std::move(collected.launches);
  // Code that launches nothing may be for no device.
  if (answer.result.launches.empty())
    std::erase_if(reports, [](const Report& each) { return each.kind == Kind::host_touch; });
  std::vector<Refusal>& refusals = answer.result.refusals;
  refusals.insert(refusals.end(), collected.refusals.begin(), collected.refusals.end());
  judge_by_memory(answer.result);
}

void send_answer() {
  end_host_limits();
  answer.result.reports.clear();
  answer.result.worked_seconds = worked_seconds();
  answer.result.reached_edits = reached_edits();
  add_collected();
  deliver_answer(pack(answer));
}

void leave_user_code() {
  in_user_code = false;
  closed::end();
  end_host_limits();
}

void stopped(const Stopped& what) {
  const End end = what.too_large           ? End::too_large
                  : what.signal == SIGALRM ? End::timed_out
                  : what.signal == SIGXFSZ ? End::over_limit
                                           : End::crashed;
  std::string sentence = what.signal == SIGXFSZ ? "it wrote a file larger than the limit" : what.sentence;
  if (what.signal == SIGALRM && waits_for_device)
    sentence = "a kernel did not end on the device within the time";
  finish(end, std::move(sentence), what.place);
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
    storage.extents = storages->fetch(static_cast<std::byte*>(p), static_cast<const std::byte*>(t.storage),
                                      t.storage_bytes);
    munmap(p, t.storage_bytes);
    answer_end = end;
  }
  answer.storages.push_back(std::move(storage));
  return w;
}

struct Call {
  bool last = true;       // its results are the answer
  bool measured = false;  // its results are compared, its time is taken
  std::uint64_t memory_limit = 0, file_limit = 0;
  CallEnd end = CallEnd::returned;
  std::string message;
  bool settled = false;
  bool closes = false;  // the device's memory, to host code
  std::string stopped;  // why the device did
  double seconds = 0;
  std::vector<std::uint64_t> sums;  // of what it returned and left, where that is compared
  HeldResults* held = nullptr;      // of all calls of the request, where there are more than one
};

// What was launched has ended, well or not.
void settle(Call& call) {
  if (call.settled) return;
  call.settled = true;
  waits_for_device = true;
  if (call.measured) real_device()->end_timing(&call.seconds);
  call.stopped = storages->settle(answer.result.refusals);
  waits_for_device = false;
}

// All that the emulator reserves at its first use is there before the limits: a call without tensors has not
// used it yet.
void on_entered(void* context) {
  const auto* call = static_cast<const Call*>(context);
  if (real_device() == nullptr) watch::reserve_all();
  begin_host_limits(call->memory_limit, call->file_limit);
  forget_denied_memory();
  thrown_frames = 0;
  if (call->measured) real_device()->begin_timing();
  if (call->closes) closed::begin();
  in_user_code = true;
}
void on_result(void* context, const CallValue* value) {
  closed::end();
  end_host_limits();
  auto& call = *static_cast<Call*>(context);
  if (!real_device() && value->kind == CallKind::tensor) stream_order::returned(value->tensor->storage);
  if (real_device()) in_user_code = false;
  settle(call);
  if (!call.stopped.empty()) return;
  if (call.last) answer.returned.push_back(wire_of(*value));
  if (value->kind != CallKind::tensor) return;
  if (real_device())
    call.sums.push_back(sum_of_storage(*storages, value->tensor->storage, value->tensor->storage_bytes));
  if (call.held && call.last) call.held->answered(*value->tensor);
  if (call.held && !call.last) call.held->add(*storages, *value->tensor);
}
void on_kept(void* context, void* result, void (*let_go)(void*)) {
  static_cast<Call*>(context)->held->keep(result, let_go);
}
void on_end(void* context, CallEnd end, const char* message) {
  auto* call = static_cast<Call*>(context);
  call->end = end;
  call->message = message;
}

// Who gets no stream and is no extension of PyTorch works for callers that use the default one.
void note_wrong_streams(const EntryInfo& entry) {
  const bool given = std::any_of(entry.parameters.begin(), entry.parameters.end(),
                                 [](const auto& p) { return p.kind == EntryParameter::Kind::stream; });
  if (!given && !entry.takes_tensors && !entry.returned_tensors) return;
  for (Report& r : stream_order::end_call(given)) answer.result.reports.push_back(std::move(r));
}

// A function over pointers is given what only kernels and copies can reach. Libraries whose host code
// computes here, for want of a device, say so with a symbol, and tensors of PyTorch are computed with by its
// own operators.
bool closes_memory(const EntryInfo& entry) {
  if (real_device() || entry.form != EntryInfo::Form::function || entry.takes_tensors ||
      entry.returned_tensors)
    return false;
  void* library = dlopen(watch::users_library_name().c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (library == nullptr) return false;
  const bool computes = dlsym(library, "isomer_emulator_computes_on_the_host") != nullptr;
  dlclose(library);
  return !computes;
}

void report_touch() {
  const Touched touched = take_touched();
  const Buffer* buffer = touched.address != nullptr ? Memory::instance().find(touched.address) : nullptr;
  if (buffer == nullptr) return;
  Report r;
  r.kind = Kind::host_touch;
  r.buffer = buffer->name;
  r.offset = static_cast<const std::byte*>(touched.address) - buffer->begin;
  r.place = watch::place_of_frames(touched.frames.data(), static_cast<int>(touched.frames.size()));
  r.text = fmt::format(
      "host-touch: host code {} offset {} of buffer {}: that is device memory, where a host's access is a "
      "segmentation "
      "fault",
      touched.writes ? "writes" : "reads", r.offset,
      buffer->name.empty() ? fmt::format("allocated with {} bytes", buffer->bytes) : buffer->name);
  answer.result.reports.push_back(std::move(r));
}

void call_once(const OfferedEntry& entry, const SessionRequest& request, const std::vector<WireValue>& values,
               Call& call) {
  Arguments arguments(storages->places());
  std::vector<CallValue> made;
  for (const WireValue& v : values) made.push_back(arguments.make(v));
  CallTensor stream{};
  // A real device is given its default stream.
  if (!real_device()) stream.data = stream_order::callers_stream();
  for (std::size_t i = 0; !real_device() && i < made.size(); ++i) {
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
  const bool keeps = call.held && !call.last;
  CallOutcome outcome{&call, &on_entered, &on_result, &on_end, keeps ? &on_kept : nullptr};
  storages->begin_call();
  call.closes = closes_memory(entry.info);
  entry.call.invoke(entry.call.state, made.data(), &launch, &outcome);
  in_user_code = false;
  closed::end();
  end_host_limits();
  report_touch();
  settle(call);
}

void bring_back(const SessionRequest& request, std::byte* arena) {
  for (std::size_t i = 0; i < storages->places().size(); ++i) {
    const StoragePlace& p = storages->places()[i];
    answer.after.push_back(p.begin ? storages->fetch(arena + request.storages[i].offset, p.begin, p.bytes)
                                   : std::vector<Extent>{});
  }
}

Call call_of(const SessionRequest& request) {
  // What a device's driver takes for itself on the first launches is not the code's.
  constexpr std::uint64_t kDriver = std::uint64_t{16} << 30;
  Call call;
  call.memory_limit = request.options.memory_limit + (real_device() ? kDriver : 0);
  call.file_limit = request.options.file_limit;
  return call;
}

void sum_arguments(Call& call) {
  for (const StoragePlace& p : storages->places())
    if (p.bytes > 0) call.sums.push_back(sum_of_storage(*storages, p.begin, p.bytes));
}

// More calls of what has been answered: the device's time of each, and whether its answer is that of the last
// call before them. What a first call leaves for all later ones shows elsewhere.
void measure(const OfferedEntry& entry, const SessionRequest& request, const std::vector<WireValue>& values,
             const std::byte* arena) {
  constexpr int kWarmUps = 3;
  std::vector<std::uint64_t> before;
  keep_device_memory(true);
  for (int i = -kWarmUps; i < request.options.measured; ++i) {
    storages->restore(request, arena);
    poison_kept_device_memory();
    Call call = call_of(request);
    call.last = false;
    call.measured = true;
    call_once(entry, request, values, call);
    if (call.end != CallEnd::returned || !call.stopped.empty() || storages->lost()) break;
    sum_arguments(call);
    if (i < 0) {
      before = std::move(call.sums);
      continue;
    }
    answer.result.seconds.push_back(call.seconds);
    answer.result.differing += call.sums != before;
  }
  if (!storages->lost()) keep_device_memory(false);
}

End end_of(CallEnd end) {
  switch (end) {
    case CallEnd::returned:
      return End::returned;
    case CallEnd::refused:
      return End::refused;
    case CallEnd::not_callable:
    case CallEnd::unknown_element:
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
  // The device takes the process in, which is not the code's time.
  if (real_device()) storages->place(request, arena);
  limit_time(request.options.timeout_seconds, request.options.idle_seconds);
  const bool real = real_device() != nullptr;
  HeldResults held;
  for (int i = 1; i <= request.options.repeats; ++i) {
    Call call = call_of(request);
    call.last = i == request.options.repeats;
    if (request.options.repeats > 1) call.held = &held;
    if (!real)
      storages->place(request, arena);
    else if (i > 1)
      storages->restore(request, arena);
    // The same addresses with other contents: who keeps answers by address shows it in the last call.
    if (!call.last) storages->clear();
    call_once(entry, request, values, call);
    if (getpid() != own_process) _exit(0);
    if (call.end != CallEnd::returned) {
      std::string message = call.message;
      End end = end_of(call.end);
      if (end == End::not_callable) message = entry.info.name + ": " + message;
      answer.result.unknown_element = call.end == CallEnd::unknown_element;
      if (real && device_memory_over_limit()) end = End::over_limit;
      finish(end, message.substr(0, message.find('\n')), watch::place_of_frames(thrown_from, thrown_frames));
      call.last = true;
    }
    if (!call.stopped.empty()) {
      finish(End::crashed, call.stopped, {});
      answer.returned.clear();
      answer.storages.clear();
      break;
    }
    if (call.last) {
      if (real && call.end == CallEnd::returned && device_memory_over_limit())
        finish(End::over_limit, "it allocates more of the device's memory than the limit allows", {});
      storages->check_guards(answer.result.reports);
      if (call.end == CallEnd::returned) held.check(*storages, answer.result.reports);
      if (!real && call.end == CallEnd::returned) note_wrong_streams(entry.info);
      const bool measured = real && request.options.measured > 0 && answer.result.end == End::returned;
      // What comes back takes the place of what was given.
      std::vector<std::byte> given;
      if (measured) given.assign(arena, arena + s.st_size);
      bring_back(request, arena);
      if (measured) measure(entry, request, values, given.data());
      break;
    }
    if (!real) storages->release();
  }
  limit_time(0);
  munmap(arena, static_cast<std::size_t>(s.st_size));
}

}  // namespace

void answer_calls_with(void (*deliver)(const std::string&)) { deliver_answer = deliver; }

bool make_call(const SessionRequest& request, const std::vector<OfferedEntry>& offered,
               const std::string& library) {
  own_process = getpid();
  begin_work();
  watch::set_users_library(library);
  answer = {};
  // The answer itself comes first: a mebibyte for it, however much was reported.
  answer_end = std::uint64_t{16} << 20;
  storages = real_device()
                 ? device_storages(*real_device(), request.options.poison, request.options.memory_limit)
                 : emulated_storages();
  try {
    run(request, offered);
  } catch (const std::exception& e) {
    in_user_code = false;
    limit_time(0);
    finish(End::not_callable, e.what(), {});
  }
  if (real_device()) {
    char name[256] = "";
    if (!storages->lost()) real_device()->name(name, sizeof name);
    answer.result.device = name;
    storages->release();
  }
  answer.result.worked_seconds = worked_seconds();
  answer.result.reached_edits = reached_edits();
  add_collected();
  std::fflush(nullptr);
  deliver_answer(pack(answer));
  const bool reusable = answer.result.end == End::returned || answer.result.end == End::refused ||
                        answer.result.end == End::not_callable;
  return reusable && !storages->lost();
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
