#pragma once

#include <string>
#include <string_view>

namespace isomer::lab {

/// The text with its ASCII letters in lower case.
std::string lower_case(std::string_view text);

}  // namespace isomer::lab
