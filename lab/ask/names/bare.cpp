#include "lab/ask/names/bare.hpp"

#include <algorithm>
#include <cctype>

namespace isomer::lab {

std::string bare(std::string_view name) {
  std::string text;
  for (const char c : name) text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const char* end : {"_ptr", "_p", "_data", "_d"})
    if (text.size() > std::string_view(end).size() &&
        text.compare(text.size() - std::string_view(end).size(), std::string::npos, end) == 0)
      text.resize(text.size() - std::string_view(end).size());
  for (const char* begin : {"d_", "p_"})
    if (text.size() > 2 && text.compare(0, 2, begin) == 0) text.erase(0, 2);
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  return text;
}

}  // namespace isomer::lab
