// Graphs: what a stream is given while it is captured is kept as calls, and done when the graph is launched.
#pragma once

#include <utility>

#include "abi.h"

namespace isomer::emulator {

/// The graph owns the call.
template <class Call>
GraphNode* add_node(Graph* graph, NodeKind kind, Call call) {
  return isomer_emulator_graph_add(
      graph, {[](void* state, void* stream) { (*static_cast<Call*>(state))(stream); },
              [](void* state) { delete static_cast<Call*>(state); }, new Call(std::move(call)), kind});
}
/// Keeps the call where the stream is captured.
template <class Call>
bool capture(const void* stream, NodeKind kind, Call call) {
  Graph* const graph = isomer_emulator_captured(stream);
  if (graph == nullptr) return false;
  add_node(graph, kind, std::move(call));
  return true;
}

}  // namespace isomer::emulator
