#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/launch_groups.hpp"
#include "lab/names/parameter_layouts.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What a source tells of launches; what only one of two tells cannot be compared.
struct Tells {
  bool grid = false, block = false, cluster = false, shared = false, graph = false, attributes = false,
       variant = false, absence = false;  ///< absence: a launch without a cluster has none
  bool code = true;                       ///< machine code and registers may be the same at all
};
Tells tells(const GroupedCapture& capture);
Tells both(const Tells& a, const Tells& b);

/// "1x1x1" where a launch has no cluster.
std::string cluster_text(const Launch& launch);

/// The kind of a pair of groups and all its differences, the kind's own first; counts are another's. Notes
/// are sentences on what was not compared.
Pair compare_groups(const LaunchGroup& a, const LaunchGroup& b, const Tells& known,
                    const ParameterLayouts& layouts, std::vector<std::string>& notes);

/// What names and variants say, in any pair of one family.
std::vector<Difference> variant_differences(const LaunchGroup& a, const LaunchGroup& b, bool variant_known);

}  // namespace isomer::lab
