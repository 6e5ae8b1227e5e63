// Reading the text of a C++ source, without a compiler.
#pragma once

#include <string>

namespace isomer::lab {

/// The text from this line to the brace that closes what it opens.
std::string body_at(const std::string& source, int line);

/// The text without its comments, line ends kept.
std::string without_comments(const std::string& source);

}  // namespace isomer::lab
