#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <functional>
#include <string>
#include <vector>

/// Which memory of an entry a tensor of a recorded call is for, by their names.
namespace isomer::lab {

/// The name that a parameter for it may have: a result has that of the label's own variable.
const std::string& name_for(const Port::Role& role);

/// Whether a name says that results are written there, as a whole or in one of its words; that it is read,
/// though it may not be constant.
bool is_of_result(const std::string& name);
bool is_of_input(const std::string& name);

/// By the words of their names: to each parameter the tensor than which no other is as likely, and to those
/// that have a word in common as many tensors with that word, in their order. `may`: whether a role may be a
/// parameter's. `take` is told of a parameter and of its place among the call's values: of a role, or of a
/// tensor that the label makes on its way.
void take_tensors_alike(const std::vector<Parameter>& parameters, const Replayed& replayed,
                        const std::vector<int>& role_at,
                        const std::function<bool(std::size_t, std::size_t)>& may,
                        const std::function<void(std::size_t, std::size_t)>& take);

}  // namespace isomer::lab
