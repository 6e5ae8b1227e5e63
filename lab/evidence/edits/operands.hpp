#pragma once

#include "lab/evidence/edits/places.hpp"

#include <array>
#include <cstddef>
#include <string_view>

/// Operators of a source, and which tokens their operands are.
namespace isomer::lab {

/// An operator, what it is called in the compiled source, how tightly it binds, and what may stand there: ""
/// is the left operand alone, "right" the right one; what is null is none.
struct ExchangedOperator {
  std::string_view word, name;
  int binds;
  std::array<const char*, 4> others;
};
/// Null where the word is none that is exchanged.
const ExchangedOperator* operator_of(std::string_view word);

/// Whether a value ends with the token, so that an operator behind it has two operands.
bool ends_value(const EditPlaces& places, std::size_t token);
/// The last token of the operand that begins there, of an operator that binds so tightly.
std::size_t end_of_operand(const CppTokens& tokens, std::size_t first, int binds);
/// The first token of the operand that ends there.
std::size_t begin_of_operand(const EditPlaces& places, std::size_t last, int binds);

/// Whether a `<` begins, or a `>` ends, the arguments of a template whose function is called, as in
/// `data_ptr<float>()`.
bool begins_arguments(const CppTokens& tokens, std::size_t at);
bool ends_arguments(const CppTokens& tokens, std::size_t at);

}  // namespace isomer::lab
