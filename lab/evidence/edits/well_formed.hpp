#pragma once

#include "lab/evidence/edits/places.hpp"

#include <cstddef>
#include <string>

namespace isomer::lab {

/// False of a text that a compiler refuses in the place of the tokens `first` to `last`, as far as names and
/// their types say: a variable that is not in scope there, an index of what is no memory, a remainder of real
/// numbers.
bool is_well_formed(const EditPlaces& places, std::size_t first, std::size_t last, const std::string& text);

}  // namespace isomer::lab
