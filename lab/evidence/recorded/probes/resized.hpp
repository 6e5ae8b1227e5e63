#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Calls of the recorder's in which one size of the test's is another, and what is seen in them.
namespace isomer::lab {

/// The arguments that have that size, and which dimension it is of each; a whole number has dimension −1.
std::vector<std::pair<std::size_t, int>> places_of_size(const Replayed& replayed);
/// "x (dimension 1), n".
std::string dimensions_of_size(const Replayed& replayed);
bool saw(const CallOutcome& outcome, std::string_view kind);
/// Whether the original's answer to a made call has the shape that its answers to the test's calls have: as
/// many elements for each of an argument's, as many besides, or always as many; and whether the arguments'
/// sizes stand to each other as in those. Halves that are no halves are taken by broadcasting, and nobody
/// means that.
bool keeps_shape(const Replayed& made, const std::vector<Replayed>& calls);

/// The candidate's source; empty of one that is compiled already.
std::string source_of(const Candidate& candidate);
/// A size that is not taken, beside those for which the answer is right: a limit. `why` says how it is seen.
Finding limit_of_size(const Replayed& replayed, const std::string& right, const std::string& why,
                      const SourcePlace& place);

}  // namespace isomer::lab
