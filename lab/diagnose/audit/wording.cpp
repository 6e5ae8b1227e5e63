#include "lab/diagnose/audit/wording.hpp"

#include <regex>
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

void replace_all(std::string& text, const std::string& said, const std::string& plain) {
  for (std::size_t at = text.find(said); at != std::string::npos; at = text.find(said, at + plain.size()))
    text.replace(at, said.size(), plain);
}

/// Whether what stands before a demand turns it round: "must not take", "converted to".
bool turned_round(const std::string& before) {
  static const std::regex turns(
      "(\\b(not|no|never|without|don't|rather than|instead "
      "of|was|were)\\b[^.;]*|\\b(to|from|as|in|into|than|via)"
      "\\s+(a |an )?)$",
      std::regex::icase);
  return std::regex_search(before.size() > 80 ? before.substr(before.size() - 80) : before, turns);
}

/// Whether something is asked for in the same sentence, and not told of another port or of what is inside.
bool asks(const std::string& before) {
  static const std::regex verbs(
      "\\b(must|should|shall|accepts?|takes?|expects?|requires?|receives?|needs?)\\b[^.;]*$",
      std::regex::icase);
  return std::regex_search(before.size() > 80 ? before.substr(before.size() - 80) : before, verbs) &&
         !turned_round(before);
}

}  // namespace

std::string plain_wording(std::string line) {
  bool ascii = true;
  for (const char c : line) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
  if (!ascii)
    for (const auto& [said, plain] : kWords) replace_all(line, said, plain);
  constexpr Words kNumbers[] = {{"one", "1"}, {"two", "2"}, {"three", "3"}, {"four", "4"}, {"five", "5"},
                                {"six", "6"}, {"一", "1"},  {"两", "2"},    {"二", "2"},   {"三", "3"},
                                {"四", "4"},  {"五", "5"},  {"六", "6"}};
  if (line.find("imension") == std::string::npos && line.find("argument") == std::string::npos &&
      line.find("parameter") == std::string::npos)
    return line;
  for (const auto& [said, plain] : kNumbers) {
    const std::regex number(std::string("(^|[^A-Za-z])") + said + "\\s*[ -](dimension|argument|parameter)",
                            std::regex::icase);
    line = std::regex_replace(line, number, std::string("$1 ") + plain + " $2");
  }
  static const std::regex rank("\\b(\\d)[ -]dimension(s|al)\\b");
  return std::regex_replace(line, rank, "$1-dimensional");
}

std::vector<CodeDemand> demands_of(const std::string& line, const std::set<std::string>& arguments) {
  static const std::regex pointer(
      "\\b(float|double|half|__half|at::Half|bfloat16|__nv_bfloat16|hip_bfloat16|at::BFloat16|int|int32_t|"
      "int64_t|int8_t|uint8_t)\\s*(?:const\\s*)?\\*\\s*(?:const\\s*)?(?:__restrict__\\s*|restrict\\s*)?([A-"
      "Za-z_]"
      "\\w*)"),
      type("\\b([A-Za-z_]\\w*)\\.(?:scalar_type|dtype)(?:\\(\\))?\\s*[=!]=\\s*([A-Za-z_][\\w:.]*)"),
      rank("\\b([A-Za-z_]\\w*)\\.(?:dim\\(\\)|ndim|ndimension\\(\\))\\s*[=!]=\\s*(\\d)\\b"),
      assigned(
          "\\b([A-Za-z_]\\w*)\\s*=\\s*(?:torch\\.)?(float32|fp32|float16|fp16|bfloat16|bf16|float64|int8|"
          "int32|"
          "int64|uint8)(?=$|[\\s,;)])"),
      before(
          "\\b(float32|fp32|f32|float16|fp16|f16|bfloat16|bf16|float64|int8|int32|int64|uint8)\\s+(?:tensors?"
          "\\s+|"
          "inputs?\\s+)?`?([A-Za-z_]\\w*)`?(?=$|[\\s,.;:)])");
  std::vector<CodeDemand> found;
  const auto each = [&](const std::regex& pattern, auto take) {
    for (std::sregex_iterator it(line.begin(), line.end(), pattern), end; it != end; ++it) take(*it);
  };
  each(pointer, [&](const std::smatch& match) {
    std::string element = match[1].str();
    if (element == "float") element = "float32";
    if (element == "int") element = "int32";
    if (arguments.contains(match[2].str())) found.push_back({match[2].str(), element});
  });
  // "K is float32 || K is float16" is one demand.
  std::vector<CodeDemand> types;
  each(type, [&](const std::smatch& match) {
    if (!arguments.contains(match[1].str())) return;
    for (CodeDemand& known : types)
      if (known.name == match[1].str()) {
        known.text += " " + match[2].str();
        return;
      }
    types.push_back({match[1].str(), match[2].str()});
  });
  found.insert(found.end(), types.begin(), types.end());
  each(rank, [&](const std::smatch& match) {
    if (arguments.contains(match[1].str()) && line.find("||") == std::string::npos &&
        line.find(" or ") == std::string::npos)
      found.push_back({match[1].str(), match[0].str(), std::stoi(match[2].str())});
  });
  each(assigned, [&](const std::smatch& match) {
    if (arguments.contains(match[1].str())) found.push_back({match[1].str(), match[2].str()});
  });
  each(before, [&](const std::smatch& match) {
    if (arguments.contains(match[2].str()) && line.find(" or ") == std::string::npos &&
        asks(match.prefix().str()))
      found.push_back({match[2].str(), match[1].str()});
  });
  return found;
}

}  // namespace isomer::lab
