#pragma once

#include "lab/findings/finding.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// A mechanical change of a source that may mend a finding: nothing is said of whether it does.
struct Edit {
  int line = 0;        ///< the first that it changes
  std::string what;    ///< "a __syncthreads() before line 14"
  std::string source;  ///< with the change made
};

/// The changes that are worth trying against a finding, the likeliest first: those of its own line, then
/// those of other lines that read alike. `entry`: the function that was judged.
std::vector<Edit> edits_for(const Finding& finding, const std::string& entry, const std::string& source);

}  // namespace isomer::lab
