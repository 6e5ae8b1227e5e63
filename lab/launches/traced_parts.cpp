#include "lab/launches/traced_parts.hpp"

#include "core/sentence.hpp"
#include "lab/capture/capture_stream.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

/// Processes whose files are open side by side.
constexpr std::ptrdiff_t kAtOnce = 128;

/// Files of one process.
struct Process {
  fs::file_time_type begun;
  fs::path device, isomer;  ///< the driver's, and Isomer's own
};

std::map<std::string, Process> processes_in(const std::string& folder) {
  std::map<std::string, Process> all;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().stem().string();
    const std::size_t dash = name.find('-');
    if (dash == std::string::npos) continue;
    Process& process = all[name.substr(dash + 1)];
    (name.starts_with("isomer-") ? process.isomer : process.device) = entry.path();
    process.begun = entry.last_write_time(none);
  }
  return all;
}

/// Isomer's own launches of a process until the device's records claim them.
class OwnLaunches {
 public:
  static constexpr std::size_t kMost = 1 << 20;

  void add(Launch&& launch) {
    if (held_++ < kMost) waiting_[key(launch)].push_back(std::move(launch));
  }

  void name(Launch& launch) {
    if (const auto known = by_code_.find(launch.code_hash); launch.captured && known != by_code_.end()) {
      launch.variant = known->second.variant;
      launch.parameters = known->second.parameters;
      return;
    }
    const auto found = waiting_.find(key(launch));
    if (found == waiting_.end() || found->second.empty()) return;
    const Launch& own = found->second.front();
    launch.variant = own.variant;
    launch.parameters = own.parameters;
    if (!launch.code_hash.empty()) by_code_.try_emplace(launch.code_hash, own);
    found->second.pop_front();
  }

  /// Those that no device's record has claimed. What the device itself would have told (a launch of
  /// `device`, "cuda/" or "hip/") is not among them.
  std::deque<Launch> rest(const std::string& device) {
    std::deque<Launch> all;
    for (auto& [key, launches] : waiting_)
      for (Launch& launch : launches)
        if (!launch.variant["implementation"].starts_with(device)) all.push_back(std::move(launch));
    waiting_.clear();
    return all;
  }

 private:
  using Key = std::tuple<std::uint64_t, std::string, std::optional<std::array<std::uint32_t, 3>>,
                         std::optional<std::array<std::uint32_t, 3>>>;
  static Key key(const Launch& launch) {
    return {launch.thread.value_or(0), launch.name, launch.grid, launch.block};
  }

  std::map<Key, std::deque<Launch>> waiting_;
  std::map<std::string, Launch> by_code_;
  std::size_t held_ = 0;
};

/// A part while it is read; one that was cut within its first line has no launches.
class Part {
 public:
  Part(const fs::path& path, std::uint64_t begun_ns) : in_(path, std::ios::binary) {
    try {
      stream_.emplace(in_, path.filename().string(), begun_ns);
    } catch (const Error&) {
    }
  }
  bool next(Launch& launch) { return stream_ && stream_->next(launch); }
  Capture about() {
    if (stream_) return stream_->about();
    Capture nothing;
    nothing.complete = false;
    nothing.incomplete = "nothing of it was written";
    return nothing;
  }

 private:
  std::ifstream in_;
  std::optional<CaptureStream> stream_;
};

/// What one process has launched, in its order.
class ProcessLaunches {
 public:
  ProcessLaunches(std::string number, const Process& process, std::uint64_t begun_ns)
      : number_(std::move(number)) {
    if (process.device.empty()) {
      main_ = std::make_unique<Part>(process.isomer, begun_ns);
      return;
    }
    if (!process.isomer.empty()) {
      Part part(process.isomer, begun_ns);
      for (Launch launch; part.next(launch);) own_.add(std::move(launch));
      own_about_ = part.about();
    }
    const std::string name = process.device.stem().string();
    device_ = name.substr(0, name.find('-')) + "/";
    main_ = std::make_unique<Part>(process.device, begun_ns);
  }

  /// Takes the next one to front(); false at the end.
  bool advance() {
    if (main_->next(front_)) {
      own_.name(front_);
    } else {
      if (!over_) rest_ = own_.rest(device_);
      over_ = true;
      if (rest_.empty()) return false;
      front_ = std::move(rest_.front());
      rest_.pop_front();
    }
    if (front_.start_ns) time_ = *front_.start_ns;
    return true;
  }
  Launch& front() { return front_; }
  /// When front() started; where it has no time, when the one before it did.
  double time() const { return time_; }

  /// Once they are over.
  void tell(Traced& traced);

 private:
  std::string number_, device_;
  OwnLaunches own_;
  std::optional<Capture> own_about_;
  std::unique_ptr<Part> main_;
  std::deque<Launch> rest_;
  Launch front_;
  double time_ = 0;
  bool over_ = false;
};

void join(const std::string& process, const Capture& part, Traced& traced) {
  for (const auto& [name, value] : part.facts) {
    if (name.starts_with("note "))
      traced.missing.push_back(core::say("process ", process, ": ", value));
    else if (name != "tool")
      traced.about.facts[name] = value;
  }
  traced.about.dropped += part.dropped;
  if (!part.complete) {
    traced.about.complete = false;
    traced.about.incomplete = core::say("process ", process, ": ", part.incomplete);
    traced.missing.push_back(traced.about.incomplete);
  }
}

void ProcessLaunches::tell(Traced& traced) {
  if (own_about_) join(number_, *own_about_, traced);
  join(number_, main_->about(), traced);
}

/// Every part's times count since 1970. Each process keeps its own order; among them the earliest goes first.
void read_together(std::span<const std::pair<std::string, Process>> processes, std::uint64_t begun_ns,
                   const LaunchSink& sink, Traced& traced) {
  std::vector<std::unique_ptr<ProcessLaunches>> all;
  std::vector<ProcessLaunches*> running;
  for (const auto& [number, process] : processes) {
    all.push_back(std::make_unique<ProcessLaunches>(number, process, begun_ns));
    if (all.back()->advance()) running.push_back(all.back().get());
  }
  while (!running.empty()) {
    const auto first = std::min_element(running.begin(), running.end(),
                                        [](const auto* a, const auto* b) { return a->time() < b->time(); });
    ++traced.launches;
    sink(std::move((*first)->front()));
    if (!(*first)->advance()) running.erase(first);
  }
  traced.processes += static_cast<int>(all.size());
  for (const auto& process : all) process->tell(traced);
}

}  // namespace

void read_parts(const std::string& folder, std::uint64_t begun_ns, const LaunchSink& sink, Traced& traced) {
  const std::map<std::string, Process> found = processes_in(folder);
  std::vector<std::pair<std::string, Process>> in_order(found.begin(), found.end());
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.second.begun < b.second.begun; });
  traced.about.kind = "isomer";
  for (auto begin = in_order.cbegin(); begin != in_order.cend();) {
    const auto end = begin + std::min<std::ptrdiff_t>(in_order.cend() - begin, kAtOnce);
    read_together({begin, end}, begun_ns, sink, traced);
    begin = end;
  }
}

}  // namespace isomer::lab
