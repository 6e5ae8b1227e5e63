#pragma once

#include "lab/ask/find_call.hpp"

namespace isomer::lab {

/// A stranger's function that is wrong on the plain problem: whether it is right where it is asked for less:
/// for no more than its parameters can say (as many heads of k as of q, one length), for tensors without
/// leading axes, or for sizes for which alone many kernels are written. What it is asked later is as simple.
void try_simpler(const Candidate& candidate, const CallRequest& request, Called& called);

/// Whether a function takes tensors, whose shapes say what it is asked.
bool takes_tensors(const Entry& entry);

}  // namespace isomer::lab
