#pragma once

#include "lab/candidate/recording.hpp"

#include <string>

namespace isomer::lab {

/// What a recorder would have kept of a label of that name: its calls, its answers in double precision
/// rounded once, and what the texts say of it. Of one that is not known, no call.
Recording calls_of_label(const std::string& name);

}  // namespace isomer::lab
