#pragma once

#include "lab/ask/recorded/replayed.hpp"

#include <optional>
#include <string>
#include <vector>

/// Tensors that the label computes on its way, passed to pointers of their names.
namespace isomer::lab {

/// Passes them where nothing else is passed, and where one of the calls at least has what the pointer may
/// point to: its element type, or whole numbers that fit into that.
void take_own_tensors(Form& form, const std::vector<Replayed>& calls);
/// The parameters that they are passed to.
std::vector<std::size_t> passed_own_tensors(const Form& form, const Replayed& call);
/// Whether a call has all of those; leaves out the others.
bool has_own_tensors(const Form& form, const Replayed& call);
void keep_those_with_own_tensors(const Form& form, std::vector<Replayed>& calls);

/// Pointers that are passed an argument of another name, and of whose name is a tensor that the
/// label computes on its way.
std::vector<int> own_by_name(const Form& form, const std::vector<Replayed>& calls);

/// Other ways to call it: with those of the tensors that the label computes on its way and that nothing is
/// passed of, in the places of constant pointers to their type that are passed nothing, or of one of them.
std::vector<Form> with_own_left(const Form& form, const std::vector<Replayed>& calls);

/// Of what is passed so, and may be written, what the candidate writes is room for its own: it is lent memory
/// instead, since what it leaves out there would be right already.
void lend_what_is_written(Approach& approach, const std::vector<Replayed>& calls);

}  // namespace isomer::lab
