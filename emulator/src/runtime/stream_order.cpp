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

#include "watch/places.hpp"

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
  std::string kernel;  ///< empty: a copy or a memset
  Place place;         ///< of a launch
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

// Null and 1 are the default stream.
const void* canonical(const void* stream) {
  return reinterpret_cast<std::uintptr_t>(stream) == 1 ? nullptr : stream;
}

void add(Step step) {
  std::lock_guard lock(order_mutex);
  if (!in_call || steps.size() >= kMostSteps) return;
  for (const auto* list : {&step.written, &step.read})
    for (const Buffer* b : *list) names.emplace(b, b->name);
  steps.push_back(std::move(step));
}

// One reading of the steps, with one stream as the caller's: clocks as vectors over streams, by number.
class Reading {
 public:
  explicit Reading(const void* caller) : caller_(index_of(canonical(caller))) {
    ++tick(caller_, caller_);
    for (const Buffer* b : arguments) states_[b].write = Access{caller_, 1, std::nullopt};
  }

  std::vector<Report> reports() {
    for (std::size_t i = 0; i < steps.size(); ++i) take(i);
    // The caller goes on: on its stream, and from where the host is.
    merge(clock(caller_), host_);
    ++tick(caller_, caller_);
    for (const Buffer* b : arguments) access(b, true, caller_, std::nullopt);
    return std::move(reports_);
  }

 private:
  using Clock = std::vector<std::uint64_t>;
  struct Access {
    std::size_t stream = 0;
    std::uint64_t at = 0;
    std::optional<std::size_t> step;  ///< none: the caller's own
  };
  struct State {
    std::optional<Access> write;
    std::vector<Access> reads;
  };

  std::size_t index_of(const void* stream) {
    const auto [it, fresh] = indices_.try_emplace(stream, clocks_.size());
    if (fresh) clocks_.emplace_back();
    return it->second;
  }
  Clock& clock(std::size_t stream) { return clocks_[stream]; }
  std::uint64_t& tick(std::size_t of, std::size_t stream) {
    Clock& c = clocks_[of];
    if (c.size() <= stream) c.resize(stream + 1);
    return c[stream];
  }
  static void merge(Clock& into, const Clock& from) {
    if (into.size() < from.size()) into.resize(from.size());
    for (std::size_t i = 0; i < from.size(); ++i) into[i] = std::max(into[i], from[i]);
  }
  // Work is put on a stream: after what the host has waited for, and what the stream itself waits for.
  void enter(std::size_t stream, const void* handle) {
    merge(clock(stream), host_);
    if (handle == nullptr) {
      for (const auto& [other, index] : indices_)
        if (other != nullptr && apart.count(other) == 0) merge(clock(stream), Clock(clock(index)));
    } else if (apart.count(handle) == 0) {
      merge(clock(stream), Clock(clock(index_of(nullptr))));
    }
  }

  void take(std::size_t i) {
    const Step& step = steps[i];
    const bool streams = step.what != What::host_waits_all && step.what != What::host_waits_event;
    const std::size_t stream = streams ? index_of(canonical(step.stream)) : 0;
    switch (step.what) {
      case What::work:
        enter(stream, canonical(step.stream));
        ++tick(stream, stream);
        for (const Buffer* b : step.read) access(b, false, stream, i);
        for (const Buffer* b : step.written) access(b, true, stream, i);
        break;
      case What::record:
        enter(stream, canonical(step.stream));
        events_[step.event] = clock(stream);
        break;
      case What::stream_waits:
        merge(clock(stream), events_[step.event]);
        break;
      case What::host_waits:
        enter(stream, canonical(step.stream));
        merge(host_, clock(stream));
        break;
      case What::host_waits_event:
        merge(host_, events_[step.event]);
        break;
      case What::host_waits_all:
        for (const Clock& each : clocks_) merge(host_, each);
        break;
      case What::released:
        // The memory of a tensor goes to the next one on the caller's stream.
        if (step.event != nullptr) {
          merge(clock(caller_), host_);
          for (const Buffer* b : step.written) access(b, true, caller_, std::nullopt);
        }
        for (const Buffer* b : step.written) states_.erase(b);
        break;
      case What::returned:
        merge(clock(caller_), host_);
        for (const Buffer* b : step.written) access(b, true, caller_, std::nullopt);
        break;
    }
  }

  void access(const Buffer* buffer, bool writes, std::size_t stream, std::optional<std::size_t> step) {
    State& state = states_[buffer];
    const auto ordered = [&](const Access& other) { return tick(stream, other.stream) >= other.at; };
    if (state.write && !ordered(*state.write)) tell(*state.write, step, buffer);
    const Access own{stream, tick(stream, stream), step};
    if (!writes) {
      state.reads.push_back(own);
      return;
    }
    for (const Access& read : state.reads)
      if (!ordered(read)) tell(read, step, buffer);
    state.reads.clear();
    state.write = own;
  }

  void tell(const Access& first, std::optional<std::size_t> second, const Buffer* buffer) {
    // The caller's stream is the right one.
    const bool right = second && first.step && index_of(canonical(steps[*second].stream)) == caller_;
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
    r.text =
        fmt::format("{} {} on {}, and nothing orders it with {}", name(step),
                    step.kernel.empty() ? "is made" : "is launched",
                    canonical(step.stream) == nullptr ? "the default stream" : "a stream of its own", why);
    reports_.push_back(std::move(r));
  }

  std::map<const void*, std::size_t> indices_;
  std::vector<Clock> clocks_;
  std::map<const void*, Clock> events_;
  Clock host_;
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
  const void* own = canonical(stream);
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
      if (b != nullptr) (known && kinds[i] == 'p' ? step.written : step.read).push_back(b);
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

__attribute__((visibility("default"))) void isomer_emulator_order(OrderStep what, void* subject,
                                                                  const void* written, const void* read) {
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
