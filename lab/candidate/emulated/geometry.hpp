#pragma once

#include "lab/candidate/candidate.hpp"

#include <isomer/emulator/module.hpp>

#include <string>
#include <vector>

namespace isomer::lab {

/// How a bare kernel is launched, and a sentence that says where that came from.
struct ChosenGeometry {
  emulator::Geometry geometry;
  std::string said;
  bool guessed = false;  ///< by the kernel's text and its arguments alone
};

/// The settings' own geometry where it is given; else a comment `// launch: grid(ceil(n/256)) block(256)`
/// over the kernel, in whose expressions stand numbers, integer parameters, x.size(0), x.numel(), + - * / and
/// ceil; else the source's own launch line where it can be evaluated; else what the kernel's text suggests:
/// one thread for each element, or one block for each row. Throws Error bad_argument for a comment that
/// cannot be evaluated.
ChosenGeometry choose_geometry(const Entry& kernel, const std::string& source,
                               const std::vector<Value>& arguments, const CallSettings& settings);

}  // namespace isomer::lab
