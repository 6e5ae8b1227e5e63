#pragma once

#include "lab/ask/find_call.hpp"

#include <string>

namespace isomer::lab {

/// The sentence for a kernel of which nobody says how it is launched.
std::string launch_is_unknown(const std::string& kernel);
/// Of a kernel of which nobody says how it is launched: the geometry that the problem suggests and that fits.
void find_launch(const Candidate& candidate, const CallRequest& request, Called& called);

}  // namespace isomer::lab
