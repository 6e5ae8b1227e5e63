#pragma once

#include "lab/trace/inject/cuda/cupti.hpp"

#include <cstdint>

namespace isomer::inject {

/// CUPTI's number of a graph's node, which a run of it carries too; 0 where there is none.
std::uint64_t number_of(CUgraphNode node);

/// A call that makes, launches or changes a graph has ended well.
void heard_graph(CUpti_CallbackId id, const CUpti_CallbackData& data);
/// A node has been copied into an executable graph.
void heard_clone(const CUpti_GraphData& graph);

}  // namespace isomer::inject
