#pragma once

#include "lab/ask/find_call.hpp"

namespace isomer::lab {

/// Of a stranger's kernel over a cache of keys, with pages or without: the order in which its keys and values
/// lie, and sizes for which such kernels are written, where the op's order gives no right answer.
void try_cache_layouts(const Candidate& candidate, const CallRequest& request, Called& called);

}  // namespace isomer::lab
