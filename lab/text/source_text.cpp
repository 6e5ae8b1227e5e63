#include "lab/text/source_text.hpp"

#include <algorithm>

namespace isomer::lab {

std::string body_at(const std::string& source, int line) {
  std::size_t begin = 0;
  for (int l = 1; l < line && begin < source.size(); ++l)
    begin = std::min(source.find('\n', begin), source.size() - 1) + 1;
  int depth = 0;
  for (std::size_t i = begin; i < source.size(); ++i) {
    if (source[i] == '{') ++depth;
    if (source[i] == '}' && --depth == 0) return source.substr(begin, i + 1 - begin);
  }
  return source.substr(std::min(begin, source.size()));
}

std::string without_comments(const std::string& source) {
  std::string text = source;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i) i += text[i] == '\\' ? 1 : 0;
    } else if (text[i] == '/' && (text[i + 1] == '/' || text[i + 1] == '*')) {
      const bool line = text[i + 1] == '/';
      const std::size_t end = std::min(line ? text.find('\n', i) : text.find("*/", i + 2), text.size());
      for (; i < end || (!line && i < std::min(end + 2, text.size())); ++i) {
        if (text[i] != '\n') text[i] = ' ';
      }
      --i;
    }
  }
  return text;
}

}  // namespace isomer::lab
