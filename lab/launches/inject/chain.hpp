#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

namespace isomer::inject {

/// The nodes from first to last, where the edges from[i] → to[i] make them one chain: each node but the first
/// has one before it, each but the last one behind it. Nothing for any other graph.
template <class Node>
std::optional<std::vector<Node>> chain_order(const std::vector<Node>& nodes, const std::vector<Node>& from,
                                             const std::vector<Node>& to) {
  if (nodes.empty() || from.size() != to.size() || nodes.size() != from.size() + 1) return std::nullopt;
  std::unordered_map<Node, Node> next, before;
  for (std::size_t i = 0; i < from.size(); ++i)
    if (!next.emplace(from[i], to[i]).second || !before.emplace(to[i], from[i]).second) return std::nullopt;
  std::vector<Node> order;
  for (const Node& node : nodes)
    if (!before.contains(node)) order.push_back(node);
  if (order.size() != 1) return std::nullopt;
  for (auto at = next.find(order.back()); at != next.end() && order.size() < nodes.size();
       at = next.find(order.back()))
    order.push_back(at->second);
  if (order.size() != nodes.size()) return std::nullopt;
  return order;
}

}  // namespace isomer::inject
