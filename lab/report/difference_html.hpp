#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/launch_groups.hpp"

#include <string>

namespace isomer::lab {

/// One page that needs nothing else: the verdict, both captures' launches in order with their median times as
/// a picture, and every difference. Of a long capture the picture shows the first 1500 launches.
std::string difference_html(const DiffResult& result, const GroupedCapture& a, const GroupedCapture& b);

}  // namespace isomer::lab
