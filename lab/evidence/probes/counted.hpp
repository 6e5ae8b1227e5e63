#pragma once

#include "lab/evidence/probes/probes.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace isomer::lab {

/// How many elements of an answer are wrong.
struct Wrong {
  std::size_t elements = 0, all = 0, last_right = 0, first = 0;
  std::string output;
  std::size_t not_finite = 0;  ///< of the wrong ones, where the op's are
  std::size_t untouched = 0;   ///< of the wrong ones, as they were before the call
};

/// Against the reference with variations that explain the rest.
Wrong wrong_elements(const Subjected& s, const Given& given, const Trial& trial,
                     const std::vector<std::string>& set);

/// Whether one of the variations keeps an intermediate result in a narrower type.
bool rounds_otherwise(const std::vector<std::string>& set);
/// Whether sums are left as they are where a maximum rises: how wrong that is depends on where it does.
bool leaves_sums(const std::vector<std::string>& set);

}  // namespace isomer::lab
