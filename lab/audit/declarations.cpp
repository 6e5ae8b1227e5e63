#include "lab/audit/declarations.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <map>

namespace isomer::lab {
namespace {

const std::map<std::string, DType>& dtype_words() {
  static const std::map<std::string, DType> words = {
      {"float32", DType::f32},
      {"fp32", DType::f32},
      {"f32", DType::f32},
      {"kfloat", DType::f32},
      {"float16", DType::f16},
      {"fp16", DType::f16},
      {"f16", DType::f16},
      {"half", DType::f16},
      {"__half", DType::f16},
      {"khalf", DType::f16},
      {"bfloat16", DType::bf16},
      {"bf16", DType::bf16},
      {"kbfloat16", DType::bf16},
      {"__nv_bfloat16", DType::bf16},
      {"hip_bfloat16", DType::bf16},
      {"float64", DType::f64},
      {"fp64", DType::f64},
      {"double", DType::f64},
      {"int8", DType::i8},
      {"int8_t", DType::i8},
      {"kchar", DType::i8},
      {"int32", DType::i32},
      {"int32_t", DType::i32},
      {"kint", DType::i32},
      {"int64", DType::i64},
      {"int64_t", DType::i64},
      {"klong", DType::i64},
      {"uint8", DType::u8},
      {"uint8_t", DType::u8},
      {"int16", DType::i16},
      {"int16_t", DType::i16},
      {"kshort", DType::i16},
      {"e4m3", DType::e4m3fn},
      {"e4m3fn", DType::e4m3fn},
      {"float8_e4m3fn", DType::e4m3fn},
      {"e5m2", DType::e5m2},
  };
  return words;
}

}  // namespace

std::vector<std::pair<DType, std::string>> dtypes_in(const std::string& text) {
  static const Pattern word("[A-Za-z_][A-Za-z0-9_]*");
  std::vector<std::pair<DType, std::string>> found;
  for (const Match& each : word.all(text))
    if (const auto known = dtype_words().find(lower_case(each[0])); known != dtype_words().end())
      found.emplace_back(known->second, each[0]);
  return found;
}

std::pair<int, std::string> rank_in(const std::string& text) {
  // "[rows, heads, 1]" on its own, not K[token, head].
  static const Pattern list("(^|[^A-Za-z0-9_\\])])\\[([^\\[\\]]*)\\]"),
      shape("shape[^(\\[]{0,8}\\(([^()]*)\\)"),
      number("\\b(?:rank[ -]?(\\d)|(\\d)[ -]?[dD]\\b|(\\d)[ -]dimensional)");
  std::string inside, words;
  if (const std::optional<Match> in_brackets = list.find(text)) {
    inside = (*in_brackets)[2];
    words = "[" + inside + "]";
  } else if (const std::optional<Match> in_parentheses = shape.find(text)) {
    inside = (*in_parentheses)[1];
    words = "(" + inside + ")";
  } else if (const std::optional<Match> said = number.find(text)) {
    for (std::size_t i = 1; i < said->groups(); ++i)
      if (said->has(i)) return {std::stoi((*said)[i]), (*said)[0]};
  }
  if (words.empty() || inside.find("..") != std::string::npos || inside.find("…") != std::string::npos)
    return {-1, ""};
  int rank = 0;
  std::size_t begin = 0;
  while (begin <= inside.size()) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    const std::size_t first = inside.find_first_not_of(" \t", begin);
    if (first < end) ++rank;
    // "[N, C, *]": any more of them.
    if (first < end && inside[first] == '*' && inside.find_first_not_of(" \t*", first) >= end)
      return {-1, ""};
    begin = end + 1;
  }
  return {rank, words};
}

namespace {

/// "is a float16 tensor", "are [rows, 2]", "must be float32", "has 2-dimensional", "float32 [n]": what
/// follows a name and says what it is; not "is cast to float32".
bool says_what(std::string_view rest, bool spaced) {
  static const std::set<std::string> verbs = {"is", "are", "has", "have", "must", "should", "shall"},
                                     between = {"be",   "a",     "an", "of",     "dtype",
                                                "type", "shape", "to", "exactly"};
  bool verb = false;
  std::string word;
  for (;;) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" `"), rest.size()));
    std::size_t end = 0;
    while (end < rest.size() &&
           (std::isalnum(static_cast<unsigned char>(rest[end])) != 0 || rest[end] == '_'))
      ++end;
    word = lower_case(rest.substr(0, end));
    if (!(verb ? between.contains(word) || verbs.contains(word) : verbs.contains(word))) break;
    verb = true;
    rest.remove_prefix(end);
  }
  if (rest.starts_with('[')) return spaced;
  if (rest.starts_with("torch.") && verb) return true;
  if (verb && word.size() == 1 && rest.substr(1).starts_with("-dim")) return true;
  return dtype_words().contains(word) || (verb && word == "tensor");
}

/// Names of arguments at the head of a line, and where what is said of them begins; none where the line says
/// nothing of that kind. By hand: what is an argument is known at run time.
std::pair<std::vector<std::string>, std::size_t> head_of(std::string_view line,
                                                         const std::set<std::string>& arguments) {
  const auto skip = [&](std::size_t at, const char* these) {
    return std::min(line.find_first_not_of(these, at), line.size());
  };
  std::size_t at = skip(0, " \t*-#.)0123456789`|");
  // "Input x: float32"
  for (const std::string_view lead :
       {"Inputs ", "Input ", "Outputs ", "Output ", "Argument ", "Parameter ", "Tensor "})
    if (line.substr(at).starts_with(lead)) {
      at += lead.size();
      break;
    }
  std::vector<std::string> names;
  for (;;) {
    at = skip(at, "`* ");
    const std::size_t begin = at;
    while (at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_'))
      ++at;
    const std::string name(line.substr(begin, at - begin));
    if (!arguments.contains(name)) return {{}, 0};
    names.push_back(name);
    const std::string_view behind = line.substr(at);
    if (behind.starts_with(" * ") || behind.starts_with(" + ") || behind.starts_with(" / "))
      return {{}, 0};  // a formula
    const std::size_t after = skip(at, "`* ");
    const std::string_view rest = line.substr(after);
    // "x, a float16 tensor"; not "x, a and b".
    if ((rest.starts_with(", a ") || rest.starts_with(", an ")) && !arguments.contains("a"))
      return {names, after + 1};
    if (rest.starts_with(',') || rest.starts_with('/')) {
      at = after + 1;
    } else if (rest.starts_with("and ")) {
      at = after + 4;
    } else if (says_what(rest, line[at] == ' ')) {
      return {names, after};
    } else if (rest.starts_with(':') || rest.starts_with("- ") || rest.starts_with("—") ||
               rest.starts_with("–") || rest.starts_with('|') || (rest.starts_with('(') && line[at] != '(')) {
      return {names, after};
    } else {
      return {{}, 0};
    }
  }
}

using Head = std::pair<std::vector<std::string>, std::size_t>;

/// Where in a line something is said of arguments: "f(x, y): x is float16 [n]; y float32 [n, 2]" in two
/// places.
std::vector<std::pair<std::size_t, Head>> clauses(const std::string& line,
                                                  const std::set<std::string>& arguments) {
  std::vector<std::pair<std::size_t, Head>> found;
  std::size_t free = 0;  // behind the names of the last head
  int depth = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    depth += (c == '(' || c == '[') - (c == ')' || c == ']');
    const bool begins = i == 0 || (depth == 0 && line[i] == ' ' && i >= free &&
                                   std::string_view(";,.:").find(line[i - 1]) != std::string_view::npos);
    if (!begins) continue;
    const std::size_t at = i == 0 ? 0 : i + 1;
    Head head = head_of(std::string_view(line).substr(at), arguments);
    if (head.first.empty()) continue;
    free = at + head.second;
    found.emplace_back(at, std::move(head));
  }
  return found;
}

/// What is said of arguments, up to the end of the sentence that says their dtype: the next is of another
/// thing ("of the same dtype. Statistics in float32").
std::string without_what_follows(const std::string& text) {
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1)) {
    const std::string said = text.substr(0, at);
    const bool next = at + 2 < text.size() && std::isupper(static_cast<unsigned char>(text[at + 2])) != 0;
    if (next && (!dtypes_in(said).empty() || said.find(" same ") != std::string::npos)) return said;
  }
  return text;
}

std::size_t indentation(const std::string& line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

}  // namespace

std::vector<Declaration> declarations(const std::vector<std::string>& lines,
                                      const std::set<std::string>& arguments) {
  static const Pattern typed("(?:Tensor|\\*)\\s*&?\\s*([A-Za-z_]\\w*)\\s*[,)]?\\s*//(.*)$");
  std::vector<Declaration> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    Declaration said{.names = {}, .text = {}, .line = static_cast<int>(i + 1)};
    if (const std::optional<Match> match = typed.find(lines[i]); match && arguments.contains((*match)[1])) {
      said.names = {(*match)[1]};
      said.text = (*match)[2];
    } else if (const auto inside = clauses(lines[i], arguments);
               inside.size() > 1 || (!inside.empty() && inside.front().first > 0)) {
      for (std::size_t c = 0; c < inside.size(); ++c) {
        const auto [begin, head] = inside[c];
        const std::size_t end = c + 1 < inside.size() ? inside[c + 1].first : lines[i].size();
        found.push_back(
            {head.first,
             without_what_follows(lines[i].substr(begin + head.second, end - begin - head.second)),
             said.line});
      }
    } else if (const auto [names, at] = head_of(lines[i], arguments); !names.empty()) {
      said.names = names;
      said.text = lines[i].substr(at);
      // What is said may go on below, further in.
      for (std::size_t j = i + 1; j < lines.size() && j < i + 4; ++j) {
        if (indentation(lines[j]) <= indentation(lines[i]) || indentation(lines[j]) == lines[j].size() ||
            !head_of(lines[j], arguments).first.empty())
          break;
        said.text += " " + lines[j];
      }
    }
    said.text = without_what_follows(said.text);
    if (!said.names.empty()) found.push_back(std::move(said));
  }
  return found;
}

}  // namespace isomer::lab
