#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <string>
#include <vector>

/// Lists of whole numbers that callers of a label pass, as `dims=[2, 0, 1]`, or lists of those. A function
/// over raw memory takes them as arrays of the host with their length.
namespace isomer::lab {

/// Behind the values of each call the lists within its arguments, "dims[0]", and how long each list is,
/// "len(dims)"; of a call that has no such list they are none.
void add_list_parts(std::vector<Replayed>& calls);

/// What each parameter of a function of the host is passed of those; none: nothing, or it is something else.
std::vector<Passing> passed_lists(const Entry& entry, const Replayed& call);

}  // namespace isomer::lab
