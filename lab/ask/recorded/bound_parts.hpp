#pragma once

#include "lab/ask/recorded/binding.hpp"

#include <string>

/// What binding by place and binding by kind have in common.
namespace isomer::lab {

bool takes_tensor(const Parameter& parameter);
bool takes_number(const Parameter& parameter);

Passing of_role(std::size_t role);

/// What lies at that place among the values of a call, behind its roles.
Passing of_place(std::size_t place);

/// A finding of how an entry is called.
Finding adapted(const Entry& entry, Code code, std::string argument, std::string evidence, std::string fix);

/// What callers leave to the original's default, by its name; null: nothing of that name.
const Value* left_out(const Replayed& replayed, const Parameter& parameter);

/// Whether it is called with tensors, which know their dimensions.
bool has_tensors(const Entry& entry);

/// What a number that no caller passes is given, so that the call can go on: the original's default, the last
/// dimension where it is asked for one (of raw memory `dim` is a size), a size that is tried out, a factor of
/// one, false.
Passing stand_in(const Parameter& parameter, const Replayed& replayed, std::size_t at, Bound& bound);

/// A Python-like call: arguments by place, those with a keyword by name.
void bind_by_place(const Entry& entry, const Replayed& replayed, Bound& bound);

}  // namespace isomer::lab
