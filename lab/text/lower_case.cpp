#include "lab/text/lower_case.hpp"

#include <cctype>

namespace isomer::lab {

std::string lower_case(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

}  // namespace isomer::lab
