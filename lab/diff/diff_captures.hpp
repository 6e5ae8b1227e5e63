#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/launch_groups.hpp"
#include "lab/names/parameter_layouts.hpp"

#include <vector>

namespace isomer::lab {

/// Pairs the launches of two captures, in order and by name and geometry, then different instantiations and
/// launches of one family between them, and says what differs: see Pair::Kind. What only one of the sources
/// can tell is no difference. A time differs where the medians lie further apart than three standard errors
/// of both, 3 % and 500 ns.
DiffResult diff_captures(const GroupedCapture& a, const GroupedCapture& b, const ParameterLayouts& layouts);

/// What two build logs say, to every pair whose machine code differs: evidence of what may have made it so.
void add_build_options(DiffResult& result, const std::vector<Difference>& options);

}  // namespace isomer::lab
