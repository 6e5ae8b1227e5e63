#include "lab/ask/names/named_sizes.hpp"

#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cstdlib>

namespace isomer::lab {
namespace {

std::vector<std::string> words(const std::string& list) {
  static const Pattern word("[A-Za-z_]\\w*");
  std::vector<std::string> found;
  for (const Match& match : word.all(list)) found.push_back(match[0]);
  return found;
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
    for (const Match& match : one.all(text))
      found.push_back({match[1], match[2], std::atoi(match[3].c_str()), -1, false});
    for (const Match& match : vector.all(text)) found.push_back({match[1], match[2], 0, 1, false});
    for (const Match& match : count.all(text)) found.push_back({match[1], match[2], 0, -1, true});
    for (const Match& match : pair.all(text)) {
      found.push_back({match[1], match[3], std::atoi(match[4].c_str()), -1, false});
      found.push_back({match[2], match[5], std::atoi(match[6].c_str()), -1, false});
    }
  }
  return found;
}

}  // namespace isomer::lab
