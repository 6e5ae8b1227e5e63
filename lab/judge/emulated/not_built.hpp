#pragma once

#include "lab/candidate/candidate.hpp"
#include "lab/findings/finding.hpp"

#include <string>

namespace isomer::lab {

/// What is said of a candidate that does not compile, does not link or cannot be loaded. `source` is its
/// text, empty of a library.
Finding not_built(const BuildFailure& failure, const std::string& source);

/// Whether it asks for what real devices have and the emulated one has not: nothing is said of it then.
bool lacks_on_device(const BuildFailure& failure);

}  // namespace isomer::lab
