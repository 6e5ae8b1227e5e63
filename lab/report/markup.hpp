#pragma once

#include <string>
#include <string_view>

namespace isomer::lab {

/// Text inside XML or HTML, attributes included. What is no UTF-8 or no character of XML becomes U+FFFD.
std::string escape_markup(std::string_view text);
/// Text on one line of a terminal: what a terminal would obey, line breaks and what is no UTF-8 are written
/// as in a C string.
std::string escape_terminal(std::string_view text);
/// Text inside a cell of a Markdown table. Other controls than line breaks become U+FFFD.
std::string escape_markdown(std::string_view text);

}  // namespace isomer::lab
