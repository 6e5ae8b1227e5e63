#pragma once

#include "lab/ask/trial.hpp"

/// How near the answer of a trial is to the right one.
namespace isomer::lab {

/// Share of the elements on which the original is not open that are right.
double share_right(const Given& given, const Trial& trial);
/// Whether elements that are to be written hold what they held before.
bool leaves_out(const Given& given, const Trial& trial);
/// Whether a call has come back and has written nothing that the op writes.
bool writes_nothing(const Given& given, const Trial& trial);
/// The correlation of the answer with the right one: a fault leaves much of it, another order of axes
/// nothing.
double correlation(const Given& given, const Trial& trial);

/// What speaks for a way of calling: the share of right answers, 0.4 for writing all of them, -0.9 for
/// straying.
double worth(const Given& given, const Trial& trial);

/// Whether a call went past the ends of its buffers.
bool strays(const Trial& trial);

/// Whether an answer keeps to its memory, and is the op's but for one fault that is known: then it is called
/// as it is meant.
bool is_right_but_for_one_fault(const Port& port, const Given& given, const Trial& trial);

}  // namespace isomer::lab
