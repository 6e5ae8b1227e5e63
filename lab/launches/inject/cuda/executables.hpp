#pragma once

#include "lab/launches/inject/cuda/cupti.hpp"

#include <cstdint>
#include <vector>

namespace isomer::inject {

/// CUPTI's number of a graph's node, which a run of it carries too; 0 where there is none.
std::uint64_t number_of(CUgraphNode node);

/// A node has been copied, in a call of this thread that makes an executable graph.
void node_copied(std::uint64_t original, std::uint64_t copy);
/// A call begins: copies that follow are its own.
void copies_begin();
/// The call has made this executable graph from that graph.
void executable_made(CUgraphExec executable, CUgraph graph);
void executable_destroyed(CUgraphExec executable);

/// The copies of a graph's node that an executable graph runs, which are set anew. Where it is not known
/// which they are, it writes that all that may be are unknown, and gives none.
std::vector<std::uint64_t> copies_set(CUgraphExec executable, CUgraphNode original);
/// Writes that the executable graph runs what another graph states now. CUDA pairs their nodes by the graphs'
/// shapes: where both are chains that is by their order, and in any other shape the nodes' arguments become
/// unknown.
void executable_updated(CUgraphExec executable, CUgraph graph);

}  // namespace isomer::inject
