#include "lab/trace/inject/cuda/graphs.hpp"

#include "lab/trace/inject/cuda/staged.hpp"
#include "lab/trace/inject/output.hpp"

#include <mutex>
#include <unordered_map>
#include <vector>

namespace isomer::inject {
namespace {

/// Nodes of executable graphs by the node that they were copied from.
struct Clones {
  std::mutex mutex;
  std::unordered_map<std::uint64_t, std::vector<std::uint64_t>> of;
};

Clones& clones() {
  static Clones& only = *new Clones;
  return only;
}

template <class Parameters>
void write_node(CUgraphNode node, const Parameters& parameters, CUfunction function) {
  const std::uint64_t number = number_of(node);
  if (number == 0 || function == nullptr) return;
  Staged staged = Staged::of(parameters);
  staged.function = function;
  staged.parameters = parameters.kernelParams;
  staged.extra = parameters.extra;
  Line("node", number).raw(staged.json(nullptr)).write();
}

void write_node(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return;
  // A CUkernel serves as a CUfunction: the handle's kind is found out where it is examined.
  write_node(node, *parameters,
             parameters->func != nullptr ? parameters->func : reinterpret_cast<CUfunction>(parameters->kern));
}

void write_node(CUgraphNode node, const CUgraphNodeParams* parameters) {
  if (parameters == nullptr || parameters->type != CU_GRAPH_NODE_TYPE_KERNEL) return;
  const auto& kernel = parameters->kernel;
  write_node(node, kernel, kernel.func != nullptr ? kernel.func : reinterpret_cast<CUfunction>(kernel.kern));
}

/// An executable graph's copies of a node run with other parameters from now on.
void forget_clones(CUgraphNode node) {
  const std::uint64_t number = number_of(node);
  const std::lock_guard lock(clones().mutex);
  for (const std::uint64_t clone : clones().of[number]) Line("forget", clone).write();
}

}  // namespace

std::uint64_t number_of(CUgraphNode node) {
  std::uint64_t number = 0;
  if (node == nullptr || calls().graph_node_id == nullptr ||
      calls().graph_node_id(node, &number) != CUPTI_SUCCESS)
    return 0;
  return number;
}

void heard_graph(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const void* call = data.functionParams;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return Line("graph", data.correlationId).write();
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2: {
      const auto& added = *static_cast<const cuGraphAddKernelNode_v2_params*>(call);
      return write_node(*added.phGraphNode, added.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode: {
      const auto& added = *static_cast<const cuGraphAddKernelNode_params*>(call);
      if (added.nodeParams != nullptr)
        write_node(*added.phGraphNode, *added.nodeParams, added.nodeParams->func);
      return;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode: {
      const auto& added = *static_cast<const cuGraphAddNode_params*>(call);
      return write_node(*added.phGraphNode, added.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2: {
      const auto& added = *static_cast<const cuGraphAddNode_v2_params*>(call);
      return write_node(*added.phGraphNode, added.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2: {
      const auto& set = *static_cast<const cuGraphKernelNodeSetParams_v2_params*>(call);
      return write_node(set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams: {
      const auto& set = *static_cast<const cuGraphNodeSetParams_params*>(call);
      return write_node(set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2:
      return forget_clones(static_cast<const cuGraphExecKernelNodeSetParams_v2_params*>(call)->hNode);
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams:
      return forget_clones(static_cast<const cuGraphExecNodeSetParams_params*>(call)->hNode);
    default:
      return;
  }
}

void heard_clone(const CUpti_GraphData& graph) {
  const std::uint64_t clone = number_of(graph.node), original = number_of(graph.originalNode);
  if (clone == 0 || original == 0) return;
  Line("clone", clone).number("of", original).write();
  const std::lock_guard lock(clones().mutex);
  clones().of[original].push_back(clone);
}

}  // namespace isomer::inject
