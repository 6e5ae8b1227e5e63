#pragma once

#include "lab/diff/difference.hpp"
#include "lab/diff/messages.hpp"

#include <string>

namespace isomer::lab {

/// For a terminal: the verdict, what stands on one side only, then the pairs that differ, most important kind
/// first.
std::string difference_text(const DiffResult& result, const std::string& a, const std::string& b,
                            const Messages& messages = Messages::english());
/// {"version":1,"verdict","pairs":[…],"only_a","only_b"}; the sentences as "sentences", what is unknown as
/// "notes".
std::string difference_json(const DiffResult& result);

}  // namespace isomer::lab
