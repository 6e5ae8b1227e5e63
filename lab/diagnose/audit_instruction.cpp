#include "lab/diagnose/audit_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <regex>
#include <set>

namespace isomer::lab {
namespace {

constexpr std::size_t kMostLines = 5000;
/// std::regex climbs the stack with every character.
constexpr std::size_t kMostCharacters = 400;

std::vector<std::string> lines_of(const std::filesystem::path& path) {
  std::vector<std::string> lines;
  std::ifstream file(path, std::ios::binary);
  std::string line;
  while (lines.size() < kMostLines && std::getline(file, line)) {
    if (line.size() > kMostCharacters) line.resize(kMostCharacters);
    lines.push_back(line);
  }
  return lines;
}

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
      {"khalf", DType::f16},
      {"bfloat16", DType::bf16},
      {"bf16", DType::bf16},
      {"kbfloat16", DType::bf16},
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
      {"e4m3", DType::e4m3fn},
      {"e4m3fn", DType::e4m3fn},
      {"float8_e4m3fn", DType::e4m3fn},
      {"e5m2", DType::e5m2},
  };
  return words;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// Every dtype that a text names, in its order.
std::vector<std::pair<DType, std::string>> dtypes_in(const std::string& text) {
  static const std::regex word("[A-Za-z_][A-Za-z0-9_]*");
  std::vector<std::pair<DType, std::string>> found;
  for (std::sregex_iterator it(text.begin(), text.end(), word), end; it != end; ++it)
    if (const auto known = dtype_words().find(lower(it->str())); known != dtype_words().end())
      found.emplace_back(known->second, it->str());
  return found;
}

/// The rank that a text gives a tensor, and the words that say so; −1 where it gives none.
std::pair<int, std::string> rank_in(const std::string& text) {
  // "[rows, heads, 1]" on its own, not K[token, head].
  static const std::regex list("(^|[^A-Za-z0-9_\\])])\\[([^\\[\\]]*)\\]"),
      shape("shape[^(\\[]{0,8}\\(([^()]*)\\)"),
      number("\\b(?:rank[ -]?(\\d)|(\\d)[ -]?[dD]\\b|(\\d)[ -]dimensional)");
  std::smatch match;
  std::string inside, words;
  if (std::regex_search(text, match, list)) {
    inside = match[2].str();
    words = "[" + inside + "]";
  } else if (std::regex_search(text, match, shape)) {
    inside = match[1].str();
    words = "(" + inside + ")";
  } else if (std::regex_search(text, match, number)) {
    for (std::size_t i = 1; i < match.size(); ++i)
      if (match[i].matched) return {std::stoi(match[i].str()), match.str()};
  }
  if (words.empty() || inside.find("..") != std::string::npos || inside.find("…") != std::string::npos)
    return {-1, ""};
  int rank = 0;
  std::size_t begin = 0;
  while (begin <= inside.size()) {
    const std::size_t end = std::min(inside.find(',', begin), inside.size());
    if (inside.find_first_not_of(" \t", begin) < end) ++rank;
    begin = end + 1;
  }
  return {rank, words};
}

/// What one line says of arguments: "- q, k: float16 tensors [B, S, H, D]", "at::Tensor K,  // [S, H]
/// float32".
struct Declaration {
  std::vector<std::string> names;
  std::string text;
  int line = 0;
};

/// "is a float16 tensor", "are [rows, 2]", "float32 [n]": what follows a name and says what it is; not "is
/// cast to float32".
bool says_what(std::string_view rest, bool spaced) {
  bool verb = false;
  for (const std::string_view word : {"is ", "are "})
    if (rest.starts_with(word)) {
      rest.remove_prefix(word.size());
      verb = true;
      break;
    }
  for (const std::string_view word : {"a ", "an ", "of "})
    if (verb && rest.starts_with(word)) {
      rest.remove_prefix(word.size());
      break;
    }
  if (rest.starts_with('[')) return spaced;
  std::size_t end = 0;
  while (end < rest.size() && (std::isalnum(static_cast<unsigned char>(rest[end])) != 0 || rest[end] == '_'))
    ++end;
  const std::string word = lower(std::string(rest.substr(0, end)));
  return dtype_words().contains(word) || (verb && word == "tensor");
}

/// Names of arguments at the head of a line, and where what is said of them begins; none where the line says
/// nothing of that kind. By hand: a regular expression would try every way to cut a word into words.
std::pair<std::vector<std::string>, std::size_t> head_of(const std::string& line,
                                                         const std::set<std::string>& arguments) {
  const auto skip = [&](std::size_t at, const char* these) {
    return std::min(line.find_first_not_of(these, at), line.size());
  };
  std::size_t at = skip(0, " \t*-#.)0123456789`");
  std::vector<std::string> names;
  for (;;) {
    at = skip(at, "`* ");
    const std::size_t begin = at;
    while (at < line.size() && (std::isalnum(static_cast<unsigned char>(line[at])) != 0 || line[at] == '_'))
      ++at;
    const std::string name = line.substr(begin, at - begin);
    if (!arguments.contains(name)) return {{}, 0};
    names.push_back(name);
    const std::size_t after = skip(at, "`* ");
    const std::string_view rest = std::string_view(line).substr(after);
    if (rest.starts_with(',') || rest.starts_with('/')) {
      at = after + 1;
    } else if (rest.starts_with("and ")) {
      at = after + 4;
    } else if (says_what(rest, line[at] == ' ')) {
      return {names, after};
    } else if (rest.starts_with(':') || rest.starts_with("- ") || rest.starts_with("—") ||
               rest.starts_with("–") || (rest.starts_with('(') && line[at] != '(')) {
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
    Head head = head_of(line.substr(at), arguments);
    if (head.first.empty()) continue;
    free = at + head.second;
    found.emplace_back(at, std::move(head));
  }
  return found;
}

std::size_t indentation(const std::string& line) {
  return std::min(line.find_first_not_of(" \t"), line.size());
}

std::vector<Declaration> declarations(const std::vector<std::string>& lines,
                                      const std::set<std::string>& arguments) {
  static const std::regex typed("(?:Tensor|\\*)\\s*&?\\s*([A-Za-z_]\\w*)\\s*[,)]?\\s*//(.*)$");
  std::vector<Declaration> found;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    std::smatch match;
    Declaration said{.names = {}, .text = {}, .line = static_cast<int>(i + 1)};
    if (std::regex_search(lines[i], match, typed) && arguments.contains(match[1].str())) {
      said.names = {match[1].str()};
      said.text = match[2].str();
    } else if (const auto inside = clauses(lines[i], arguments);
               inside.size() > 1 || (!inside.empty() && inside.front().first > 0)) {
      for (std::size_t c = 0; c < inside.size(); ++c) {
        const auto [begin, head] = inside[c];
        const std::size_t end = c + 1 < inside.size() ? inside[c + 1].first : lines[i].size();
        found.push_back(
            {head.first, lines[i].substr(begin + head.second, end - begin - head.second), said.line});
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
    if (!said.names.empty()) found.push_back(std::move(said));
  }
  return found;
}

struct Reader {
  const CaseFolder& folder;
  std::vector<std::string> lines;
  std::vector<Finding>& findings;

  Finding& contradiction(const std::string& argument, int line) {
    Finding found;
    found.code = "contradicts-label";
    found.subject = Subject::instruction;
    found.argument = argument;
    found.location = {folder.instruction.string(), line};
    return findings.emplace_back(std::move(found));
  }

  /// The recorded values of one argument.
  void argument(const Declaration& said, const std::string& name,
                const std::vector<const RecordedCall*>& calls) {
    const auto dtypes = dtypes_in(said.text);
    auto [rank, words] = rank_in(said.text);
    if (said.text.find(" or ") != std::string::npos) rank = -1;  // "[n] or [b, s]"
    std::size_t given = 0, other_type = 0, other_rank = 0;
    const Tensor *type = nullptr, *ranked = nullptr;
    for (const RecordedCall* call : calls) {
      const Value* value = argument_of(call->before, name);
      if (value == nullptr || !value->is_tensor()) continue;
      ++given;
      if (std::none_of(dtypes.begin(), dtypes.end(),
                       [&](const auto& each) { return each.first == value->tensor.dtype; })) {
        ++other_type;
        type = &value->tensor;
      }
      if (value->tensor.rank != rank) {
        ++other_rank;
        ranked = &value->tensor;
      }
    }
    if (!dtypes.empty() && other_type > 0) {
      Finding& found = contradiction(name, said.line);
      found.evidence =
          fmt::format("it says {} for {}, but the test passes {} in {} of {}", dtypes.front().second, name,
                      isomer::name_of(type->dtype), other_type, calls_in_words(given));
      found.fix = fmt::format("say {}, which the label takes", isomer::name_of(type->dtype));
    }
    if (rank >= 0 && other_rank > 0) {
      Finding& found = contradiction(name, said.line);
      found.evidence =
          fmt::format("it says {} for {}, rank {}, but the test passes rank {} in {} of {}: {}", words, name,
                      rank, ranked->rank, other_rank, calls_in_words(given), ranked->describe());
      found.fix = fmt::format("say rank {} and what every dimension is", ranked->rank);
    }
  }

  /// "f(a, b)" against the label's parameters, and what the calls pass by name.
  void signature(const LabelFunction& function, const Facts& facts,
                 const std::vector<const RecordedCall*>& calls) {
    const std::regex call("(^|[^A-Za-z0-9_.])" + function.name + "\\s*\\(([^()]*)\\)");
    static const std::regex last_word("([A-Za-z_]\\w*)\\s*(?:=[^,]*)?$");
    std::smatch match;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (!std::regex_search(lines[i], match, call)) continue;
      std::vector<std::string> said;
      const std::string inside = match[2].str();
      if (inside.find("..") != std::string::npos || inside.find_first_not_of(" \t") == std::string::npos)
        return;
      for (std::size_t begin = 0; begin <= inside.size();) {
        const std::size_t end = std::min(inside.find(',', begin), inside.size());
        const std::string part = inside.substr(begin, end - begin);
        std::smatch name;
        // Numbers and expressions: an example of a call, no signature.
        if (!std::regex_search(part, name, last_word)) return;
        said.push_back(name[1].str());
        begin = end + 1;
      }
      std::vector<std::string> names, missing;
      std::size_t required = 0;
      for (const LabelParameter& each : function.parameters) {
        names.push_back(each.name);
        required += !each.has_default;
        if (!each.has_default && std::find(said.begin(), said.end(), each.name) == said.end())
          missing.push_back(each.name);
      }
      // More than the label has may be what C needs: sizes, outputs.
      const bool fewer = said.size() < required;
      const bool other = !missing.empty() && said.size() > function.parameters.size();
      if (fewer || other) {
        Finding& found = contradiction(missing.empty() ? "" : missing.front(), static_cast<int>(i + 1));
        found.evidence = fmt::format("it says {}({}), {} arguments, but the label's takes {}: ({}), {}:{}",
                                     function.name, fmt::join(said, ", "), said.size(), names.size(),
                                     fmt::join(names, ", "), facts.label_file, function.line);
        found.fix = fmt::format("say {}({})", function.name, fmt::join(names, ", "));
      }
      for (const RecordedCall* each : calls)
        for (std::size_t k = 0; k < each->before.size() && !fewer && !other; ++k) {
          if (k >= each->keyword.size() || !each->keyword[k]) continue;
          const std::string& keyword = each->before[k].name;
          if (said.size() < names.size() || std::find(said.begin(), said.end(), keyword) != said.end())
            continue;
          Finding& found = contradiction(keyword, static_cast<int>(i + 1));
          found.evidence = fmt::format(
              "it says {}({}), but the test passes {}= by its name, as the label has it: ({}), {}:{}",
              function.name, fmt::join(said, ", "), keyword, fmt::join(names, ", "), facts.label_file,
              function.line);
          found.fix = fmt::format("say {}({})", function.name, fmt::join(names, ", "));
          return;
        }
      return;
    }
  }

  /// "BLOCK_SIZE = 256" against what the label launches with.
  void constants(const LabelFunction& function, const Facts& facts) {
    std::set<std::string> told;
    for (const LabelConstant& constant : function.constants) {
      if (constant.values.empty() || !told.insert(constant.name).second) continue;
      const std::regex assigned("\\b" + constant.name + "\\b`?\\s*(?:=|:|of|is)?\\s*`?\\s*(\\d{1,9})\\b");
      for (std::size_t i = 0; i < lines.size(); ++i) {
        std::smatch match;
        if (!std::regex_search(lines[i], match, assigned)) continue;
        const std::int64_t said = std::stoll(match[1].str());
        if (std::find(constant.values.begin(), constant.values.end(), said) != constant.values.end()) break;
        Finding& found = contradiction(constant.name, static_cast<int>(i + 1));
        found.evidence = fmt::format("it says {} = {}, but the label launches with {} ({}:{})", constant.name,
                                     said, fmt::join(constant.values, ", "), facts.label_file, constant.line);
        found.fix =
            "leave the launch to the port: how many threads share a block is no part of what is computed";
        break;
      }
    }
  }
};

}  // namespace

void audit_instruction(const CaseFolder& folder, const Recording& recording, const Facts* facts,
                       std::vector<Finding>& findings) {
  if (folder.instruction.empty()) return;
  Reader reader{folder, lines_of(folder.instruction), findings};
  // The function that the test is about: the one called most.
  std::map<std::string, std::vector<const RecordedCall*>> functions;
  const std::vector<const RecordedCall*>* calls = nullptr;
  for (const RecordedCall& call : recording.calls) functions[call.function].push_back(&call);
  for (const auto& [name, made] : functions)
    if (calls == nullptr || made.size() > calls->size()) calls = &made;
  if (calls == nullptr) return;
  const std::string& name = calls->front()->function;

  std::set<std::string> arguments;
  for (const RecordedCall* call : *calls)
    for (const Value& value : call->before) arguments.insert(value.name);
  std::set<std::string> told;
  for (const Declaration& said : declarations(reader.lines, arguments))
    for (const std::string& argument : said.names)
      if (told.insert(argument).second) reader.argument(said, argument, *calls);
  const LabelFunction* function = facts != nullptr ? facts->function(name) : nullptr;
  if (function == nullptr) return;
  reader.signature(*function, *facts, *calls);
  reader.constants(*function, *facts);
}

}  // namespace isomer::lab
