#pragma once

#include "core/oracle/expected.hpp"
#include "lab/check/outcome.hpp"

#include <string>

namespace isomer::lab {

/// Holds a CPU output against what it must be: adds its errors to `outcome` and returns a sentence for the
/// first element that is wrong, with their number; empty where none is. Elements that the op does not write
/// are not looked at. `lenient`: the reference's leniency for approximate division counts.
std::string compare(const core::ExpectedTensor& expected, const Tensor& got, bool lenient, Outcome& outcome);

}  // namespace isomer::lab
