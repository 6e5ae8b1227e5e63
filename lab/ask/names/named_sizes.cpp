#include "lab/ask/names/named_sizes.hpp"

#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>
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

/// Tensors of a label that have the shape of one that it is given, by that one's name: `lp =
/// log_softmax(x.float(), -1)`.
std::map<std::string, std::string> of_same_shape(const std::string& text) {
  static const Pattern made(
      "(?:^|\\n)[ \\t]*([A-Za-z_]\\w*)[ \\t]*=[ "
      "\\t]*(?:(?:torch|F|nn\\.functional|torch\\.nn\\.functional)\\.)?"
      "(?:(?:log_softmax|softmax|sigmoid|tanh|exp|log|relu|abs|clone|square|sqrt|neg|zeros_like|empty_like|"
      "ones_like)\\()?"
      "([A-Za-z_]\\w*)((?:\\.(?:float|double|half|bfloat16|contiguous|clone|detach|to|abs|exp|log|sigmoid)"
      "\\([^()]*\\))*)(?:,[^()\\n]*)?\\)?[ \\t]*(?:\\n|#|$)");
  std::map<std::string, std::string> same;
  for (const Match& match : made.all(text)) {
    const std::string whole = match[0], from = match[2];
    if (match[1] == from || (whole.find('(') == std::string::npos)) continue;
    const auto known = same.find(from);
    same.emplace(match[1], known == same.end() ? from : known->second);
  }
  return same;
}

/// How often a size is another one: `group = k // scales.shape[0]`, of sizes with and without names.
void add_quotients(const std::string& text, NamedSizes& found) {
  static const Pattern quotient(
      "(?:^|\\n)[ \\t]*([A-Za-z_]\\w*)[ \\t]*=[ "
      "\\t]*([A-Za-z_]\\w*)(?:\\.(?:shape\\[|size\\()(-?\\d+)[\\])])?[ \\t]*"
      "//[ \\t]*([A-Za-z_]\\w*)(?:\\.(?:shape\\[|size\\()(-?\\d+)[\\])])?[ \\t]*(?:\\n|#|$)");
  const auto size = [&](const std::string& name, const std::string& dim) -> std::optional<NamedSize> {
    if (!dim.empty()) return NamedSize{"", name, std::atoi(dim.c_str()), -1, false};
    for (const NamedSize& each : found)
      if (each.name == name && !each.all && !each.flattened && !each.stride && each.over.empty()) return each;
    return std::nullopt;
  };
  NamedSizes added;
  for (const Match& match : quotient.all(text)) {
    const std::optional<NamedSize> above = size(match[2], match[3]), below = size(match[4], match[5]);
    if (!above || !below) continue;
    added.push_back(*above);
    added.back().name = match[1];
    added.back().over = below->tensor;
    added.back().over_dim = below->dim;
  }
  found.insert(found.end(), added.begin(), added.end());
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
  for (const std::string& text : texts) {
    const std::map<std::string, std::string> same = of_same_shape(text);
    for (NamedSize& each : found)
      if (const auto of = same.find(each.tensor); of != same.end()) each.tensor = of->second;
  }
  for (const std::string& text : texts) add_quotients(text, found);
  for (const std::string& text : texts) add_launched(text, found);
  return found;
}

NamedSizes with_words_of_images(NamedSizes sizes) {
  const auto letter = [](const NamedSize& each, char of, int from_last) {
    const bool at =
        each.dim < 0 ? each.dim == -from_last : each.rank > 0 && each.dim == each.rank - from_last;
    return each.name.size() == 1 && std::tolower(static_cast<unsigned char>(each.name[0])) == of && at &&
           !each.all && !each.stride && each.over.empty();
  };
  NamedSizes words;
  for (const NamedSize& width : sizes)
    for (const NamedSize& height : sizes) {
      if (width.tensor != height.tensor || !letter(width, 'w', 1) || !letter(height, 'h', 2)) continue;
      const auto add = [&](const NamedSize& size, const char* name) {
        words.push_back(size);
        words.back().name = name;
      };
      add(height, "height");
      add(width, "width");
      for (const NamedSize& each : sizes)
        if (each.tensor == width.tensor && letter(each, 'c', 3)) add(each, "channels");
    }
  sizes.insert(sizes.end(), words.begin(), words.end());
  return sizes;
}

}  // namespace isomer::lab
