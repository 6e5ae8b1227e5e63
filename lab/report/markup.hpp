#pragma once

#include <string>
#include <string_view>

namespace isomer::lab {

/// Text inside XML or HTML, attributes included. What is no UTF-8 or no character of XML becomes U+FFFD.
std::string escape_markup(std::string_view text);
/// Text inside a cell of a Markdown table.
std::string escape_markdown(std::string_view text);

}  // namespace isomer::lab
