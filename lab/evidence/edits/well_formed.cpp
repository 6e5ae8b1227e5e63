#include "lab/evidence/edits/well_formed.hpp"

#include "lab/evidence/edits/numbers.hpp"
#include "lab/text/pattern.hpp"

#include <string_view>

namespace isomer::lab {
namespace {

/// `std::max(0.0f, n)` of two types.
bool mixes_types(const CppTokens& tokens, std::size_t name, const EditPlaces& places, std::size_t first) {
  if (name < 2 || !tokens.is(name - 1, "::") || !tokens.is(name - 2, "std") || !tokens.is(name + 1, "(") ||
      (!tokens.is(name, "min") && !tokens.is(name, "max")))
    return false;
  bool real = false, whole = false;
  for (std::size_t i = name + 2; i < tokens[name + 1].partner; ++i) {
    const bool alone =
        (tokens.is(i - 1, "(") || tokens.is(i - 1, ",")) && (tokens.is(i + 1, ")") || tokens.is(i + 1, ","));
    if (!alone) continue;
    if (tokens[i].kind == CppToken::Kind::number)
      (is_real_number(std::string(tokens.text(i))) ? real : whole) = true;
    else if (const CppVariable* named = places.functions().named_as(first, tokens.text(i)))
      (is_real_type(named->type) ? real : whole) = true;
  }
  return real && whole;
}

}  // namespace

bool is_well_formed(const EditPlaces& places, std::size_t first, std::size_t last, const std::string& text) {
  static const Pattern vectors("(?:const )?(?:u?(?:int|long|short|char)|float|double|__?half|half)[234] ?");
  const CppTokens tokens(text);
  const CppFunctions& functions = places.functions();
  const auto is_own = [&](std::string_view name) {
    for (std::size_t i = first; i <= last; ++i)
      if (places.tokens().is(i, name)) return true;
    return false;
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens.is(i, "::") && tokens.is(i + 1, "(")) return false;
    if (!tokens.is_name(i)) continue;
    if (mixes_types(tokens, i, places, first)) return false;
    if (tokens.is(i + 1, "::") ||
        (i > 0 && (tokens.is(i - 1, ".") || tokens.is(i - 1, "->") || tokens.is(i - 1, "::"))))
      continue;
    const CppVariable* named = functions.named_as(first, tokens.text(i));
    if (named == nullptr) {
      if (functions.is_any(tokens.text(i)) && !is_own(tokens.text(i))) return false;
      continue;
    }
    const bool real = is_real_type(named->type), number = real || is_whole_type(named->type);
    if (number && (tokens.is(i + 1, "[") || tokens.is(i + 1, "."))) return false;
    if (real && (tokens.is(i + 1, "%") || (i > 0 && tokens.is(i - 1, "%")))) return false;
    // A pointer counts nothing.
    if (named->type.ends_with("* ") && !tokens.is(i + 1, "[") &&
        (tokens.is(i + 1, "*") || tokens.is(i + 1, "/") || tokens.is(i + 1, "%")))
      return false;
    if (i > 0 && tokens.is(i - 1, "[") && tokens.is(i + 1, "]") && (real || vectors.is(named->type)))
      return false;
  }
  return true;
}

}  // namespace isomer::lab
