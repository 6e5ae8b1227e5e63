#include "lab/ask/recorded/flag_bits.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

constexpr int kMostBits = 31;

using NamedBits = std::vector<std::pair<std::string, int>>;

/// A power of two: `4`, `0x4`, `1u << 2`.
std::optional<int> bit_of(const std::string& number, const std::string& shift) {
  const long value = std::strtol(number.c_str(), nullptr, 0);
  const long by = shift.empty() ? 0 : std::strtol(shift.c_str(), nullptr, 0);
  if (value <= 0 || by < 0 || by >= kMostBits || (value << by) >= (1L << kMostBits)) return std::nullopt;
  const long bit = value << by;
  return (bit & (bit - 1)) == 0 ? std::optional<int>(static_cast<int>(bit)) : std::nullopt;
}

/// Constants, enumerators and macros.
NamedBits constants_in(const std::string& source) {
  static const std::string number =
      "\\(?\\s*(0x[0-9a-fA-F]+|\\d+)[uUlL]*\\s*(?:<<\\s*(\\d+))?[uUlL]*\\s*\\)?";
  static const Pattern assigned("\\b([A-Za-z_]\\w*)\\s*=\\s*" + number + "\\s*[,;}]");
  static const Pattern last("\\b([A-Za-z_]\\w*)\\s*=\\s*" + number + "\\s*(?://[^\\n]*)?\\s*\\}");
  static const Pattern defined("#\\s*define\\s+([A-Za-z_]\\w*)\\s+" + number);
  NamedBits list;
  for (const Pattern* pattern : {&assigned, &last, &defined})
    for (const Match& match : pattern->all(source))
      if (const auto bit = bit_of(match[2], match.has(3) ? match[3] : std::string()))
        list.emplace_back(match[1], *bit);
  return list;
}

/// "bit 1: maximize", "2 = nesterov", in comments.
NamedBits comments_in(const std::string& source) {
  static const Pattern bit(
      "(?i)\\bbit\\s*(\\d+)\\s*(?:[:=(]|->|is|means|says)?\\s*\\(?([A-Za-z_][\\w ]{2,24})");
  static const Pattern named("\\b(0x[0-9a-fA-F]+|\\d+)\\s*(?:[:=]|->)\\s*([A-Za-z_]\\w{2,24})");
  NamedBits list;
  for (const Match& match : bit.all(source))
    if (const int at = std::atoi(match[1].c_str()); at < kMostBits) list.emplace_back(match[2], 1 << at);
  static const Pattern comment("//[^\\n]*|/\\*[^*]*\\*/");
  for (const Match& each : comment.all(source))
    for (const Match& match : named.all(each[0]))
      if (const auto value = bit_of(match[1], "")) list.emplace_back(match[2], *value);
  return list;
}

/// `const bool nesterov = flags & 2;`, `bool m = (flags >> 1) & 1;`
NamedBits asked_in(const std::string& source, const std::string& parameter) {
  const std::string own = "(?:\\w+[.])?" + literally(parameter);
  const Pattern masked("\\b(\\w+)\\s*=\\s*\\(*\\s*" + own +
                       "\\s*&\\s*\\(?(0x[0-9a-fA-F]+|\\d+)[uUlL]*\\s*(?:<<\\s*(\\d+))?");
  const Pattern shifted("\\b(\\w+)\\s*=\\s*\\(*\\s*" + own + "\\s*>>\\s*(\\d+)\\s*\\)\\s*&\\s*1");
  NamedBits list;
  for (const Match& match : masked.all(source))
    if (const auto bit = bit_of(match[2], match.has(3) ? match[3] : std::string()))
      list.emplace_back(match[1], *bit);
  for (const Match& match : shifted.all(source))
    if (const int at = std::atoi(match[2].c_str()); at < kMostBits) list.emplace_back(match[1], 1 << at);
  return list;
}

/// Words that all names have say nothing: SGD_NESTEROV, SGD_MAXIMIZE.
std::string without_common(const std::string& name, const NamedBits& all) {
  std::string text;
  for (const std::string& word : words_of_name(name)) {
    const bool common = all.size() > 1 && std::all_of(all.begin(), all.end(), [&](const auto& each) {
                          const std::vector<std::string> words = words_of_name(each.first);
                          return std::find(words.begin(), words.end(), word) != words.end();
                        });
    if (!common) text += (text.empty() ? "" : "_") + word;
  }
  return text;
}

}  // namespace

std::map<std::string, int> flag_bits(const std::string& source, const std::string& parameter,
                                     const std::vector<std::string>& options) {
  std::map<std::string, int> bits;
  for (const NamedBits& names : {asked_in(source, parameter), constants_in(source), comments_in(source)}) {
    std::map<std::string, int> found;
    for (const std::string& option : options) {
      double best = 0;
      for (const auto& [name, bit] : names) {
        // A constant may stand among many others of the file.
        const double likeness =
            std::max(likeness_of_names(option, name), likeness_of_names(option, without_common(name, names)));
        if (likeness > best) {
          best = likeness;
          found[option] = bit;
        }
      }
    }
    if (found.size() > bits.size()) bits = found;
  }
  // One bit says one thing.
  for (const auto& [option, bit] : bits)
    for (const auto& [other, same] : bits)
      if (option != other && bit == same) return {};
  return bits;
}

}  // namespace isomer::lab
