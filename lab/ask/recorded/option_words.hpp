#pragma once

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

/// A word that callers say, and how a source may write it: "f16" is half, __half, float16.
struct OptionWord {
  std::string word;
  std::vector<std::string> spellings;
};

/// The numbers that stand for words, as a source says them: in a comment ("mode: 0 = zeros, 1 = border"), in
/// an enumeration or constants (REDUCE_MEAN = 1), or in what it does where it compares the parameter with a
/// number. A word of which it says nothing is absent.
std::map<std::string, int> codes_in_source(const std::string& source, const std::string& parameter,
                                           const std::vector<OptionWord>& words);

}  // namespace isomer::lab
