// What the first tier takes of lists that are long; the second tier sets ISOMER_EVERY_CASE and has them
// whole.
#pragma once

#include "oracle/oracle.hpp"

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace isomer::tests {

inline bool has_every_case() { return std::getenv("ISOMER_EVERY_CASE") != nullptr; }

/// The list in the second tier, and nothing in the first.
template <class T>
std::vector<T> in_second_tier(std::vector<T> list) {
  return has_every_case() ? std::move(list) : std::vector<T>();
}

/// The whole list in the second tier, and every `nth` of it in the first.
template <class List>
auto every_nth(const List& list, std::size_t nth) {
  std::vector<std::decay_t<decltype(*std::begin(list))>> taken;
  for (std::size_t i = 0; i < std::size(list); i += has_every_case() ? 1 : nth)
    taken.push_back(*(std::begin(list) + static_cast<std::ptrdiff_t>(i)));
  return taken;
}

/// Every `nth` of an op's ordinary cases, and each with a word that none before it has: an option, a dtype, a
/// regime, a size that others leave out.
inline std::vector<oracle::Case> cases_of_tier(const oracle::Oracle& oracle, std::size_t nth) {
  std::vector<oracle::Case> all = oracle.cases(), taken;
  if (has_every_case()) return all;
  std::set<std::string> known;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool fresh = false;
    std::istringstream words(all[i].line());
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      const bool number =
          equals + 1 < word.size() && std::isdigit(static_cast<unsigned char>(word[equals + 1]));
      if (equals != std::string::npos && number) word.resize(equals);
      fresh = known.insert(word).second || fresh;
    }
    if (fresh || i % nth == 0) taken.push_back(std::move(all[i]));
  }
  return taken;
}

}  // namespace isomer::tests
