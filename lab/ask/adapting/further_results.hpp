#pragma once

#include "lab/ask/find_call.hpp"

namespace isomer::lab {

/// Tensors that a function returns behind those that its original does: what many kernels like it return
/// besides, by its shape (log-sum-exps of attention), is asked for and compared from here on. A note says
/// which of them nobody looks at.
void take_further_results(const Candidate& candidate, const CallRequest& request, Called& called);

}  // namespace isomer::lab
