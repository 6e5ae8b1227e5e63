#include "runtime/stream_order.hpp"

#include <execinfo.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include <fmt/format.h>

#include "watch/host_order.hpp"
#include "watch/places.hpp"
#include "watch/stream_clocks.hpp"

namespace isomer::emulator::stream_order {
namespace {

constexpr std::size_t kMostSteps = 100000;
constexpr int kFrames = 24;

enum class What : std::uint8_t {
  work,
  host_waits,
  host_waits_all,
  record,
  stream_waits,
  host_waits_event,
  released,
  returned
};

struct Step {
  What what{};
  const void* stream = nullptr;
  const void* event = nullptr;
  std::vector<const Buffer*> written, read;
  std::map<const Buffer*, std::set<const void*>> starts;  ///< of a launch: where in each its pointers point
  std::string kernel;                                     ///< empty: a copy or a memset
  Place place;                                            ///< of a launch
  std::vector<void*> frames;
};

std::mutex order_mutex;
bool in_call = false, asked = false;
void* callers = nullptr;
void* current = nullptr;
std::vector<Step> steps;
std::vector<const Buffer*> arguments;
std::map<const void*, std::string> names;  // of buffers, which may be gone when it is told
std::set<const void*> apart;               // streams that do not wait for the default one
std::map<const void*, std::uint32_t> numbers;

void add(Step step) {
  std::lock_guard lock(order_mutex);
  if (!in_call || steps.size() >= kMostSteps) return;
  for (const auto* list : {&step.written, &step.read})
    for (const Buffer* b : *list) names.emplace(b, b->name);
  steps.push_back(std::move(step));
}

// One reading of the steps, with one stream as the caller's.
class Reading {
 public:
  explicit Reading(const void* caller) : caller_(clocks_.index_of(caller)) {
    const auto begin = clocks_.next(caller_);
    for (const Buffer* b : arguments) states_[b].write = Access{begin, std::nullopt};
  }

  std::vector<Report> reports() {
    for (std::size_t i = 0; i < steps.size(); ++i) take(i);
    // The caller goes on: on its stream, and from where the host is.
    clocks_.learn_of_host(caller_);
    const auto end = clocks_.next(caller_);
    for (const Buffer* b : arguments) access(b, true, {end, std::nullopt});
    return std::move(reports_);
  }

 private:
  struct Access {
    watch::StreamClocks::Moment moment;
    std::optional<std::size_t> step;  ///< none: the caller's own
  };
  struct State {
    std::optional<Access> write;
    std::vector<Access> reads;
  };

  void take(std::size_t i) {
    const Step& step = steps[i];
    switch (step.what) {
      case What::work: {
        const Access own{clocks_.work(step.stream, apart), i};
        for (const Buffer* b : step.read) access(b, false, own);
        for (const Buffer* b : step.written) access(b, true, own);
        break;
      }
      case What::record:
        clocks_.record(step.event, step.stream, apart);
        break;
      case What::stream_waits:
        clocks_.stream_waits(step.stream, step.event);
        break;
      case What::host_waits:
        clocks_.host_waits(step.stream, apart);
        break;
      case What::host_waits_event:
        clocks_.host_waits_event(step.event);
        break;
      case What::host_waits_all:
        clocks_.host_waits_all();
        break;
      case What::released:
        // The memory of a tensor goes to the next one on the caller's stream.
        if (step.event != nullptr) used_by_caller(step);
        for (const Buffer* b : step.written) states_.erase(b);
        break;
      case What::returned:
        used_by_caller(step);
        break;
    }
  }
  void used_by_caller(const Step& step) {
    clocks_.learn_of_host(caller_);
    for (const Buffer* b : step.written) access(b, true, {clocks_.now(caller_), std::nullopt});
  }

  /// Two launches that are given other places of one buffer: each may have a part of it.
  static bool apart_in(const Buffer* buffer, const Access& one, const Access& other) {
    if (!one.step || !other.step) return false;
    const auto starts = [&](const Access& access) {
      const auto& all = steps[*access.step].starts;
      const auto found = all.find(buffer);
      return found == all.end() ? std::set<const void*>() : found->second;
    };
    const std::set<const void*> a = starts(one), b = starts(other);
    return !a.empty() && !b.empty() &&
           std::none_of(a.begin(), a.end(), [&](const void* each) { return b.count(each) > 0; });
  }

  void access(const Buffer* buffer, bool writes, const Access& own) {
    State& state = states_[buffer];
    const auto ordered = [&](const Access& other) {
      return clocks_.stream_knows(own.moment.stream, other.moment) || apart_in(buffer, own, other);
    };
    if (state.write && !ordered(*state.write)) tell(*state.write, own.step, buffer);
    if (!writes) {
      state.reads.push_back(own);
      return;
    }
    for (const Access& read : state.reads)
      if (!ordered(read)) tell(read, own.step, buffer);
    state.reads.clear();
    state.write = own;
  }

  void tell(const Access& first, std::optional<std::size_t> second, const Buffer* buffer) {
    // The caller's stream is the right one.
    const bool right = second && first.step && clocks_.index_of(steps[*second].stream) == caller_;
    const std::size_t blamed = second && !right ? *second : *first.step;
    if (!told_.insert(blamed).second) return;
    const Step& step = steps[blamed];
    Report r;
    r.kind = Kind::wrong_stream;
    r.kernel = step.kernel;
    r.buffer = names[buffer];
    r.place = step.place;
    if (r.place.line == 0)
      r.place = watch::place_of_frames(step.frames.data(), static_cast<int>(step.frames.size()));
    const auto name = [](const Step& s) {
      return s.kernel.empty() ? "a copy or memset" : "kernel " + s.kernel;
    };
    const std::string memory = r.buffer.empty() ? "memory" : r.buffer;
    std::string why;
    if (!first.step)
      why = fmt::format("the caller's stream: it may run before {} is written there", memory);
    else if (!second)
      why = fmt::format("the caller's stream, which may go on before {} is done with", memory);
    else
      why = fmt::format("{} on another one, which uses the same {}",
                        name(steps[right ? *second : *first.step]), memory);
    r.text = fmt::format(
        "{} {} on {}, and nothing orders it with {}", name(step),
        step.kernel.empty() ? "is made" : "is launched",
        watch::StreamClocks::canonical(step.stream) == nullptr ? "the default stream" : "a stream of its own",
        why);
    reports_.push_back(std::move(r));
  }

  watch::StreamClocks clocks_;
  std::map<const Buffer*, State> states_;
  std::set<std::size_t> told_;
  std::vector<Report> reports_;
  std::size_t caller_;
};

// Each place once.
std::vector<Report> each_once(std::vector<Report> all) {
  std::vector<Report> once;
  for (Report& r : all) {
    const auto same = std::find_if(once.begin(), once.end(), [&](const Report& o) {
      return o.kernel == r.kernel && o.place.file == r.place.file && o.place.line == r.place.line;
    });
    if (same == once.end())
      once.push_back(std::move(r));
    else
      same->count += r.count;
  }
  return once;
}

}  // namespace

void* callers_stream() {
  if (callers == nullptr) {
    isomer_emulator_stream(&callers, 3);
    std::lock_guard lock(order_mutex);
    numbers[callers] = 1;
    current = callers;
  }
  return callers;
}

void created(void* stream, bool blocking) {
  std::lock_guard lock(order_mutex);
  if (!blocking) apart.insert(stream);
}

std::uint32_t number_of(const void* stream) {
  std::lock_guard lock(order_mutex);
  const void* own = watch::StreamClocks::canonical(stream);
  if (own == nullptr) return 0;
  return numbers.try_emplace(own, static_cast<std::uint32_t>(numbers.size()) + (callers == nullptr ? 2 : 1))
      .first->second;
}

void begin_call(const std::vector<Buffer*>& given) {
  callers_stream();
  std::lock_guard lock(order_mutex);
  in_call = true;
  steps.clear();
  arguments.clear();
  names.clear();
  for (const Buffer* b : given) {
    if (b == nullptr) continue;
    arguments.push_back(b);
    names.emplace(b, b->name);
  }
}

void launched(const LaunchRequest& request, std::string_view kinds) {
  {
    const std::lock_guard lock(order_mutex);
    watch::host_order::asked(OrderStep::work, request.stream, nullptr, apart);
  }
  Step step;
  step.what = What::work;
  step.stream = request.stream;
  step.kernel = request.kernel;
  step.place = {request.file, request.line};
  for (unsigned i = 0; i < request.argument_count; ++i) {
    const bool known = kinds.size() == request.argument_count;
    const auto* bytes = static_cast<const std::byte*>(request.arguments[i]);
    // Pointers in structs as well. What is not known to be written counts as read.
    for (std::size_t at = 0; at + sizeof(void*) <= request.argument_bytes[i]; at += sizeof(void*)) {
      const void* pointer = nullptr;
      std::memcpy(&pointer, bytes + at, sizeof pointer);
      const Buffer* b = Memory::instance().find(pointer);
      if (b == nullptr) continue;
      (known && kinds[i] == 'p' ? step.written : step.read).push_back(b);
      step.starts[b].insert(pointer);
    }
  }
  add(std::move(step));
}

void released(const void* pointer) {
  const Buffer* b = Memory::instance().find(pointer);
  if (b == nullptr) return;
  Step step;
  step.what = What::released;
  step.written = {b};
  step.event = b->tensor ? b : nullptr;
  add(std::move(step));
}

void returned(const void* storage) {
  const Buffer* b = Memory::instance().find(storage);
  if (b == nullptr) return;
  Step step;
  step.what = What::returned;
  step.written = {b};
  add(std::move(step));
}

std::vector<Report> end_call(bool given) {
  {
    std::lock_guard lock(order_mutex);
    in_call = false;
  }
  std::vector<Report> reports = each_once(Reading(callers).reports());
  if (reports.empty() || given || asked) return reports;
  std::vector<Report> by_default = each_once(Reading(nullptr).reports());
  if (!by_default.empty()) return by_default;
  for (Report& r : reports) r.kind = Kind::default_stream;
  return reports;
}

}  // namespace isomer::emulator::stream_order

using namespace isomer::emulator;

extern "C" {

__attribute__((visibility("default"))) void* isomer_emulator_current_stream() {
  stream_order::asked = true;
  stream_order::callers_stream();
  return stream_order::current;
}

__attribute__((visibility("default"))) void isomer_emulator_set_current_stream(void* stream) {
  stream_order::callers_stream();
  stream_order::current = stream;
}

__attribute__((visibility("default"))) void isomer_emulator_calls_host(void* stream) {
  const std::lock_guard lock(stream_order::order_mutex);
  watch::host_order::asked(OrderStep::host_waits, stream, nullptr, stream_order::apart);
}

__attribute__((visibility("default"))) void isomer_emulator_order(OrderStep what, void* subject,
                                                                  const void* written, const void* read) {
  {
    const std::lock_guard lock(stream_order::order_mutex);
    watch::host_order::asked(what, subject, read, stream_order::apart);
  }
  stream_order::Step step;
  step.what = static_cast<stream_order::What>(what);
  if (what == OrderStep::host_waits_event)
    step.event = subject;
  else
    step.stream = subject;
  if (what == OrderStep::work) {
    if (const Buffer* b = Memory::instance().find(written)) step.written.push_back(b);
    if (const Buffer* b = Memory::instance().find(read)) step.read.push_back(b);
    void* frames[stream_order::kFrames];
    step.frames.assign(frames, frames + backtrace(frames, stream_order::kFrames));
  } else {
    if (what == OrderStep::record || what == OrderStep::stream_waits) step.event = read;
  }
  stream_order::add(std::move(step));
}
}
