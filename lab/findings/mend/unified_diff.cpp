#include "lab/findings/mend/unified_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

using TextLines = std::vector<std::string_view>;

TextLines text_lines(std::string_view text) {
  TextLines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return lines;
}

/// One line of the diff: ' ', '-' or '+', and how far both texts have come before it.
struct Step {
  char sign;
  std::string_view line;
  std::size_t before, after;
};

/// The shortest way from one to the other, by the table of longest common tails.
std::vector<Step> steps_of(const TextLines& a, const TextLines& b) {
  std::size_t head = 0, tail = 0;
  while (head < std::min(a.size(), b.size()) && a[head] == b[head]) ++head;
  while (tail < std::min(a.size(), b.size()) - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail])
    ++tail;
  const std::size_t rows = a.size() - head - tail, columns = b.size() - head - tail;
  std::vector<std::vector<std::size_t>> common(rows + 1, std::vector<std::size_t>(columns + 1));
  for (std::size_t i = rows; i-- > 0;)
    for (std::size_t j = columns; j-- > 0;)
      common[i][j] = a[head + i] == b[head + j] ? common[i + 1][j + 1] + 1
                                                : std::max(common[i + 1][j], common[i][j + 1]);
  std::vector<Step> steps;
  for (std::size_t i = 0; i < head; ++i) steps.push_back({' ', a[i], i, i});
  std::size_t i = 0, j = 0;
  while (i < rows || j < columns) {
    const std::size_t at = head + i, to = head + j;
    if (i < rows && j < columns && a[at] == b[to]) {
      steps.push_back({' ', a[at], at, to});
      ++i, ++j;
    } else if (j == columns || (i < rows && common[i + 1][j] >= common[i][j + 1])) {
      steps.push_back({'-', a[at], at, to});
      ++i;
    } else {
      steps.push_back({'+', b[to], at, to});
      ++j;
    }
  }
  for (std::size_t k = 0; k < tail; ++k)
    steps.push_back({' ', a[a.size() - tail + k], a.size() - tail + k, b.size() - tail + k});
  return steps;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, const std::string& name) {
  constexpr std::size_t kContext = 3;
  const TextLines old_lines = text_lines(before), new_lines = text_lines(after);
  const std::vector<Step> steps = steps_of(old_lines, new_lines);
  const auto changed = [](const Step& step) { return step.sign != ' '; };
  std::string text;
  for (std::size_t at = 0; at < steps.size();) {
    const auto next = std::find_if(steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end(), changed);
    if (next == steps.end()) break;
    const auto first = static_cast<std::size_t>(next - steps.begin());
    const std::size_t begin = first < kContext ? 0 : std::max(at, first - kContext);
    std::size_t end = first, unchanged = 0;  // behind the hunk's last line
    for (std::size_t i = first; i < steps.size() && unchanged <= 2 * kContext; ++i) {
      unchanged = changed(steps[i]) ? 0 : unchanged + 1;
      if (unchanged == 0) end = i + 1;
    }
    end = std::min(steps.size(), end + kContext);
    std::size_t removed = 0, added = 0;
    std::string body;
    for (std::size_t i = begin; i < end; ++i) {
      removed += steps[i].sign != '+';
      added += steps[i].sign != '-';
      body += fmt::format("{}{}\n", steps[i].sign, steps[i].line);
    }
    text += fmt::format("@@ -{},{} +{},{} @@\n{}", steps[begin].before + (removed > 0), removed,
                        steps[begin].after + (added > 0), added, body);
    at = end;
  }
  return text.empty() ? text : fmt::format("--- {0}\n+++ {0}\n{1}", name, text);
}

}  // namespace isomer::lab
