#pragma once

#include "gpu/vendor.hpp"

#include <string>
#include <string_view>

namespace isomer::gpu {

/// The first line of a compiler's log that speaks of an error, else `otherwise`.
std::string first_complaint(std::string_view log, std::string_view otherwise);

/// Registers, spills and shared memory from ptxas's verbose lines.
Resources ptxas_resources(std::string_view log);

}  // namespace isomer::gpu
