#pragma once

#include "lab/evidence/edits/values.hpp"

#include <vector>

namespace isomer::lab {

/// What an index is made of in another order and of other sizes: `c * rows + r` for `r * cols + c`, `i /
/// heads` for `i % rows`.
void add_terms(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

/// Parts of two values that are made alike, each in the other's place.
void add_crossed(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed);

/// Whole numbers that are sizes in that place, those called like the name first.
std::vector<std::string> sizes_near(const EditPlaces& places, std::size_t token, std::string_view name,
                                    std::size_t most);

}  // namespace isomer::lab
