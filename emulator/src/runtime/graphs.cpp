#include "runtime/graphs.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "isomer_emulator/abi.h"

namespace isomer::emulator {

struct GraphNode {
  GraphWork work;
  explicit GraphNode(GraphWork w) : work(w) {}
  GraphNode(const GraphNode&) = delete;
  GraphNode& operator=(const GraphNode&) = delete;
  ~GraphNode() {
    if (work.drop) work.drop(work.state);
  }
};

/// Work in the order in which it was given, which keeps every dependency: a node can only depend on earlier
/// ones.
struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;
};

namespace {

/// Of all graphs and captures; never in hand while work runs or its state is dropped.
std::mutex graphs_mutex;
std::map<const void*, Graph*> streams, events;
/// How many streams are captured: most programs never do, and ask at every launch.
std::atomic<std::size_t> capturing{0};

Graph* graph_of(const std::map<const void*, Graph*>& all, const void* handle) {
  const auto found = all.find(handle);
  return found == all.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<GraphNode>> nodes_of(const Graph& graph) {
  std::lock_guard lock(graphs_mutex);
  return graph.nodes;
}

}  // namespace

void forget_captured(const void* handle) {
  if (capturing == 0) return;
  std::lock_guard lock(graphs_mutex);
  streams.erase(handle);
  events.erase(handle);
  capturing = streams.size();
}

#define EXPORT __attribute__((visibility("default")))
extern "C" {

EXPORT Graph* isomer_emulator_graph(const Graph* copied) {
  return copied ? new Graph{nodes_of(*copied)} : new Graph;
}
EXPORT void isomer_emulator_graph_destroy(Graph* graph) { delete graph; }
EXPORT void isomer_emulator_graph_run(const Graph* graph, void* stream) {
  for (const auto& node : nodes_of(*graph)) node->work.run(node->work.state, stream);
}
EXPORT GraphNode* isomer_emulator_graph_add(Graph* graph, GraphWork work) {
  auto node = std::make_shared<GraphNode>(work);
  std::lock_guard lock(graphs_mutex);
  return graph->nodes.emplace_back(std::move(node)).get();
}
EXPORT std::size_t isomer_emulator_graph_nodes(const Graph* graph, GraphNode** nodes, std::size_t room) {
  const auto all = nodes_of(*graph);
  for (std::size_t i = 0; i < std::min(room, all.size()); ++i) nodes[i] = all[i].get();
  return all.size();
}

EXPORT int isomer_emulator_capture_begin(const void* stream) {
  std::lock_guard lock(graphs_mutex);
  if (streams.count(stream)) return 0;
  streams[stream] = new Graph;
  capturing = streams.size();
  return 1;
}
/// The streams and events that joined the capture end with it.
EXPORT Graph* isomer_emulator_capture_end(const void* stream) {
  std::lock_guard lock(graphs_mutex);
  Graph* const graph = graph_of(streams, stream);
  if (!graph) return nullptr;
  for (auto* all : {&streams, &events})
    std::erase_if(*all, [&](const auto& of) { return of.second == graph; });
  capturing = streams.size();
  return graph;
}
EXPORT Graph* isomer_emulator_captured(const void* stream) {
  if (capturing == 0) return nullptr;
  std::lock_guard lock(graphs_mutex);
  return graph_of(streams, stream);
}
EXPORT void isomer_emulator_capture_record(const void* event, const void* stream) {
  if (capturing == 0) return;
  std::lock_guard lock(graphs_mutex);
  if (Graph* const graph = graph_of(streams, stream)) events[event] = graph;
}
/// A stream that waits for an event of a captured stream is captured with it.
EXPORT void isomer_emulator_capture_wait(const void* stream, const void* event) {
  if (capturing == 0) return;
  std::lock_guard lock(graphs_mutex);
  if (Graph* const graph = graph_of(events, event)) streams[stream] = graph;
  capturing = streams.size();
}
}
#undef EXPORT

}  // namespace isomer::emulator
