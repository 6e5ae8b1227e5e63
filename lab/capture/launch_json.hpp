#pragma once

#include "lab/capture/capture.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace isomer::lab {

/// Offset and size of each parameter in a kernel's parameter buffer.
using ParameterLayout = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

/// What all launches of a kernel share, as the keys of a kernel line; and what each has of its own.
nlohmann::ordered_json kernel_json(const Launch& launch);
nlohmann::ordered_json launch_json(const Launch& launch);

/// The other way. Keys that are absent, of another type or out of range leave the field as it was.
void read_kernel(const nlohmann::json& line, Launch& launch, ParameterLayout& layout);
/// Starts are taken from `origin` on where they lie behind it: a double does not hold the nanoseconds since
/// 1970.
void read_launch(const nlohmann::json& line, const ParameterLayout& layout, Launch& launch,
                 std::uint64_t origin = 0);

}  // namespace isomer::lab
