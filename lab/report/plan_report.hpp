#pragma once

#include "lab/plan/explain.hpp"

#include <string>

namespace isomer::lab {

std::string explain_text(const CaseExplanation& explanation);
/// The JSON of `isomer explain`, version 1, and what is known of each launch's code.
std::string explain_json(const CaseExplanation& explanation);

}  // namespace isomer::lab
