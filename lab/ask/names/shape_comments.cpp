#include "lab/ask/names/shape_comments.hpp"

#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>

namespace isomer::lab {
namespace {

/// The comments of a source alone, those of lines that follow each other as one text.
std::string comments_of(const std::string& source) {
  std::string text;
  for (std::size_t i = 0; i + 1 < source.size(); ++i) {
    if (source[i] == '"') {
      for (++i; i < source.size() && source[i] != '"' && source[i] != '\n'; ++i)
        i += source[i] == '\\' ? 1 : 0;
    } else if (source[i] == '/' && (source[i + 1] == '/' || source[i + 1] == '*')) {
      const bool line = source[i + 1] == '/';
      const std::size_t end = std::min(line ? source.find('\n', i) : source.find("*/", i + 2), source.size());
      text += source.substr(i + 2, end - i - 2) + " \n";
      i = end;
    }
  }
  return text;
}

/// The names and numbers of a list without its brackets; none where it has anything else. A leading `...`
/// stays.
std::vector<std::string> parts_of(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    std::string part = list.substr(at, end - at);
    const std::size_t first = part.find_first_not_of(" \t\n*"), last = part.find_last_not_of(" \t\n*");
    part = first == std::string::npos ? std::string() : part.substr(first, last + 1 - first);
    at = end + 1;
    if (part.empty()) continue;
    const bool word = std::all_of(part.begin(), part.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    });
    // A size that is made of others is one all the same, and has no name.
    const bool made = part.find_first_of("+-*/ ") != std::string::npos;
    if (!word && !made && part != "...") return {};
    parts.push_back(std::move(part));
  }
  return parts;
}

void add_dimensions(const std::string& tensor, const std::vector<std::string>& parts, NamedSizes& found) {
  const bool open = !parts.empty() && parts.front() == "...";
  if (parts.empty() || std::find(parts.begin() + 1, parts.end(), "...") != parts.end()) return;
  const int count = static_cast<int>(parts.size());
  for (int i = open ? 1 : 0; i < count; ++i) {
    std::string name = parts[static_cast<std::size_t>(i)];
    static const Pattern one_more("([A-Za-z_]\\w*) *\\+ *1");
    const bool less = one_more.is(name);
    if (less) name = name.substr(0, name.find_first_of(" +"));
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0 ||
        name.find_first_of("+-*/ ") != std::string::npos)
      continue;
    NamedSize size;
    size.name = name;
    size.tensor = tensor;
    size.dim = open ? i - count : i;
    size.rank = open ? -1 : count;
    size.less = less ? 1 : 0;
    found.push_back(std::move(size));
  }
}

/// The comments of a label, and what documents its functions.
std::string documents_of(const std::string& label) {
  static const Pattern texts("(?s)\"\"\"(.*?)\"\"\"|'''(.*?)'''|#([^\n]*)");
  std::string text;
  for (const Match& match : texts.all(label)) text += match[1] + match[2] + match[3] + " \n";
  return text;
}

/// The shapes that comments or documents give to tensors.
NamedSizes sizes_in_words(const std::string& comments) {
  // "x", "x and y", "x, y and z", with what they are made of, then what says that a shape follows.
  static const Pattern shape(
      "([A-Za-z_]\\w*(?:(?:[ \\t]*[,/][ \\t]*|[ \\t]+and[ \\t]+)[A-Za-z_]\\w*)*)"
      "(?:[ \\t]+(?:u?int\\d*|float\\d*|fp\\d+|bf16|bfloat16|half|bool|long))?[ \\t]*"
      "(?::|=|is|are|of shape|has shape)?[ \\t]*(?:(?:u?int\\d*|float\\d*|fp\\d+|bf16|bfloat16|half|bool|"
      "long)[ \\t]*)?(?:of[ \\t]+)?(?:shape)?[ \\t]*[:=]?[ "
      "\\t]*[\\[(]([^\\])\\[(]*)[\\])]");
  static const Pattern word("[A-Za-z_]\\w*");
  NamedSizes found;
  for (const Match& match : shape.all(comments)) {
    const std::vector<std::string> parts = parts_of(match[2]);
    const std::string tensors = match[1];
    for (const Match& tensor : word.all(tensors))
      if (tensor[0] != "and") add_dimensions(tensor[0], parts, found);
  }
  return found;
}

/// Shapes that no tensor's name stands before: "the last dimension of a [B, N, K] tensor".
NamedSizes shapes_alone(const std::string& comments) {
  static const Pattern shape(
      "\\b(?:an?|the|of|over|each|every)[ \\t]+\\[([A-Za-z_]\\w*(?:[ \\t]*,[ \\t]*[A-Za-z_]\\w*)+)\\]");
  NamedSizes found;
  for (const Match& match : shape.all(comments)) add_dimensions("", parts_of(match[1]), found);
  return found;
}

}  // namespace

NamedSizes sizes_in_comments(const std::string& source) {
  const std::string comments = comments_of(source);
  NamedSizes sizes = sizes_in_words(comments);
  const NamedSizes alone = shapes_alone(comments);
  sizes.insert(sizes.end(), alone.begin(), alone.end());
  return sizes;
}

NamedSizes with_tensors_of_shapes(const NamedSizes& sizes, const std::vector<std::string>& parameters,
                                  const std::function<std::string(int rank)>& tensor_of) {
  NamedSizes all;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (!sizes[i].tensor.empty()) {
      all.push_back(sizes[i]);
      continue;
    }
    const auto count = static_cast<std::size_t>(std::max(sizes[i].rank, 1));
    const std::string tensor = tensor_of(sizes[i].rank);
    const bool own =
        std::all_of(sizes.begin() + static_cast<std::ptrdiff_t>(i),
                    sizes.begin() + static_cast<std::ptrdiff_t>(std::min(i + count, sizes.size())),
                    [&](const NamedSize& each) {
                      return std::find(parameters.begin(), parameters.end(), each.name) != parameters.end();
                    });
    for (std::size_t k = i; own && !tensor.empty() && k < std::min(i + count, sizes.size()); ++k) {
      all.push_back(sizes[k]);
      all.back().tensor = tensor;
    }
    i += count - 1;
  }
  return all;
}

NamedSizes sizes_in_documents(const std::string& label) { return sizes_in_words(documents_of(label)); }

NamedSizes sizes_of_made_tensors(const std::string& test) {
  static const Pattern made(
      "([A-Za-z_]\\w*)[ \\t]*=[ \\t]*torch\\.(?:randn|rand|empty|zeros|ones|full)[ \\t]*\\([ \\t]*[(\\[]?[ "
      "\\t]*"
      "([A-Za-z_]\\w*(?:[ \\t]*,[ \\t]*[A-Za-z_]\\w*)*)[ \\t]*(,[ \\t]*[A-Za-z_]\\w*[ \\t]*=|[)\\]])");
  NamedSizes found;
  for (const Match& match : made.all(test)) {
    // Of `torch.randn(n, m, dtype=…)` the last name may be a keyword's.
    add_dimensions(match[1], parts_of(match[2]), found);
  }
  return found;
}

}  // namespace isomer::lab
