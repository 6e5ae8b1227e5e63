#pragma once

#include "lab/diagnose/replayed.hpp"

#include <vector>

namespace isomer::lab {

/// What one experiment changes: the form, or what is done to a call.
struct Experiment {
  Form form;
  std::vector<Adaptation> adaptations;
  Finding finding;
  Finding first;  ///< of two faults at once, the other
};

/// Everything that a call can be done otherwise, the likeliest first: views copied, arguments in another
/// order, numbers and tensors made what a candidate with a known fault takes them for.
std::vector<Experiment> experiments(const Approach& approach, const Replayed& replayed);

/// Of these, those in which query heads are given their kv heads in turn instead of in groups.
std::vector<Experiment> head_mappings(const Approach& approach, const Replayed& replayed);

}  // namespace isomer::lab
