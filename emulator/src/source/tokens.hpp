// The tokens of a preprocessed source, each with the file and line it was written at. Text that came from
// system headers is skipped: nothing there is the user's, and nothing there is rewritten.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::emulator::source {

struct Token {
  enum Kind : std::uint8_t { name, number, string, character, mark } kind;
  std::string_view text;
  std::uint32_t offset = 0;
  std::uint32_t file = 0;
  std::uint32_t line = 0;
  bool is(std::string_view what) const { return text == what; }
  std::uint32_t end() const { return offset + static_cast<std::uint32_t>(text.size()); }
};

struct Text {
  std::vector<Token> tokens;
  std::vector<std::string> files;  ///< by the number in a token
  bool uses_aten = false;
};

/// `text` is the output of the preprocessor, with its line markers; it has to outlive the result.
Text tokenize(std::string_view text);

}  // namespace isomer::emulator::source
