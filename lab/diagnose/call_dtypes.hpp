#pragma once

#include "lab/diagnose/call_stage.hpp"

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

}  // namespace isomer::lab
