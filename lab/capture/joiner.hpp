#pragma once

#include "lab/capture/capture.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace isomer::lab {

/// Takes the launches of a capture one by one, in order.
using LaunchSink = std::function<void(Launch&&)>;

/// Puts together what a recorder writes apart: a launch when the program makes it, its run when the device
/// has told of it, the kernels of a graph by their nodes. Gives launches on in the order in which the program
/// made them. Holds at most kWindow launches and runs; the oldest goes on without its time when more wait.
class Joiner {
 public:
  static constexpr std::size_t kWindow = 65536;
  static constexpr std::size_t kNodes = 1 << 20;  ///< of graphs; beyond it their arguments are not kept

  explicit Joiner(LaunchSink sink) : sink_(std::move(sink)) {}
  /// A launch whose run comes later under the same correlation.
  void launched(Launch&& launch);
  /// A launch of which nothing more is to come.
  void done(Launch&& launch);
  /// A graph launch: its kernels run under this correlation.
  void graph_launched(std::uint64_t correlation);
  /// What a kernel node of a graph launches, from the next launch of its graph on: runs of launches before it
  /// are told later.
  void node(std::uint64_t id, Launch&& launch);
  /// The node launches what another one does now: it is a copy, or has been given the other's parameters.
  void cloned(std::uint64_t id, std::uint64_t of);
  /// The node's parameters were set anew in a way that was not seen.
  void forget_node(std::uint64_t id);
  /// A run as the device tells it: name, geometry and times; by correlation, and by node in a graph.
  void ran(Launch&& run);
  void end();

  std::uint64_t unmatched() const { return unmatched_; }   ///< runs that no seen call made
  std::uint64_t untimed() const { return untimed_; }       ///< launches of which the device told nothing
  std::uint64_t hidden_graphs() const { return hidden_; }  ///< graph launches with no run of any node

 private:
  struct Entry {
    std::uint64_t correlation = 0;
    bool graph = false, done = false;
    Launch launch;
    std::vector<Launch> runs;
  };
  /// What a node launches, and the first entry of which that is true.
  struct Version {
    std::uint64_t from = 0;
    Launch launch;
  };
  void give(bool all);
  void give_front();
  const Launch* node_at(std::uint64_t id, std::optional<std::uint64_t> entry) const;

  LaunchSink sink_;
  std::deque<Entry> waiting_;
  std::uint64_t first_ = 0;                              ///< number of waiting_.front() among all entries
  std::size_t held_ = 0;                                 ///< launches and runs in waiting_
  std::unordered_map<std::uint64_t, std::uint64_t> at_;  ///< correlation → number of its entry
  std::unordered_map<std::uint64_t, std::vector<Version>> nodes_;
  std::size_t versions_ = 0;                ///< in nodes_; at most kNodes
  std::unordered_set<std::uint64_t> gone_;  ///< correlations that went on without their run; at most kNodes
  std::uint64_t unmatched_ = 0, untimed_ = 0, hidden_ = 0;
};

}  // namespace isomer::lab
