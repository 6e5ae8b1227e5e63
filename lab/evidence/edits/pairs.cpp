#include "lab/evidence/edits/places.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

constexpr std::size_t kLongestPart = 40;  ///< tokens within which two names change places
constexpr std::size_t kMostPairs = 6;     ///< of one part

/// Two variables of one type that have changed places in what stands between brackets, or is assigned.
class Pairs {
 public:
  explicit Pairs(EditPlaces& places) : places_(places), tokens_(places.tokens()) {}

  void add() {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if ((tokens_.is(i, "(") || tokens_.is(i, "[")) && tokens_[i].partner > i)
        add_part(i + 1, tokens_[i].partner - 1);
      if (tokens_.is(i, "=") || tokens_.is(i, "+=") || tokens_.is(i, "return")) {
        std::size_t end = i + 1;
        while (end < tokens_.size() && end - i <= kLongestPart && !tokens_.is(end, ";") &&
               !tokens_.is(end, "{"))
          end = tokens_.behind(end);
        if (end < tokens_.size() && tokens_.is(end, ";")) add_part(i + 1, end - 1);
      }
    }
  }

 private:
  bool is_read(std::size_t at) const {
    return places_.functions().named(at) != nullptr && !places_.functions().is_declared_here(at) &&
           !tokens_.is(at - 1, ".") && !tokens_.is(at - 1, "->") && !tokens_.is(at - 1, "&") &&
           !tokens_.is(at + 1, "(") && !tokens_.is(at + 1, "::") && !places_.functions().named(at)->shared;
  }

  void add_part(std::size_t first, std::size_t last) {
    if (last < first + 2 || last - first >= kLongestPart) return;
    std::vector<std::size_t> names;
    for (std::size_t i = first; i <= last; ++i) {
      if (tokens_.is(i, ";") || tokens_.is(i, "{") || tokens_.is(i, "=") || tokens_.is(i, "++")) return;
      // Arguments of a call are looked at where its order is.
      if (tokens_.is(i, ",")) return;
      if (is_read(i) && places_.open(i)) names.push_back(i);
    }
    std::size_t count = 0;
    for (std::size_t a = 0; a < names.size(); ++a)
      for (std::size_t b = a + 1; b < names.size() && count < kMostPairs; ++b)
        count += add_pair(names, tokens_.text(names[a]), tokens_.text(names[b]));
  }

  bool add_pair(const std::vector<std::size_t>& names, std::string_view one, std::string_view other) {
    std::vector<EditPlaces::Part> parts;
    const CppVariable* named[2] = {};
    for (const std::size_t at : names) {
      const bool is_one = tokens_.text(at) == one;
      if (!is_one && tokens_.text(at) != other) continue;
      named[is_one] = places_.functions().named(at);
      parts.push_back({at, at, std::string(is_one ? other : one)});
    }
    if (named[0] == nullptr || named[1] == nullptr || named[0]->type != named[1]->type) return false;
    const std::pair<std::size_t, std::size_t> both = {parts.front().first, parts.back().first};
    if (one == other || !known_.insert(both).second) return false;
    const int edit = places_.add(parts, Code::wrong_expression, 1);
    for (const EditPlaces::Part& each : parts) places_.alternative(each.first, edit, each.text);
    return true;
  }

  EditPlaces& places_;
  const CppTokens& tokens_;
  std::set<std::pair<std::size_t, std::size_t>> known_;  ///< first and last of them
};

}  // namespace

void add_pairs(EditPlaces& places) { Pairs(places).add(); }

}  // namespace isomer::lab
