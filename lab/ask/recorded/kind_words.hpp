#pragma once

#include "lab/ask/recorded/option_words.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

/// An argument of the label's that is a tensor in one call, a number in another and None in a third.
namespace isomer::lab {

/// Whether some calls give a number for it, and others a tensor.
bool is_number_or_tensor(const std::vector<Replayed>& calls, const std::string& argument);

/// What a call gives for it: one of the words below.
std::string kind_word(const Replayed& call, const std::string& argument);

/// The words for nothing, a number and a tensor, and how a source may write them.
const std::vector<OptionWord>& kind_words();

/// The argument whose kind a parameter is told: `other_kind` of `other`, `is_scalar` of the one that there
/// is; empty: none.
std::string argument_of_kind(const std::string& parameter, const std::vector<Replayed>& calls);

/// The codes of a flag that is true for one of the kinds: `other_is_tensor`. Nothing: it is no such flag.
std::optional<std::map<std::string, int>> codes_of_kind_flag(const std::string& parameter);

}  // namespace isomer::lab
