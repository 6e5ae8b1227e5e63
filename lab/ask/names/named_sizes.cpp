#include "lab/ask/names/named_sizes.hpp"

#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>

namespace isomer::lab {
namespace {

std::vector<std::string> words(const std::string& list) {
  static const Pattern word("[A-Za-z_]\\w*");
  std::vector<std::string> found;
  for (const Match& match : word.all(list)) found.push_back(match[0]);
  return found;
}

/// The parts of a list in parentheses that begins at `from`, without white space and comments; `end` is
/// behind its bracket.
std::vector<std::string> parts_in(const std::string& text, std::size_t from, std::size_t& end) {
  std::vector<std::string> parts(1);
  int depth = 1;
  for (end = from; end < text.size() && depth > 0; ++end) {
    const char c = text[end];
    if (c == '#') {
      while (end < text.size() && text[end] != '\n') ++end;
      continue;
    }
    depth += c == '(' || c == '[' || c == '{';
    depth -= c == ')' || c == ']' || c == '}';
    if (depth == 0) break;
    if (depth == 1 && c == ',')
      parts.emplace_back();
    else if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
      parts.back() += c;
  }
  end = std::min(end + 1, text.size());
  return parts;
}

/// What a kernel calls the sizes that it is launched with, by their places: `kernel[grid](x, x.shape[0], n)`.
void add_launched(const std::string& text, NamedSizes& found) {
  static const Pattern defined("def[ \\t]+([A-Za-z_]\\w*)[ \\t]*\\(");
  static const Pattern launched("([A-Za-z_]\\w*)[ \\t]*\\[");
  static const Pattern size("([A-Za-z_]\\w*)\\.(?:shape\\[|size\\()(-?\\d+)[\\])]");
  std::map<std::string, std::vector<std::string>> kernels;
  std::size_t end = 0;
  for (const Match& match : defined.all(text)) kernels[match[1]] = parts_in(text, match.end(), end);
  const NamedSizes known = found;
  NamedSizes added;
  for (const Match& match : launched.all(text)) {
    const auto kernel = kernels.find(match[1]);
    if (kernel == kernels.end()) continue;
    parts_in(text, match.end(), end);
    while (end < text.size() && (text[end] == ' ' || text[end] == '\n')) ++end;
    if (end >= text.size() || text[end] != '(') continue;
    const std::vector<std::string> given = parts_in(text, end + 1, end);
    for (std::size_t i = 0; i < given.size() && i < kernel->second.size(); ++i) {
      const std::string name = kernel->second[i].substr(0, kernel->second[i].find_first_of(":="));
      if (std::any_of(known.begin(), known.end(), [&](const NamedSize& each) { return each.name == name; }))
        continue;
      if (const std::optional<Match> of = size.whole(given[i]))
        added.push_back({name, (*of)[1], std::atoi((*of)[2].c_str()), -1, false});
      for (const NamedSize& each : known)
        if (each.name == given[i]) {
          added.push_back(each);
          added.back().name = name;
        }
    }
  }
  // One kernel for several tensors has one name for several sizes.
  for (const NamedSize& each : added)
    if (std::none_of(added.begin(), added.end(), [&](const NamedSize& other) {
          return other.name == each.name && (other.tensor != each.tensor || other.dim != each.dim);
        }))
      found.push_back(each);
}

}  // namespace

NamedSizes named_sizes(const std::vector<std::string>& texts) {
  static const Pattern all_sizes(
      "([A-Za-z_]\\w*(?:[ \\t]*,[ \\t]*[A-Za-z_]\\w*)+)[ \\t]*=[ "
      "\\t]*([A-Za-z_]\\w*)\\.(?:shape|size\\(\\))[ \\t]*(?:\\n|#|$)");
  static const Pattern one(
      "([A-Za-z_]\\w*)[ \\t]*=[ \\t]*([A-Za-z_]\\w*)\\.(?:shape\\[|size\\()(-?\\d+)[\\])][ \\t]*(?:\\n|#|$)");
  static const Pattern vector("([A-Za-z_]\\w*)[ \\t]*,[ \\t]*=[ \\t]*([A-Za-z_]\\w*)\\.(?:shape|size\\(\\))");
  static const Pattern count(
      "([A-Za-z_]\\w*)[ \\t]*=[ \\t]*([A-Za-z_]\\w*)\\.(?:numel\\(\\)|nelement\\(\\))");
  static const Pattern pair(
      "([A-Za-z_]\\w*)[ \\t]*,[ \\t]*([A-Za-z_]\\w*)[ \\t]*=[ "
      "\\t]*([A-Za-z_]\\w*)\\.(?:shape\\[|size\\()(-?\\d+)[\\])][ \\t]*,[ \\t]*"
      "([A-Za-z_]\\w*)\\.(?:shape\\[|size\\()(-?\\d+)[\\])]");
  static const Pattern rows(
      "(?:^|\\n)[ \\t]*([A-Za-z_]\\w*)[ \\t]*=[ "
      "\\t]*([A-Za-z_]\\w*)(?:\\.contiguous\\(\\))?\\.(?:view|reshape)"
      "\\(-1[ \\t]*,[ \\t]*\\w");
  static const Pattern starred(
      "([A-Za-z_]\\w*(?:[ \\t]*,[ \\t]*[A-Za-z_]\\w*)+)[ \\t]*=[ \\t]*\\*([A-Za-z_]\\w*)\\.shape"
      "((?:[ \\t]*,[ \\t]*[A-Za-z_]\\w*\\.shape\\[-?\\d+\\])*)");
  static const Pattern single("([A-Za-z_]\\w*)\\.shape\\[(-?\\d+)\\]");
  NamedSizes found;
  for (const std::string& text : texts) {
    const std::vector<Match> flat = rows.all(text);
    const auto flattened = [&](const std::string& tensor) {
      return std::any_of(flat.begin(), flat.end(),
                         [&](const Match& each) { return each[1] == tensor && each[2] == tensor; });
    };
    for (const Match& match : all_sizes.all(text)) {
      const std::vector<std::string> names = words(match[1]);
      for (std::size_t i = 0; i < names.size(); ++i)
        found.push_back({names[i], match[2], static_cast<int>(i), static_cast<int>(names.size()), false,
                         flattened(match[2])});
    }
    // `b, h, k, v = *q.shape, v.shape[-1]`
    for (const Match& match : starred.all(text)) {
      const std::vector<std::string> names = words(match[1]);
      const std::string rest = match[3];
      const std::vector<Match> behind = single.all(rest);
      if (behind.size() >= names.size()) continue;
      const std::size_t own = names.size() - behind.size();
      for (std::size_t i = 0; i < own; ++i)
        found.push_back({names[i], match[2], static_cast<int>(i), static_cast<int>(own), false});
      for (std::size_t i = 0; i < behind.size(); ++i)
        found.push_back({names[own + i], behind[i][1], std::atoi(behind[i][2].c_str()), -1, false});
    }
    for (const Match& match : one.all(text))
      found.push_back({match[1], match[2], std::atoi(match[3].c_str()), -1, false});
    for (const Match& match : vector.all(text)) found.push_back({match[1], match[2], 0, 1, false});
    for (const Match& match : count.all(text)) found.push_back({match[1], match[2], 0, -1, true});
    for (const Match& match : pair.all(text)) {
      found.push_back({match[1], match[3], std::atoi(match[4].c_str()), -1, false});
      found.push_back({match[2], match[5], std::atoi(match[6].c_str()), -1, false});
    }
  }
  for (const std::string& text : texts) add_launched(text, found);
  return found;
}

}  // namespace isomer::lab
