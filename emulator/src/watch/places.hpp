// From code addresses to the lines of the user's source, through the debug information of the module.
#pragma once

#include <string>
#include <vector>

#include "isomer/emulator/report.hpp"
#include "watch/reporter.hpp"

namespace isomer::emulator::watch {

/// One place for each site: the innermost line that is the user's own, not a header of the emulator or of the
/// system. Line 0 where the module has no debug information.
std::vector<Place> places_of(const std::vector<Site>& sites);
Place place_of(const Site& site);

/// Files in the folder of that one are the user's words for what the hardware has: a place in them is told as
/// the line that uses them.
void add_words_beside(const std::string& file);

/// The library that the user's code lies in: frames of others are nobody's place.
void set_users_library(std::string path);
const std::string& users_library_name();
/// The innermost of these return addresses in the user's library, or null.
const void* users_address(void* const* frames, int count);
Place place_of_frames(void* const* frames, int count);

}  // namespace isomer::emulator::watch
