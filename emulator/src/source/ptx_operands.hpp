// The operands of one asm statement, as the C++ that stands for each.
#pragma once

#include <map>
#include <string>

#include "source/ptx_text.hpp"

namespace isomer::emulator::source {

/// An instruction or an operand that the tables lack.
struct Unknown {};

class PtxOperands {
 public:
  explicit PtxOperands(std::map<std::string, std::string> known) : known_(std::move(known)) {}

  void name(const std::string& text, const std::string& variable) { known_[text] = variable; }
  /// `%0`, a register, a special register or a number.
  std::string operand(const std::string& text) const;
  /// `{a, b}`, or one alone.
  Words vector(const std::string& text) const;
  /// `[a + 16]`, as an expression of 64 bits.
  std::string address(const std::string& text) const;

 private:
  std::map<std::string, std::string> known_;
};

}  // namespace isomer::emulator::source
