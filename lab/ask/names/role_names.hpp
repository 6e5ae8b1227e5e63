#pragma once

#include "lab/ask/port.hpp"
#include "lab/candidate/candidate.hpp"

#include <vector>

namespace isomer::lab {

/// Which of the op's tensors each parameter of an entry takes that nobody calls as the original is called: by
/// what the words of its name say, what type it points to, and whether it may be written. All together: a
/// name that says little takes what the others leave. -1 where nothing speaks for any.
std::vector<int> roles_by_words(const Entry& entry, const Port& port);

/// Whether a parameter's name says what is added to scores, or worked in, which is no tensor of an op that
/// has none of that name: a mask, a workspace.
bool is_of_no_op(const Port& port, const Parameter& parameter);
/// Whether it is memory that callers lend for what lies between: scores, parts, a workspace.
bool is_lent_room(const Port& port, const Parameter& parameter);
/// The same of an op of which nothing but calls is known: a workspace.
bool is_lent_room(const Parameter& parameter);
/// Whether it is memory of whole numbers that callers lend and have cleared: a flag of errors, counters.
bool is_cleared_room(const Port& port, const Parameter& parameter);
bool is_cleared_room(const Parameter& parameter);
/// The parameter by which a function finds keys in pages, which the op may have, and the originals that
/// functions are held against have not; empty where none is.
std::string pages_of(const Entry& entry, const Port& port);

}  // namespace isomer::lab
