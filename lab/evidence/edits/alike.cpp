#include "lab/evidence/edits/alike.hpp"

#include "lab/text/cpp_tokens.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace isomer::lab {
namespace {

constexpr std::size_t kMost = 200;      ///< edits that are added
constexpr std::size_t kMostOfOne = 12;  ///< of one change that is possible in many places
constexpr int kApart = 2;               ///< lines between places that are changed together
constexpr int kLater = 2;               ///< they are tried after single ones of the same kind
constexpr std::size_t kPlaces = std::tuple_size_v<decltype(Exchange::numbers)>;

/// What one edit does to one line: the part from `first` on, which is `removed`, becomes `inserted`.
struct Change {
  const Exchange* edit = nullptr;
  std::size_t first = 0;
  std::string removed, inserted;
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.'; }

Change change_of(const Exchange& edit) {
  const std::string &was = edit.was, &becomes = edit.becomes;
  std::size_t front = 0, back = 0;
  while (front < std::min(was.size(), becomes.size()) && was[front] == becomes[front]) ++front;
  // Words are changed as a whole.
  while (front > 0 && is_word(was[front - 1])) --front;
  while (back < std::min(was.size(), becomes.size()) - front &&
         was[was.size() - 1 - back] == becomes[becomes.size() - 1 - back])
    ++back;
  while (back > 0 && is_word(was[was.size() - back])) --back;
  return {&edit, front, was.substr(front, was.size() - back - front),
          becomes.substr(front, becomes.size() - back - front)};
}

/// Whether two lines are the same but for a few words.
bool say_the_same(const std::string& one, const std::string& other) {
  const CppTokens a(one), b(other);
  if (a.size() != b.size()) return false;
  std::size_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a.text(i) == b.text(i);
  return 5 * same >= 3 * a.size();
}

bool belong_together(const Change& a, const Change& b) {
  if (a.edit->line == b.edit->line)
    return a.first + a.removed.size() <= b.first || b.first + b.removed.size() <= a.first;
  return std::abs(a.edit->line - b.edit->line) <= kApart && say_the_same(a.edit->was, b.edit->was);
}

/// The changes as one edit; nothing where one of their lines would stay as it is.
Exchange together(std::vector<Change> changes, int number) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::pair(a.edit->line, a.first) < std::pair(b.edit->line, b.first);
  });
  Exchange whole = *changes.front().edit;
  whole.number = number;
  whole.rank += kLater;
  whole.numbers = {};
  std::vector<EditedLine> lines;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const Change& each = changes[i];
    whole.numbers[i] = each.edit->number;
    if (lines.empty() || lines.back().line != each.edit->line)
      lines.push_back({each.edit->line, each.edit->was, each.edit->was});
    // What stands before it in its line has become longer or shorter.
    const std::size_t moved = lines.back().becomes.size() - lines.back().was.size();
    lines.back().becomes.replace(each.first + moved, each.removed.size(), each.inserted);
  }
  whole.becomes = lines.front().becomes;
  whole.also.assign(lines.begin() + 1, lines.end());
  return whole;
}

}  // namespace

void add_alike(std::vector<Exchange>& edits, int next) {
  std::map<std::tuple<std::string, std::string, Code>, std::vector<Change>> alike;
  for (const Exchange& each : edits) {
    if (!each.also.empty()) continue;
    Change change = change_of(each);
    if (change.removed.empty() && change.inserted.empty()) continue;
    alike[{change.removed, change.inserted, each.code}].push_back(std::move(change));
  }
  std::vector<Exchange> added;
  const auto add = [&](std::vector<Change> changes) {
    added.push_back(together(std::move(changes), next++));
  };
  for (auto& [what, list] : alike) {
    const std::size_t before = added.size();
    for (std::size_t i = 0; i < list.size() && added.size() < before + kMostOfOne; ++i) {
      std::vector<Change> run = {list[i]};
      for (std::size_t j = i + 1; j < list.size() && added.size() < before + kMostOfOne; ++j) {
        if (belong_together(list[i], list[j])) add({list[i], list[j]});
        if (run.size() < kPlaces && belong_together(run.back(), list[j])) run.push_back(list[j]);
      }
      if (run.size() > 2) add(std::move(run));
    }
  }
  std::stable_sort(added.begin(), added.end(),
                   [](const Exchange& a, const Exchange& b) { return a.rank < b.rank; });
  if (added.size() > kMost) added.resize(kMost);
  edits.insert(edits.end(), added.begin(), added.end());
  std::stable_sort(edits.begin(), edits.end(),
                   [](const Exchange& a, const Exchange& b) { return a.rank < b.rank; });
}

}  // namespace isomer::lab
