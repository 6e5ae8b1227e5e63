#pragma once

#include "lab/ask/find_call.hpp"

#include <map>

/// Dtypes of which nothing is said where a call is recorded or guessed.
namespace isomer::lab {

/// The dtype in which a candidate's typed pointers take what the original makes and returns; `none` where
/// none does.
DType made_for(const Candidate& candidate, const Port& port);

/// The roles of a port in which 8-bit floats are passed: callers whose PyTorch has none pass bytes (u8).
std::map<int, DType> roles_in_bytes(const Port& port);

/// Has tensors of those roles that `request` names passed as bytes; a pointer has no dtype that a call could
/// miss.
void pass_in_bytes(const CallRequest& request, Form& form);

/// The dtypes in which a form with untyped memory may be meant, where nobody says one: pointers to 16-bit
/// words (uint16_t*) are of the op's 16-bit floats, void and char pointers of any that is usual. Empty where
/// no pointer is untyped.
std::vector<Dtypes> dtypes_of_untyped(const Port& port, const Form& form, const Dtypes& dtypes);

/// The dtypes that typed pointers have, as fields of a case line.
Dtypes dtypes_of_pointers(const Port& port, const Form& form);

/// Another dtype behind memory without one, where that makes clearly more of the answer right, or where the
/// function then keeps to its memory.
void try_untyped(const Candidate& candidate, const CallRequest& request, Called& called);

/// The same without the fields that no input has: what a pointer to a result says, the op may not take.
Dtypes dtypes_of_inputs(const Port& port, Dtypes dtypes);
/// Finds results of another dtype than the op's, whose numbers are judged all the same.
void tell_result_dtypes(Called& called);

}  // namespace isomer::lab
