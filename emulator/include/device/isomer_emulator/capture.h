// Graphs: what a stream is given while it is captured is kept as calls, and done when the graph is launched.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace isomer::emulator {

/// Work in the order in which it was given, which keeps every dependency: a node can only depend on earlier ones.
struct Graph {
  std::vector<std::shared_ptr<std::function<void(void* stream)>>> nodes;
};

struct Captures {
  std::map<const void*, Graph*> streams, events;
};
__attribute__((visibility("hidden"))) inline Captures& captures() {
  static Captures all;
  return all;
}

/// The graph that the stream's work goes into; null where it is done at once.
inline Graph* captured(const void* stream) {
  const auto& all = captures().streams;
  if (all.empty()) return nullptr;
  const auto found = all.find(stream);
  return found == all.end() ? nullptr : found->second;
}
/// Keeps the call where the stream is captured.
template <class Call>
bool capture(const void* stream, Call call) {
  Graph* const graph = captured(stream);
  if (graph == nullptr) return false;
  graph->nodes.push_back(std::make_shared<std::function<void(void*)>>(std::move(call)));
  return true;
}
/// A stream that waits for an event of a captured stream is captured with it.
inline void capture_event(const void* event, const void* stream) {
  if (Graph* graph = captured(stream)) captures().events[event] = graph;
}
inline void capture_wait(const void* stream, const void* event) {
  const auto found = captures().events.find(event);
  if (found != captures().events.end()) captures().streams[stream] = found->second;
}
inline Graph* end_capture(const void* stream) {
  Graph* const graph = captured(stream);
  for (auto* all : {&captures().streams, &captures().events}) {
    for (auto at = all->begin(); at != all->end();) at = at->second == graph ? all->erase(at) : std::next(at);
  }
  return graph;
}
inline void run_graph(const Graph& graph, void* stream) {
  for (const auto& node : graph.nodes) (*node)(stream);
}

}  // namespace isomer::emulator
