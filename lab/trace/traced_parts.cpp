#include "lab/trace/traced_parts.hpp"

#include "core/sentence.hpp"
#include "lab/trace/capture_file.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

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

  void give_rest(const LaunchSink& sink) {
    for (auto& [key, launches] : waiting_)
      for (Launch& launch : launches)
        if (!launch.variant["implementation"].starts_with("cuda/")) sink(std::move(launch));
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

Capture read(const fs::path& path, std::uint64_t begun_ns, const LaunchSink& sink) {
  std::ifstream in(path, std::ios::binary);
  try {
    return read_capture_file(in, path.filename().string(), sink, begun_ns);
  } catch (const Error&) {
    // Cut within its first line.
    Capture nothing;
    nothing.complete = false;
    nothing.incomplete = "nothing of it was written";
    return nothing;
  }
}

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

}  // namespace

void read_parts(const std::string& folder, std::uint64_t begun_ns, const LaunchSink& sink, Traced& traced) {
  const std::map<std::string, Process> all = processes_in(folder);
  std::vector<std::pair<std::string, Process>> in_order(all.begin(), all.end());
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto& a, const auto& b) { return a.second.begun < b.second.begun; });
  traced.about.kind = "isomer";
  const auto count = [&](Launch&& launch) {
    ++traced.launches;
    sink(std::move(launch));
  };
  for (const auto& [number, process] : in_order) {
    ++traced.processes;
    if (process.device.empty()) {
      join(number, read(process.isomer, begun_ns, count), traced);
      continue;
    }
    OwnLaunches own;
    if (!process.isomer.empty())
      join(number, read(process.isomer, begun_ns, [&](Launch&& launch) { own.add(std::move(launch)); }),
           traced);
    const Capture part = read(process.device, begun_ns, [&](Launch&& launch) {
      own.name(launch);
      count(std::move(launch));
    });
    join(number, part, traced);
    own.give_rest(count);
  }
}

}  // namespace isomer::lab
