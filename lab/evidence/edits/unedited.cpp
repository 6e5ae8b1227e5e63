// Values in which no edit is chosen are computed as the source has them: of a source with thousands of edits
// a call takes many times as long otherwise.
#include "lab/evidence/edits/places.hpp"
#include "lab/evidence/edits/values.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace isomer::lab {
namespace {

/// The numbers with which what is compiled begins there: those behind them up to the next one belong to the
/// same.
std::vector<int> numbers_in(const std::string& text) {
  static const Pattern named("isomer_edits::\\w+(?:<[^()]*>)?[({]\\s*(\\d+)");
  std::vector<int> numbers;
  for (const Match& match : named.all(text)) numbers.push_back(std::atoi(match[1].c_str()));
  return numbers;
}

struct Way {
  std::size_t first, last;
};

/// What `if` and `while` ask, and whether a `for` goes on: an inner loop asks it as often as it goes round.
std::vector<Way> conditions_of(const CppTokens& tokens) {
  std::vector<Way> list;
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    const bool loop = tokens.is(i, "for");
    if (!(loop || tokens.is(i, "if") || tokens.is(i, "while")) || !tokens.is(i + 1, "(")) continue;
    std::size_t first = i + 2, end = tokens[i + 1].partner;
    if (loop) {
      while (first < end && !tokens.is(first, ";")) first = tokens.behind(first);
      std::size_t second = ++first;
      while (second < end && !tokens.is(second, ";")) second = tokens.behind(second);
      if (second >= end) continue;
      end = second;
    }
    bool asks = first < end;
    for (std::size_t k = first; k < end; ++k)
      asks = asks && !tokens.is(k, "=") && !tokens.is(k, ";") && !tokens.is(k, "{");
    if (asks) list.push_back({first, end - 1});
  }
  return list;
}

}  // namespace

void EditPlaces::keep_unedited(const std::vector<SourceValue>& values) {
  std::vector<Way> wanted, ways;
  for (const Way& each : conditions_of(tokens_))
    if (can_be_edited(each.first) && can_be_edited(each.last)) wanted.push_back(each);
  for (const SourceValue& value : values) wanted.push_back({value.first, value.last});
  for (const Way& value : wanted) {
    const std::string_view own = tokens_.text(value.first, value.last);
    const bool crossed = std::any_of(rounds_.begin(), rounds_.end(), [&](const Round& each) {
      const bool begins = each.first >= value.first && each.first <= value.last,
                 ends = each.last >= value.first && each.last <= value.last;
      return begins != ends && !(each.first <= value.first && each.last >= value.last);
    });
    const bool inside = std::any_of(ways.begin(), ways.end(), [&](const Way& each) {
      return value.first <= each.last && value.last >= each.first;
    });
    if (!crossed && !inside && own.find('#') == std::string_view::npos && ways.size() + 1 < kMostUnedited)
      ways.push_back(value);
  }
  const auto way_at = [&](std::size_t first, std::size_t last) -> std::size_t {
    for (std::size_t i = 0; i < ways.size(); ++i)
      if (first >= ways[i].first && last <= ways[i].last) return i + 1;
    return 0;
  };
  std::map<int, std::set<std::size_t>> known;
  std::vector<bool> edited(ways.size() + 1);
  const auto take = [&](const std::string& text, std::size_t first, std::size_t last) {
    const std::size_t way = way_at(first, last);
    edited[way] = true;
    for (const int number : numbers_in(text)) known[number].insert(way);
  };
  for (const Round& each : rounds_) take(each.before + each.behind, each.first, each.last);
  for (const auto& [token, text] : replaced_) take(text, token, token);
  for (const auto& [token, list] : alternatives_)
    for (const auto& [number, text] : list) {
      known[number].insert(way_at(token, token));
      edited[way_at(token, token)] = true;
    }
  for (std::size_t i = 0; i < ways.size(); ++i) {
    if (!edited[i + 1]) continue;
    std::string own;
    for (std::size_t k = ways[i].first; k <= ways[i].last; ++k)
      own += (k > ways[i].first && tokens_[k].begin > tokens_[k - 1].end ? " " : "") +
             std::string(tokens_.text(k));
    surround(ways[i].first, ways[i].last,
             fmt::format("isomer_edits::way({}, [&] {{ return {}; }}, [&] {{ return ", i + 1, own), "; })");
  }
  for (const auto& [number, at] : known)
    for (const std::size_t each : at) unedited_ += fmt::format("{}, {}, ", number, each);
}

}  // namespace isomer::lab
