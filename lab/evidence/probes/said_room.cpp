#include "lab/evidence/probes/said_room.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace isomer::lab {

bool says_room(const std::string& source, const std::string& names, std::int64_t right, std::int64_t wrong) {
  static const Pattern constant(
      "(?:#define\\s+|const(?:expr)?\\s+\\w+\\s+|const(?:expr)?\\s+\\w+\\s+\\w+\\s+)(\\w+)\\s*[=({]?\\s*(\\d+"
      ")\\b([^\\n]*)");
  static const Pattern says_most(
      "//.*\\b(max|at most|up to|no more|no \\w+ (is|are) (larger|longer|more|wider))");
  const Pattern named(".*max.*" + (names.empty() ? "" : "|" + names));
  const std::vector<Match> all = constant.all(source);
  return std::any_of(all.begin(), all.end(), [&](const Match& match) {
    const std::int64_t value = std::atoll(match[2].c_str());
    constexpr std::int64_t kOfE4m3[] = {448, 240};  // the largest values of formats
    const bool format = std::find(std::begin(kOfE4m3), std::end(kOfE4m3), value) != std::end(kOfE4m3);
    return !format && value >= right && value < wrong &&
           (named.is(lower_case(match[1])) || says_most.found_in(lower_case(match[3])));
  });
}

bool says_cases(const std::string& source, std::int64_t right, std::int64_t wrong) {
  static const Pattern chosen("\\bcase\\s+(\\d+)\\s*:|[^=!<>]==\\s*(\\d+)\\b");
  bool has_right = false, has_wrong = false;
  for (const Match& match : chosen.all(source)) {
    const std::int64_t number = std::atoll((match[1] + match[2]).c_str());
    has_right = has_right || number == right;
    has_wrong = has_wrong || number == wrong;
  }
  return has_right && !has_wrong;
}

}  // namespace isomer::lab
