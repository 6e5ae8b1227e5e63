// From code addresses to the lines of the user's source, through the debug information of the module.
#pragma once

#include <vector>

#include "isomer/emulator/report.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator::watch {

/// One place for each site: the innermost line that is the user's own, not a header of the emulator or of the
/// system. Line 0 where the module has no debug information.
std::vector<Place> places_of(const std::vector<Site>& sites);
Place place_of(const Site& site);

}  // namespace isomer::emulator::watch
