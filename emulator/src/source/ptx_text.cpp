#include "source/ptx_text.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "source/ptx_table.hpp"

namespace isomer::emulator::source {

std::string trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\n\r"), last = text.find_last_not_of(" \t\n\r");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

Words split(const std::string& text, char by) {
  Words parts;
  int depth = 0;
  std::string part;
  for (char c : text) {
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    if (c == by && depth == 0) {
      parts.push_back(trimmed(part));
      part.clear();
    } else {
      part += c;
    }
  }
  if (!trimmed(part).empty() || !parts.empty()) parts.push_back(trimmed(part));
  return parts;
}

bool has(const Words& parts, const char* what) {
  return std::find(parts.begin(), parts.end(), what) != parts.end();
}

std::optional<std::string> type_of(const std::string& word) {
  static const std::set<std::string> known = {"u8",  "u16", "u32", "u64", "s8",
                                              "s16", "s32", "s64", "f32", "f64"};
  if (known.count(word)) return word;
  if (word == "b8" || word == "b16" || word == "b32" || word == "b64") return "u" + word.substr(1);
  if (word == "b128" || word == "pred") return word;
  return std::nullopt;
}

bool is_label(const std::string& text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '_' || c == '$' || c == '%' || c == '=';
         });
}

std::string label(const std::string& name) {
  std::string out = "isomer_to_";
  for (const char c : name) out += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return out;
}

bool only_waits(const std::string& text) {
  std::string plain = text;
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return c == '{' || c == '}'; }, ' ');
  std::set<std::string> labels;  // in front of the wait
  bool waits = false, again = false;
  for (std::string statement : split(plain, ';')) {
    for (std::size_t colon; (colon = statement.find(':')) != std::string::npos &&
                            is_label(trimmed(statement.substr(0, colon)));) {
      if (!waits) labels.insert(trimmed(statement.substr(0, colon)));
      statement = trimmed(statement.substr(colon + 1));
    }
    if (!statement.empty() && statement[0] == '@')
      statement = trimmed(statement.substr(std::min(statement.find_first_of(" \t\n"), statement.size())));
    if (statement.empty() || statement.rfind(".reg", 0) == 0) continue;
    if (statement.rfind("mbarrier.try_wait", 0) == 0 || statement.rfind("mbarrier.test_wait", 0) == 0) {
      if (waits) return false;
      waits = true;
    } else if (statement.rfind("bra", 0) == 0) {
      const auto blank = statement.find_first_of(" \t\n");
      again |= blank != std::string::npos && labels.count(trimmed(statement.substr(blank))) != 0;
    } else {
      return false;
    }
  }
  return waits && again;
}

std::string qualified(const std::string& code) {
  std::string out;
  for (std::size_t i = 0; i < code.size();) {
    const auto part_of_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::size_t end = i;
    while (end < code.size() && part_of_name(code[end])) ++end;
    if (end == i) {
      out += code[i++];
      continue;
    }
    const std::string word = code.substr(i, end - i);
    const bool member = i > 0 && (code[i - 1] == '.' || code[i - 1] == ':' || code[i - 1] == '\'');
    if (!member && ptx_names().count(word)) out += "::isomer::emulator::ptx::";
    if (!member && word == "Reach_block") out += "::isomer::emulator::";
    out += word;
    i = end;
  }
  return out;
}

}  // namespace isomer::emulator::source
