#include "text/last_line.hpp"

#include <algorithm>
#include <cctype>

namespace isomer::emulator {
namespace {

constexpr std::size_t kLongest = 200;

std::string without_controls(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b' && i + 1 < line.size() && line[i + 1] == '[') {
      // A colour or a movement ends with its letter.
      for (i += 2; i < line.size() && !std::isalpha(static_cast<unsigned char>(line[i]));) ++i;
    } else if (static_cast<unsigned char>(line[i]) >= 0x20 && line[i] != 0x7f) {
      text += line[i];
    }
  }
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

}  // namespace

std::string last_line(const std::string& printed) {
  for (std::size_t end = printed.size(); end > 0;) {
    const std::size_t before = printed.rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    std::string text = without_controls(printed.substr(begin, end - begin));
    if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) || c >= 0x80; })) {
      if (text.size() <= kLongest) return text;
      // Not within a character of several bytes.
      std::size_t cut = kLongest;
      while (cut > 0 && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) --cut;
      return text.substr(0, cut) + "…";
    }
    end = before == std::string::npos ? 0 : before;
  }
  return {};
}

}  // namespace isomer::emulator
