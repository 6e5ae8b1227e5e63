#include "lab/capture/joiner.hpp"

#include <algorithm>
#include <utility>

namespace isomer::lab {
namespace {

/// What the device tells of a run, added to what the call told of the launch.
void add_run(Launch& launch, Launch&& run) {
  launch.start_ns = run.start_ns;
  launch.duration_ns = run.duration_ns;
  if (run.registers) launch.registers = run.registers;
  if (run.shared_static) launch.shared_static = run.shared_static;
  if (run.local_bytes) launch.local_bytes = run.local_bytes;
  if (run.device) launch.device = run.device;
  if (run.stream) launch.stream = run.stream;
  if (run.graph_node) launch.graph_node = run.graph_node;
  if (run.cluster) launch.cluster = run.cluster;
  if (!launch.grid) launch.grid = run.grid;
  if (!launch.block) launch.block = run.block;
  if (!launch.shared_dynamic) launch.shared_dynamic = run.shared_dynamic;
  if (launch.name.empty()) launch.name = std::move(run.name);
}

}  // namespace

void Joiner::launched(Launch&& launch) {
  const std::uint64_t correlation = launch.correlation.value_or(0);
  at_[correlation] = first_ + waiting_.size();
  waiting_.push_back({correlation, false, false, std::move(launch), {}});
  ++held_;
  give(false);
}

void Joiner::done(Launch&& launch) {
  waiting_.push_back({0, false, true, std::move(launch), {}});
  ++held_;
  give(false);
}

void Joiner::graph_launched(std::uint64_t correlation) {
  at_[correlation] = first_ + waiting_.size();
  waiting_.push_back({correlation, true, false, {}, {}});
  ++held_;
  give(false);
}

void Joiner::node(std::uint64_t id, Launch&& launch) {
  const std::uint64_t from = first_ + waiting_.size();
  auto& versions = nodes_[id];
  // Whatever waits is an entry from first_ on.
  while (versions.size() > 1 && versions[1].from <= first_) {
    versions.erase(versions.begin());
    --versions_;
  }
  if (!versions.empty() && versions.back().from == from) {
    versions.back().launch = std::move(launch);
  } else if (versions_ < kNodes) {
    versions.push_back({from, std::move(launch)});
    ++versions_;
  } else if (!versions.empty()) {
    // No room for what it was and what it is: neither is known.
    Launch blank;
    blank.captured = versions.back().launch.captured;
    versions.back().launch = std::move(blank);
  }
}

void Joiner::cloned(std::uint64_t id, std::uint64_t of) {
  const auto original = nodes_.find(of);
  if (original == nodes_.end() || original->second.empty()) return;
  Launch copy = original->second.back().launch;
  node(id, std::move(copy));
}

void Joiner::forget_node(std::uint64_t id) {
  const auto known = nodes_.find(id);
  if (known == nodes_.end() || known->second.empty()) return;
  Launch blank;
  blank.captured = known->second.back().launch.captured;
  node(id, std::move(blank));
}

/// What the node launched at that entry; null where it is not known.
const Launch* Joiner::node_at(std::uint64_t id, std::optional<std::uint64_t> entry) const {
  const auto known = nodes_.find(id);
  if (known == nodes_.end() || known->second.empty()) return nullptr;
  const auto& versions = known->second;
  if (!entry) return versions.size() == 1 ? &versions.front().launch : nullptr;
  for (auto version = versions.rbegin(); version != versions.rend(); ++version)
    if (version->from <= *entry) return &version->launch;
  return nullptr;
}

void Joiner::ran(Launch&& run) {
  const auto found = at_.find(run.correlation.value_or(0));
  Entry* entry = found == at_.end() ? nullptr : &waiting_[found->second - first_];
  if (entry != nullptr && !entry->graph && !run.graph_node && !entry->done) {
    add_run(entry->launch, std::move(run));
    entry->done = true;
    return give(false);
  }
  // It has been given on already.
  if (entry == nullptr && !run.graph_node && gone_.erase(run.correlation.value_or(0)) > 0) return;
  Launch launch;
  bool known = false;
  if (run.graph_node)
    if (const Launch* node =
            node_at(*run.graph_node,
                    found == at_.end() ? std::nullopt : std::optional<std::uint64_t>(found->second))) {
      launch = *node;
      known = true;
    }
  if (!known && (entry == nullptr || !entry->graph)) ++unmatched_;
  launch.correlation = run.correlation;
  launch.process = run.process;
  add_run(launch, std::move(run));
  ++held_;
  if (entry != nullptr && entry->graph)
    entry->runs.push_back(std::move(launch));
  else
    waiting_.push_back({0, false, true, std::move(launch), {}});
  give(false);
}

void Joiner::end() { give(true); }

void Joiner::give(bool all) {
  while (!waiting_.empty() && (all || waiting_.front().done || held_ > kWindow)) give_front();
}

void Joiner::give_front() {
  Entry entry = std::move(waiting_.front());
  waiting_.pop_front();
  if (const auto found = at_.find(entry.correlation); found != at_.end() && found->second == first_)
    at_.erase(found);
  ++first_;
  --held_;
  if (!entry.graph) {
    if (!entry.done) {
      ++untimed_;
      if (gone_.size() < kNodes) gone_.insert(entry.correlation);
    }
    return sink_(std::move(entry.launch));
  }
  held_ -= entry.runs.size();
  if (entry.runs.empty()) ++hidden_;
  std::stable_sort(entry.runs.begin(), entry.runs.end(), [](const Launch& a, const Launch& b) {
    return a.start_ns.value_or(0) < b.start_ns.value_or(0);
  });
  for (Launch& run : entry.runs) sink_(std::move(run));
}

}  // namespace isomer::lab
