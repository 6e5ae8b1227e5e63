#include "lab/launches/inject/cuda/graphs.hpp"

#include "lab/launches/inject/cuda/executables.hpp"
#include "lab/launches/inject/cuda/staged.hpp"
#include "lab/launches/inject/output.hpp"

namespace isomer::inject {
namespace {

template <class Parameters>
void write_node(std::uint64_t number, const Parameters& parameters, CUfunction function) {
  if (number == 0 || function == nullptr) return;
  Staged staged = Staged::of(parameters);
  staged.function = function;
  staged.parameters = parameters.kernelParams;
  staged.extra = parameters.extra;
  Line("node", number).raw(staged.json(nullptr)).write();
}

void write_node(std::uint64_t number, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  if (parameters != nullptr) write_node(number, *parameters, parameters->func);
}

void write_node(std::uint64_t number, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return;
  // A CUkernel serves as a CUfunction: the handle's kind is found out where it is examined.
  write_node(number, *parameters,
             parameters->func != nullptr ? parameters->func : reinterpret_cast<CUfunction>(parameters->kern));
}

void write_node(std::uint64_t number, const CUgraphNodeParams* parameters) {
  if (parameters == nullptr || parameters->type != CU_GRAPH_NODE_TYPE_KERNEL) return;
  const auto& kernel = parameters->kernel;
  write_node(number, kernel,
             kernel.func != nullptr ? kernel.func : reinterpret_cast<CUfunction>(kernel.kern));
}

/// A node was added to a graph, or set anew in one.
template <class Parameters>
void node_stated(const CUgraphNode* node, const Parameters* parameters) {
  if (node != nullptr) write_node(number_of(*node), parameters);
}

/// A node was set anew in an executable graph, which runs a copy of it.
template <class Parameters>
void node_set(CUgraphExec executable, CUgraphNode node, const Parameters* parameters) {
  for (const std::uint64_t copy : copies_set(executable, node)) {
    // It may be that no function is stated, or that its own cannot be examined.
    Line("forget", copy).write();
    write_node(copy, parameters);
  }
}

}  // namespace

void heard_graph(CUpti_CallbackId id, const CUpti_CallbackData& data) {
  const void* call = data.functionParams;
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz:
      return Line("graph", data.correlationId).write();
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2: {
      const auto& added = *static_cast<const cuGraphAddKernelNode_v2_params*>(call);
      return node_stated(added.phGraphNode, added.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode: {
      const auto& added = *static_cast<const cuGraphAddKernelNode_params*>(call);
      return node_stated(added.phGraphNode, added.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode: {
      const auto& added = *static_cast<const cuGraphAddNode_params*>(call);
      return node_stated(added.phGraphNode, added.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2: {
      const auto& added = *static_cast<const cuGraphAddNode_v2_params*>(call);
      return node_stated(added.phGraphNode, added.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2: {
      const auto& set = *static_cast<const cuGraphKernelNodeSetParams_v2_params*>(call);
      return node_stated(&set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams: {
      const auto& set = *static_cast<const cuGraphKernelNodeSetParams_params*>(call);
      return node_stated(&set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphNodeSetParams: {
      const auto& set = *static_cast<const cuGraphNodeSetParams_params*>(call);
      return node_stated(&set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2: {
      const auto& set = *static_cast<const cuGraphExecKernelNodeSetParams_v2_params*>(call);
      return node_set(set.hGraphExec, set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams: {
      const auto& set = *static_cast<const cuGraphExecKernelNodeSetParams_params*>(call);
      return node_set(set.hGraphExec, set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecNodeSetParams: {
      const auto& set = *static_cast<const cuGraphExecNodeSetParams_params*>(call);
      return node_set(set.hGraphExec, set.hNode, set.nodeParams);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecUpdate_v2: {
      // Their parameters begin alike, as those of the calls that make an executable graph do.
      const auto& updated = *static_cast<const cuGraphExecUpdate_v2_params*>(call);
      return executable_updated(updated.hGraphExec, updated.hGraph);
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiate_v2:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithFlags:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams:
    case CUPTI_DRIVER_TRACE_CBID_cuGraphInstantiateWithParams_ptsz: {
      const auto& made = *static_cast<const cuGraphInstantiateWithFlags_params*>(call);
      if (made.phGraphExec != nullptr) executable_made(*made.phGraphExec, made.hGraph);
      return;
    }
    case CUPTI_DRIVER_TRACE_CBID_cuGraphExecDestroy:
      return executable_destroyed(static_cast<const cuGraphExecDestroy_params*>(call)->hGraphExec);
    default:
      return;
  }
}

void heard_clone(const CUpti_GraphData& graph) {
  const std::uint64_t clone = number_of(graph.node), original = number_of(graph.originalNode);
  if (clone == 0 || original == 0) return;
  Line("clone", clone).number("of", original).write();
  node_copied(original, clone);
}

}  // namespace isomer::inject
