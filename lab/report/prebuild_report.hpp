#pragma once

#include "lab/plan/prebuild.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// What `isomer prebuild` did.
struct Prebuild {
  Programs programs;
  std::vector<Built> built;
  std::string folder;
  double seconds = 0;

  int failed() const;
  int spilling() const;
  int falling_short() const;  ///< spilling, or serialized
};

/// A row per program, then failures with the case that needs the program, and the refusals of cases that were
/// asked for by name.
std::string prebuild_table(const Prebuild& result, bool tell_refused);
/// Version 1.
std::string prebuild_json(const Prebuild& result);

}  // namespace isomer::lab
