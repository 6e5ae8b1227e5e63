// Comments as porters write them over a kernel that comes without its host code: "k<<<grid, block>>>(x, y, n)
// with grid = (n + 255) / 256", "hipLaunchKernelGGL(k, …)", "grid: (rows), block: 256".
#include "lab/candidate/emulated/launch_comment.hpp"

#include "lab/candidate/emulated/launch_line.hpp"
#include "lab/text/pattern.hpp"
#include "lab/text/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace isomer::lab {
namespace {

constexpr int kAbove = 8, kBelow = 3;     ///< lines between a kernel and a comment of it
constexpr std::size_t kMostText = 16384;  ///< of a comment that may be a launch: beyond that it is prose

struct Comment {
  std::string text;  ///< without its marks
  int first = 1, last = 1;
};

/// Lines of `//` that follow each other are one comment.
std::vector<Comment> comments_of(const std::string& source) {
  static const Pattern star(R"(\n[ \t]*\*)");
  std::vector<Comment> all;
  int line = 1;
  bool joined = false;  // nothing but blanks since the last line comment
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '\n') ++line;
    if (c == '"') {
      for (++i; i < source.size() && source[i] != '"' && source[i] != '\n'; ++i) i += source[i] == '\\';
    }
    const char next = i + 1 < source.size() ? source[i + 1] : '\0';
    if (c != '/' || (next != '/' && next != '*')) {
      joined = joined && std::isspace(static_cast<unsigned char>(c));
      continue;
    }
    const bool one_line = next == '/';
    const std::size_t end = std::min(one_line ? source.find('\n', i) : source.find("*/", i), source.size());
    std::string text = source.substr(i + 2, end - std::min(end, i + 2));
    if (!one_line) text = star.replaced(text, "\n");
    std::replace(text.begin(), text.end(), '`', ' ');
    const int lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    if (one_line && joined && all.back().last == line - 1) {
      all.back().text += "\n" + text;
      all.back().last = line;
    } else {
      all.push_back({text, line, line + lines});
    }
    line += lines;
    joined = one_line;
    i = one_line ? end - 1 : std::min(end + 1, source.size());
  }
  return all;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

struct Set {
  std::string name, value;
};

/// "grid = (n + 255) / 256, block: 256": up to the comma, the word or the line end that closes each.
std::vector<Set> settings_of(const std::string& text) {
  static const Pattern begin(R"((\w+)\s*(=|:)[ \t]*)");
  static const Pattern words(R"(\s+(?:and|with|where|blocks?|threads?|bytes|per|each)\b[\s\S]*$|\s+(?:—|–|--)[\s\S]*$|[.`]+\s*$)");
  std::vector<Set> all;
  for (const Match& name : begin.all(text)) {
    const std::size_t from = name.end();
    if (from >= text.size() || text[from] == '=' || text[from] == ':') continue;
    std::size_t to = from;
    for (int depth = 0; to < text.size(); ++to) {
      const char c = text[to];
      depth += c == '(' || c == '[' || c == '{';
      depth -= c == ')' || c == ']' || c == '}';
      if (depth < 0 || c == ';' || c == '\n' || (depth == 0 && c == ',')) break;
    }
    const std::string value = words.replaced(text.substr(from, to - from), "");
    const bool launches = value.find("<<<") != std::string::npos || value.find("Launch") != std::string::npos;
    if (!value.empty() && !launches) all.push_back({name[1], value});
  }
  return all;
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* each) { return lower(name) == each; });
}

/// File and function constants, which a comment may name.
std::string constants_of(const std::string& source) {
  static const Pattern constant(R"((?:^|\n)[ \t]*((?:#[ \t]*define|constexpr|static const|const)\b[^\n]*))");
  std::string all;
  for (const Match& found : constant.all(source)) all += found[1] + "\n";
  return all;
}

}  // namespace

std::string commented_launch(const std::string& source, const std::string& name, int line) {
  const std::vector<Comment> comments = comments_of(source);
  const std::string body = body_at(source, line);
  const int last = line + static_cast<int>(std::count(body.begin(), body.end(), '\n'));
  const std::string written = literally(name);
  const Pattern named("\\b" + written + R"(\s*(?:<[^;{}<>]*>)?\s*<<<|hipLaunchKernelGGL\s*\(\s*\(?\s*)" +
                      written + "\\b");
  // What stands in front of all code is said of the only kernel.
  static const Pattern kernel("\\b__global__\\b");
  const std::string code = without_comments(source);
  const bool alone = kernel.all(code).size() == 1;
  const int begin = 1 + static_cast<int>(std::count(
                            code.begin(),
                            std::find_if(code.begin(), code.end(),
                                         [](unsigned char c) { return std::isspace(c) == 0; }),
                            '\n'));
  const auto at_kernel = [&](const Comment& c) {
    return (c.last >= line - kAbove && c.first <= last + kBelow) || (alone && c.last < begin);
  };
  for (const bool written_out : {true, false}) {
    for (const Comment& comment : comments) {
      if (comment.text.size() > kMostText) continue;
      std::string said, grid, block, shared;
      for (const Set& each : settings_of(comment.text)) {
        said += "auto " + each.name + " = " + each.value + ";\n";
        if (is_one_of(each.name, {"grid", "griddim", "grid_dim", "grid_size", "blocks", "num_blocks"}))
          grid = each.value;
        if (is_one_of(each.name, {"block", "blockdim", "block_dim", "block_size", "threads", "num_threads"}))
          block = each.value;
        if (is_one_of(each.name, {"shared", "smem", "shmem"})) shared = each.value;
      }
      std::string launch = comment.text;
      if (written_out) {
        if (!named.found_in(comment.text)) continue;
      } else if (!at_kernel(comment)) {
        continue;
      } else if (const auto at = launch.find("<<<"); at != std::string::npos) {
        const char before = at > 0 ? launch[at - 1] : ' ';
        if (std::isalnum(static_cast<unsigned char>(before)) || before == '_' || before == '>') continue;
        launch.insert(at, " " + name);
      } else if (!grid.empty() && !block.empty()) {
        launch = name + "<<<" + grid + ", " + block + (shared.empty() ? "" : ", " + shared) + ">>>";
      } else {
        continue;
      }
      return constants_of(code) + said + launch + "()";
    }
  }
  return {};
}

}  // namespace isomer::lab
