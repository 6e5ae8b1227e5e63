#include "lab/ask/recorded/option_words.hpp"

#include "lab/text/cpp_tokens.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <optional>
#include <string_view>

namespace isomer::lab {
namespace {

using Codes = std::map<std::string, int>;

constexpr int kMostCode = 64;

/// Letters and digits in lower case.
std::string squashed(std::string_view text) {
  std::string all = lower_case(text);
  std::erase_if(all, [](char c) { return c == '_' || c == '-' || c == ' '; });
  return all;
}

/// Whether an identifier is the word, or ends with it behind a word of its own: kReduceMean, REDUCE_MEAN.
bool says(std::string_view identifier, const std::string& spelling) {
  const std::string whole = squashed(identifier), word = squashed(spelling);
  if (word.empty() || !whole.ends_with(word)) return false;
  const std::size_t before = whole.size() - word.size();
  if (before == 0) return true;
  // The letter where it begins, in the identifier as it is written.
  std::size_t at = identifier.size(), left = word.size();
  while (at > 0 && left > 0)
    if (identifier[--at] != '_') --left;
  return at > 0 &&
         (identifier[at - 1] == '_' || (std::isupper(static_cast<unsigned char>(identifier[at])) != 0 &&
                                        std::isupper(static_cast<unsigned char>(identifier[at - 1])) == 0));
}

const OptionWord* said_by(std::string_view identifier, const std::vector<OptionWord>& words) {
  // CLIPPED_RELU is no RELU.
  const OptionWord* said = nullptr;
  std::size_t longest = 0;
  for (const OptionWord& each : words)
    for (const std::string& spelling : each.spellings)
      if (spelling.size() > longest && says(identifier, spelling)) {
        said = &each;
        longest = spelling.size();
      }
  return said;
}

/// "0 = hard, 1 = linear", "mean: 1", in comments that name the parameter or follow such a line.
void read_comments(const std::string& source, const std::string& parameter,
                   const std::vector<OptionWord>& words, Codes& codes) {
  constexpr int kLinesBehind = 6;
  const Pattern named("\\b" + literally(parameter) + "\\b");
  int left = 0;
  for (std::size_t at = 0; at < source.size();) {
    const std::size_t end = std::min(source.find('\n', at), source.size());
    const std::string line = source.substr(at, end - at);
    at = end + 1;
    left = named.found_in(line) ? kLinesBehind : left - 1;
    const std::size_t comment = std::min(line.find("//"), std::min(line.find("/*"), line.find(" *")));
    if (left <= 0 || comment == std::string::npos) continue;
    const std::string said = line.substr(comment);
    for (const OptionWord& each : words)
      for (const std::string& spelling : each.spellings) {
        const std::string word = "[\"'`]?" + literally(spelling) + "[\"'`]?\\b";
        // "kind: 0 none, 1 number" needs no sign where the line names the parameter.
        const std::string sign = "\\s*(?:=|:|-|->|=>|is|means|for|\\()\\s*\\(?";
        const Pattern before("(?i)\\b(\\d{1,2})(?:" + sign + (left == kLinesBehind ? "|\\s+)" : ")") + word);
        const Pattern behind("(?i)(?:^|[^\\w])" + word + "\\s*(?:=|:|->|=>|is|\\()\\s*(\\d{1,2})\\b");
        if (const auto found = before.find(said))
          codes.emplace(each.word, std::atoi((*found)[1].c_str()));
        else if (const auto other = behind.find(said))
          codes.emplace(each.word, std::atoi((*other)[1].c_str()));
      }
  }
}

/// Enumerators, which count from 0 where they say nothing, constants and macros.
void read_constants(const std::string& source, const CppTokens& tokens, const std::vector<OptionWord>& words,
                    Codes& codes) {
  const auto number = [&](std::size_t i) -> std::optional<int> {
    if (tokens[i].kind != CppToken::Kind::number) return std::nullopt;
    const long value = std::strtol(std::string(tokens.text(i)).c_str(), nullptr, 0);
    return value >= 0 && value <= kMostCode ? std::optional<int>(static_cast<int>(value)) : std::nullopt;
  };
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (tokens.is(i, "enum")) {
      std::size_t open = i + 1;
      while (open < tokens.size() && !tokens.is(open, "{") && !tokens.is(open, ";")) ++open;
      if (!tokens.is(open, "{")) continue;
      int next = 0;
      for (std::size_t k = open + 1; k < tokens[open].partner; ++k) {
        if (!tokens.is_name(k)) continue;
        if (tokens.is(k + 1, "=")) next = number(k + 2).value_or(next);
        if (const OptionWord* word = said_by(tokens.text(k), words)) codes.emplace(word->word, next);
        ++next;
        while (k < tokens[open].partner && !tokens.is(k, ",")) ++k;
      }
      continue;
    }
    if (!tokens.is_name(i) || !tokens.is(i + 1, "=") || i == 0 || !tokens.is_name(i - 1)) continue;
    if (const auto value = number(i + 2); value && (tokens.is(i + 3, ";") || tokens.is(i + 3, ",")))
      if (const OptionWord* word = said_by(tokens.text(i), words)) codes.emplace(word->word, *value);
  }
  static const Pattern defined("(?m)^\\s*#\\s*define\\s+(\\w+)\\s+\\(?(\\d{1,2})\\)?\\s*(?://.*)?$");
  for (const Match& match : defined.all(source))
    if (const OptionWord* word = said_by(match[1], words))
      codes.emplace(word->word, std::atoi(match[2].c_str()));
}

/// The word that comes first in a text; null: none.
const OptionWord* first_word(std::string_view text, const std::vector<OptionWord>& words) {
  static const Pattern identifier("[A-Za-z_]\\w*");
  for (const Match& match : identifier.all(text))
    if (const OptionWord* word = said_by(match[0], words)) return word;
  return nullptr;
}

/// What is done where the parameter is a number: `if (dtype == 1) run<__half>(…)`, `case 2: // cubic`. The
/// one word that is left is what is done otherwise.
void read_comparisons(const std::string& source, const std::string& parameter,
                      const std::vector<OptionWord>& words, Codes& codes) {
  constexpr std::size_t kFar = 240;
  const Pattern compared("\\b" + literally(parameter) + "\\s*==\\s*(\\d{1,2})\\b");
  static const Pattern other("\\belse\\b|\\bcase\\b|\\bdefault\\b|==|\\?.*:");
  const Pattern switched("\\bswitch\\s*\\(\\s*(?:\\w+[.]|\\(int\\)\\s*)?" + literally(parameter) + "\\s*\\)");
  static const Pattern chosen("\\bcase\\s+(\\d{1,2})\\s*:");
  std::vector<int> numbers;
  const auto take = [&](int code, std::size_t from) {
    numbers.push_back(code);
    std::string_view text = std::string_view(source).substr(from, kFar);
    if (const auto end = other.find(text)) text = text.substr(0, end->begin());
    if (const OptionWord* word = first_word(text, words)) codes.emplace(word->word, code);
  };
  for (const Match& match : compared.all(source)) take(std::atoi(match[1].c_str()), match.end());
  for (const Match& match : switched.all(source)) {
    const std::string_view body = std::string_view(source).substr(match.end(), 2000);
    for (const Match& each : chosen.all(body)) take(std::atoi(each[1].c_str()), match.end() + each.end());
  }
  if (codes.empty() || codes.size() + 1 != words.size()) return;
  const auto has_a_word = [&](int number) {
    return std::any_of(codes.begin(), codes.end(), [&](const auto& each) { return each.second == number; });
  };
  // A number that is asked for, and of which nothing is said, is its.
  const auto open = std::find_if_not(numbers.begin(), numbers.end(), has_a_word);
  int rest = open == numbers.end() ? 0 : *open;
  while (open == numbers.end() &&
         (has_a_word(rest) || std::find(numbers.begin(), numbers.end(), rest) != numbers.end()))
    ++rest;
  for (const OptionWord& each : words) codes.emplace(each.word, rest);
}

}  // namespace

std::map<std::string, int> codes_in_source(const std::string& source, const std::string& parameter,
                                           const std::vector<OptionWord>& words) {
  Codes codes;
  read_comments(source, parameter, words, codes);
  // What is done with the parameter itself says more than constants that may be others' too.
  if (codes.size() < words.size()) read_comparisons(source, parameter, words, codes);
  if (codes.size() < words.size()) read_constants(source, CppTokens(source), words, codes);
  return codes;
}

}  // namespace isomer::lab
