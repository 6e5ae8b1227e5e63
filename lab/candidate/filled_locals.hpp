#pragma once

#include "lab/candidate/candidate.hpp"

#include <functional>
#include <memory>

namespace isomer::lab {

/// The candidate built once more, with local variables that nothing initialises beginning in that way; null
/// where it does not build so.
using FilledLocals = std::function<std::shared_ptr<const Candidate>(Locals)>;

}  // namespace isomer::lab
