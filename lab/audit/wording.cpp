#include "lab/audit/wording.hpp"

#include "lab/text/pattern.hpp"

#include <utility>

namespace isomer::lab {
namespace {

struct Words {
  const char *said, *plain;
};

/// Longer ones first: what is no is is not read as is.
constexpr Words kWords[] = {
    {"：", ": "},
    {"；", "; "},
    {"，", ", "},
    {"。", ". "},
    {"、", ", "},
    {"（", " ("},
    {"）", ") "},
    {"不能是", " not "},
    {"不应是", " not "},
    {"不是", " not "},
    {"不为", " not "},
    {"必须是", " is "},
    {"必须为", " is "},
    {"应该是", " is "},
    {"应为", " is "},
    {"应是", " is "},
    {"须为", " is "},
    {"是", " is "},
    {"为", " is "},
    {"半精度", " float16 "},
    {"单精度", " float32 "},
    {"一维", " 1-dimensional "},
    {"二维", " 2-dimensional "},
    {"两维", " 2-dimensional "},
    {"三维", " 3-dimensional "},
    {"四维", " 4-dimensional "},
    {"五维", " 5-dimensional "},
    {"的", " "},
    {"张量", " tensor "},
    {"类型", " "},
    {"个参数", " arguments "},
    {"接收", " takes "},
    {"接受", " takes "},
    {"共有", " has "},
    {"函数", " function "},
    {"形状", " shape "},
    {"或", " or "},
};

std::string with_replaced(const std::string& text, std::string_view said, std::string_view plain) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(said); at != std::string::npos; at = text.find(said, from)) {
    out.append(text, from, at - from) += plain;
    from = at + said.size();
  }
  return out.append(text, from);
}

/// What stands before in the same sentence.
std::string_view in_its_sentence(std::string_view before) {
  const std::size_t end = before.find_last_of(".;");
  return end == std::string_view::npos ? before : before.substr(end + 1);
}

/// Whether what stands before a demand turns it round: "must not take", "converted to".
bool turned_round(std::string_view before) {
  static const Pattern turns(
      "\\b(not|no|never|without|don't|rather than|instead of|was|were)\\b|"
      "\\b(to|from|as|in|into|than|via)\\s+(a |an )?$",
      Pattern::Letters::of_any_case);
  return turns.found_in(in_its_sentence(before));
}

/// Whether something is asked for in the same sentence, and not told of another port or of what is inside.
bool asks(std::string_view before) {
  static const Pattern verbs("\\b(must|should|shall|accepts?|takes?|expects?|requires?|receives?|needs?)\\b",
                             Pattern::Letters::of_any_case);
  return verbs.found_in(in_its_sentence(before)) && !turned_round(before);
}

}  // namespace

std::string plain_wording(std::string line) {
  bool ascii = true;
  for (const char c : line) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
  if (!ascii)
    for (const auto& [said, plain] : kWords) line = with_replaced(line, said, plain);
  constexpr Words kNumbers[] = {{"one", "1"}, {"two", "2"}, {"three", "3"}, {"four", "4"}, {"five", "5"},
                                {"six", "6"}, {"一", "1"},  {"两", "2"},    {"二", "2"},   {"三", "3"},
                                {"四", "4"},  {"五", "5"},  {"六", "6"}};
  if (line.find("imension") == std::string::npos && line.find("argument") == std::string::npos &&
      line.find("parameter") == std::string::npos)
    return line;
  for (const auto& [said, plain] : kNumbers) {
    const Pattern number(std::string("(^|[^A-Za-z])") + said + "\\s*[ -](dimension|argument|parameter)",
                         Pattern::Letters::of_any_case);
    line = number.replaced(line, std::string("$1 ") + plain + " $2");
  }
  static const Pattern rank("\\b(\\d)[ -]dimension(s|al)\\b");
  return rank.replaced(line, "$1-dimensional");
}

std::vector<CodeDemand> demands_of(const std::string& line, const std::set<std::string>& arguments) {
  static const Pattern pointer(
      "\\b(float|double|half|__half|at::Half|bfloat16|__nv_bfloat16|hip_bfloat16|at::BFloat16|int|int32_t|"
      "int64_t|int8_t|uint8_t)\\s*(?:const\\s*)?\\*\\s*(?:const\\s*)?(?:__restrict__\\s*|restrict\\s*)?([A-"
      "Za-z_]"
      "\\w*)"),
      type("\\b([A-Za-z_]\\w*)\\.(?:scalar_type|dtype)(?:\\(\\))?\\s*[=!]=\\s*([A-Za-z_][\\w:.]*)"),
      rank("\\b([A-Za-z_]\\w*)\\.(?:dim\\(\\)|ndim|ndimension\\(\\))\\s*[=!]=\\s*(\\d)\\b"),
      assigned(
          "\\b([A-Za-z_]\\w*)\\s*=\\s*(?:torch\\.)?(float32|fp32|float16|fp16|bfloat16|bf16|float64|int8|"
          "int32|"
          "int64|uint8)\\b"),
      before(
          "\\b(float32|fp32|f32|float16|fp16|f16|bfloat16|bf16|float64|int8|int32|int64|uint8)\\s+(?:tensors?"
          "\\s+|"
          "inputs?\\s+)?`?([A-Za-z_]\\w*)\\b`?");
  std::vector<CodeDemand> found;
  const auto each = [&](const Pattern& pattern, auto take) {
    for (const Match& match : pattern.all(line)) take(match);
  };
  // Where a match is the end of a word in a sentence or in code, not of "int8_t" or "K-major".
  const auto ends_at = [&](const Match& match, std::string_view these) {
    return match.end() == line.size() || these.find(line[match.end()]) != std::string_view::npos;
  };
  each(pointer, [&](const Match& match) {
    std::string element = match[1];
    if (element == "float") element = "float32";
    if (element == "int") element = "int32";
    if (arguments.contains(match[2])) found.push_back({match[2], element});
  });
  // "K is float32 || K is float16" is one demand.
  std::vector<CodeDemand> types;
  each(type, [&](const Match& match) {
    if (!arguments.contains(match[1])) return;
    for (CodeDemand& known : types)
      if (known.name == match[1]) {
        known.text += " " + match[2];
        return;
      }
    types.push_back({match[1], match[2]});
  });
  found.insert(found.end(), types.begin(), types.end());
  each(rank, [&](const Match& match) {
    if (arguments.contains(match[1]) && line.find("||") == std::string::npos &&
        line.find(" or ") == std::string::npos)
      found.push_back({match[1], match[0], std::stoi(match[2])});
  });
  each(assigned, [&](const Match& match) {
    if (arguments.contains(match[1]) && ends_at(match, " \t\r\n\v\f,;)"))
      found.push_back({match[1], match[2]});
  });
  each(before, [&](const Match& match) {
    if (arguments.contains(match[2]) && ends_at(match, " \t\r\n\v\f,.;:)") &&
        line.find(" or ") == std::string::npos && asks(match.before()))
      found.push_back({match[2], match[1]});
  });
  return found;
}

}  // namespace isomer::lab
