#pragma once

#include "lab/launches/inject/cuda/cupti.hpp"

namespace isomer::inject {

/// A call that makes, launches or changes a graph has ended well.
void heard_graph(CUpti_CallbackId id, const CUpti_CallbackData& data);
/// A node has been copied into an executable graph.
void heard_clone(const CUpti_GraphData& graph);

}  // namespace isomer::inject
