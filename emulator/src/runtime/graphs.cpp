#include "runtime/graphs.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "isomer_emulator/abi.h"
#include "runtime/errors.hpp"
#include "runtime/graph_conditions.hpp"
#include "runtime/graph_memory.hpp"

namespace isomer::emulator {

/// What one or several nodes do: a copy of a graph shares it until one of the two gets another.
struct KeptWork {
  GraphWork work;
  explicit KeptWork(GraphWork w) : work(w) {}
  KeptWork(const KeptWork&) = delete;
  KeptWork& operator=(const KeptWork&) = delete;
  ~KeptWork() {
    if (work.drop) work.drop(work.state);
  }
};
struct GraphNode {
  std::shared_ptr<const KeptWork> kept;
  const GraphNode* copied;  ///< the node of another graph that it is a copy of
};

/// Work in the order in which it was given, which keeps every dependency: a node can only depend on earlier
/// ones.
struct Graph {
  std::vector<std::shared_ptr<GraphNode>> nodes;
  bool frees_at_launch = false;
  std::vector<unsigned long long> conditions;  ///< with a value that each launch begins with
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
std::vector<std::shared_ptr<const KeptWork>> works_of(const Graph& graph) {
  std::lock_guard lock(graphs_mutex);
  std::vector<std::shared_ptr<const KeptWork>> works;
  for (const auto& node : graph.nodes) works.push_back(node->kept);
  return works;
}
Graph* copy_of(const Graph& graph) {
  std::lock_guard lock(graphs_mutex);
  auto* const copy = new Graph;
  for (const auto& node : graph.nodes)
    copy->nodes.push_back(std::make_shared<GraphNode>(GraphNode{node->kept, node.get()}));
  copy->conditions = graph.conditions;
  return copy;
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

EXPORT Graph* isomer_emulator_graph(const Graph* copied) { return copied ? copy_of(*copied) : new Graph; }
EXPORT void isomer_emulator_graph_frees_at_launch(Graph* graph) { graph->frees_at_launch = true; }
EXPORT void isomer_emulator_graph_destroy(Graph* graph) { delete graph; }
EXPORT void isomer_emulator_graph_run(const Graph* graph, void* stream) {
  const graph_memory::FreesAtLaunch frees(graph->frees_at_launch);
  graph_conditions::begin(graph->conditions);
  for (const auto& kept : works_of(*graph)) kept->work.run(kept->work.state, stream);
}
EXPORT GraphNode* isomer_emulator_graph_add(Graph* graph, GraphWork work) {
  auto node = std::make_shared<GraphNode>(GraphNode{std::make_shared<KeptWork>(work), nullptr});
  std::lock_guard lock(graphs_mutex);
  return graph->nodes.emplace_back(std::move(node)).get();
}
EXPORT unsigned long long isomer_emulator_graph_condition(Graph* graph, unsigned initial, int assigns) {
  const unsigned long long made = graph_conditions::make(initial);
  if (assigns) graph->conditions.push_back(made);
  return made;
}
EXPORT std::size_t isomer_emulator_graph_nodes(const Graph* graph, GraphNode** nodes, std::size_t room) {
  const auto all = nodes_of(*graph);
  for (std::size_t i = 0; i < std::min(room, all.size()); ++i) nodes[i] = all[i].get();
  return all.size();
}

EXPORT NodeKind isomer_emulator_graph_node_kind(const GraphNode* node) {
  std::lock_guard lock(graphs_mutex);
  return node->kept->work.kind;
}

EXPORT int isomer_emulator_graph_set(Graph* copy, GraphNode* node, Graph* fresh) {
  const std::unique_ptr<Graph> owned(fresh);
  if (!node || !fresh || fresh->nodes.empty()) return 0;
  std::shared_ptr<const KeptWork> before;  // it goes when the lock is open again
  std::lock_guard lock(graphs_mutex);
  if (copy) {
    const auto found = std::find_if(copy->nodes.begin(), copy->nodes.end(),
                                    [&](const auto& n) { return n->copied == node || n.get() == node; });
    if (found == copy->nodes.end()) return 0;
    node = found->get();
  }
  before = std::exchange(node->kept, fresh->nodes.back()->kept);
  return 1;
}
EXPORT int isomer_emulator_graph_update(Graph* copy, const Graph* graph) {
  std::vector<std::shared_ptr<const KeptWork>> before = works_of(*graph);
  std::lock_guard lock(graphs_mutex);
  if (before.size() != copy->nodes.size()) return 0;
  for (std::size_t i = 0; i < before.size(); ++i) std::swap(copy->nodes[i]->kept, before[i]);
  return 1;
}

EXPORT int isomer_emulator_capture_begin(const void* stream) {
  std::lock_guard lock(graphs_mutex);
  if (streams.count(stream)) return 0;
  streams[stream] = new Graph;
  capturing = streams.size();
  return 1;
}
EXPORT int isomer_emulator_capture_begin_to(const void* stream, Graph* graph) {
  std::lock_guard lock(graphs_mutex);
  if (!graph || streams.count(stream)) return 0;
  streams[stream] = graph;
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
/// What a library does on the host is done at once: into a graph it cannot go.
EXPORT int isomer_emulator_library_refused() {
  if (capturing == 0) return 0;
  refuse(error::not_supported,
         "a library's call while a stream is captured: it runs on the host at once and is not recorded");
  return 1;
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
