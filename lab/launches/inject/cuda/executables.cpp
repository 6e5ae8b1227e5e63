#include "lab/launches/inject/cuda/executables.hpp"

#include "lab/launches/inject/chain.hpp"
#include "lab/launches/inject/output.hpp"

#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

namespace isomer::inject {
namespace {

struct Copy {
  std::uint64_t original, copy;
};
thread_local std::vector<Copy> copies;

struct Executable {
  std::vector<Copy> copies;
  /// The copies in the order of their chain; nothing where they are none.
  std::optional<std::vector<std::uint64_t>> chain;
};

struct Executables {
  std::mutex mutex;
  std::unordered_map<CUgraphExec, Executable> all;
  /// Copies by their original of which no heard call has said whose they are.
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> nobodys;
};

Executables& executables() {
  static Executables& only = *new Executables;
  return only;
}

/// The numbers of a graph's kernel nodes in their order, where its nodes are one chain of which none holds
/// others.
std::optional<std::vector<std::uint64_t>> kernel_chain(CUgraph graph) {
  std::size_t count = 0, edge_count = 0;
  if (calls().graph_nodes == nullptr || calls().graph_edges == nullptr || calls().node_type == nullptr ||
      calls().graph_nodes(graph, nullptr, &count) != CUDA_SUCCESS ||
      calls().graph_edges(graph, nullptr, nullptr, &edge_count) != CUDA_SUCCESS || count != edge_count + 1)
    return std::nullopt;
  std::vector<CUgraphNode> nodes(count), from(edge_count), to(edge_count);
  if (calls().graph_nodes(graph, nodes.data(), &count) != CUDA_SUCCESS || count != nodes.size()) return {};
  if (edge_count > 0 && (calls().graph_edges(graph, from.data(), to.data(), &edge_count) != CUDA_SUCCESS ||
                         edge_count != to.size()))
    return std::nullopt;
  const auto order = chain_order(nodes, from, to);
  if (!order) return std::nullopt;
  std::vector<std::uint64_t> numbers;
  for (const CUgraphNode node : *order) {
    CUgraphNodeType type{};
    if (calls().node_type(node, &type) != CUDA_SUCCESS || type == CU_GRAPH_NODE_TYPE_GRAPH ||
        type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
      return std::nullopt;
    if (type != CU_GRAPH_NODE_TYPE_KERNEL) continue;
    const std::uint64_t number = number_of(node);
    if (number == 0) return std::nullopt;
    numbers.push_back(number);
  }
  return numbers;
}

}  // namespace

std::uint64_t number_of(CUgraphNode node) {
  std::uint64_t number = 0;
  if (node == nullptr || calls().graph_node_id == nullptr ||
      calls().graph_node_id(node, &number) != CUPTI_SUCCESS)
    return 0;
  return number;
}

void node_copied(std::uint64_t original, std::uint64_t copy) {
  copies.push_back({original, copy});
  const std::lock_guard lock(executables().mutex);
  executables().nobodys[original].push_back(copy);
}

void copies_begin() { copies.clear(); }

void executable_made(CUgraphExec executable, CUgraph graph) {
  Executable made;
  made.copies = std::exchange(copies, {});
  if (const auto chain = kernel_chain(graph); chain && chain->size() == made.copies.size()) {
    std::unordered_map<std::uint64_t, std::uint64_t> copy_of;
    for (const auto& [original, copy] : made.copies) copy_of[original] = copy;
    made.chain.emplace();
    for (const std::uint64_t original : *chain) {
      const auto copy = copy_of.find(original);
      if (copy == copy_of.end()) {
        made.chain.reset();
        break;
      }
      made.chain->push_back(copy->second);
    }
  }
  const std::lock_guard lock(executables().mutex);
  for (const auto& [original, copy] : made.copies) {
    auto& nobodys = executables().nobodys[original];
    std::erase(nobodys, copy);
    if (nobodys.empty()) executables().nobodys.erase(original);
  }
  executables().all[executable] = std::move(made);
}

void executable_destroyed(CUgraphExec executable) {
  const std::lock_guard lock(executables().mutex);
  executables().all.erase(executable);
}

std::vector<std::uint64_t> copies_set(CUgraphExec executable, CUgraphNode original) {
  const std::uint64_t number = number_of(original);
  std::vector<std::uint64_t> found;
  const std::lock_guard lock(executables().mutex);
  if (const auto known = executables().all.find(executable); known != executables().all.end()) {
    for (const Copy& copy : known->second.copies)
      if (copy.original == number) found.push_back(copy.copy);
  } else if (const auto nobodys = executables().nobodys.find(number);
             nobodys != executables().nobodys.end()) {
    for (const std::uint64_t copy : nobodys->second) Line("forget", copy).write();
  }
  return found;
}

void executable_updated(CUgraphExec executable, CUgraph graph) {
  const auto now = kernel_chain(graph);
  const std::lock_guard lock(executables().mutex);
  const auto known = executables().all.find(executable);
  if (known == executables().all.end()) {
    for (const auto& [original, copies_of_it] : executables().nobodys)
      for (const std::uint64_t copy : copies_of_it) Line("forget", copy).write();
    return;
  }
  const auto& chain = known->second.chain;
  if (now && chain && now->size() == chain->size()) {
    for (std::size_t i = 0; i < chain->size(); ++i)
      Line("clone", (*chain)[i]).number("of", (*now)[i]).write();
    return;
  }
  for (const Copy& copy : known->second.copies) Line("forget", copy.copy).write();
}

}  // namespace isomer::inject
