#pragma once

#include "lab/text/cpp_tokens.hpp"

#include <string>
#include <vector>

namespace isomer::lab {

/// Of a number as C++ writes it: whether it is no whole one.
bool is_real_number(const std::string& text);
/// What may have been meant in its place, the likeliest first, with its suffix; empty where it is no number.
std::vector<std::string> other_numbers(const std::string& text);

/// Whether one number is within a tenth of the other.
bool is_nearly(const std::string& one, const std::string& other);

/// The numbers of a label that a source has nowhere: one of its numbers may be mistyped.
class AbsentNumbers {
 public:
  AbsentNumbers(const std::vector<std::string>& of_label, const CppTokens& tokens);
  /// Those that may have been meant in place of that one, the nearest first, with its suffix.
  std::vector<std::string> near(const std::string& text) const;

 private:
  std::vector<std::string> numbers_;
};

}  // namespace isomer::lab
