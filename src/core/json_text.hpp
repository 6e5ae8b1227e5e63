#pragma once

#include <string>
#include <string_view>

/// What is written as JSON: strings, quoted by RFC 8259.
namespace isomer::core {

/// Whether the bytes are UTF-8 as RFC 3629 has it: no surrogates, no overlong forms.
bool is_utf8(std::string_view text);

/// The text as a JSON string, quotes included.
std::string json_quoted(std::string_view text);

}  // namespace isomer::core
