#include "source/library_specifiers.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>

namespace isomer::emulator::source {

std::string without_library_specifiers(std::string text) {
  constexpr std::string_view kWords[] = {"__host__", "__device__", "__forceinline__"};
  std::map<std::string, bool, std::less<>> system_files;
  bool system = false;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line(text.data() + begin, end - begin);
    if (line.size() > 2 && line[0] == '#' && std::isdigit(static_cast<unsigned char>(line[2]))) {
      const std::size_t open = line.find('"'), close = line.rfind('"');
      // As the tokens are read: the flag of the first sight decides.
      const bool flagged = line.find(" 3", close) != std::string_view::npos;
      system = system_files.try_emplace(std::string(line.substr(open, close - open)), flagged).first->second;
    } else if (system) {
      for (const std::string_view word : kWords) {
        for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1))
          text.replace(begin + at, word.size(),
                       word == kWords[2] ? "inline         " : std::string(word.size(), ' '));
      }
    }
    begin = end + 1;
  }
  return text;
}

}  // namespace isomer::emulator::source
