#pragma once

#include "lab/ask/find_call.hpp"
#include "lab/evidence/variations/numbers.hpp"

#include <string>

namespace isomer::lab {

/// The inputs of the op for which an entry takes nothing: "a_s and b_s". Empty where it takes each.
std::string inputs_not_taken(const Form& form, const Port& port);

/// Why nothing can be said of a stranger that finds its keys in pages: the sentence; empty where it does not.
std::string takes_pages(const Called& called);

/// Why nothing can be said of a stranger that takes pointers of the host and copies by itself: the sentence;
/// empty where it does not.
std::string takes_host_memory(const Called& called);

/// Why nothing can be said of a stranger that reads or writes memory that the op does not have, and that was
/// therefore null: the sentence; empty where it does not. `answers`: what it did besides the plain call.
std::string takes_more_memory(const Called& called, const std::vector<Answer>& answers = {});

/// Why nothing can be said of a stranger that takes bytes for what are wide numbers in the op, such as scales
/// that are exponents: the sentence; empty where it does not.
std::string takes_bytes_for_numbers(const Called& called);

/// Why nothing can be said of a stranger that takes a tensor that the op does not have, and that refuses one
/// without elements: the sentence; empty where it does not.
std::string takes_more_tensors(const Called& called);
/// What it is given for what the op does not have, a sentence each: tensors without elements, lent memory,
/// windows that are longer than all keys.
std::vector<std::string> given_besides(const Called& called, bool stranger);

/// The op's outputs that it neither takes nor returns: "lse".
std::string outputs_not_given(const Form& form, const Port& port);
/// The parameters for which it is lent memory; empty where there are none.
std::string lent_room(const Called& called);
/// The names of the numbers that nobody explains, as they were passed: "n2=64, ld=16, alpha=1".
std::string guessed_numbers(const Called& called);
/// That the meaning of these is not known.
std::string numbers_are_unknown(const std::string& guesses, const std::string& op);
/// Whether the answer is the same whatever lies in the memory that is lent: it is written before it is read.
bool writes_what_is_lent(const Candidate& candidate, const Called& called, const CallSettings& settings);
/// Why a function of pages is not judged: no set of causes explains its answers, and its pages may lie
/// otherwise than the op's. Empty where it is.
std::string has_other_pages(const Called& called, const Numbers& numbers);

/// Why a stranger whose answer is nothing like the op's, and that does not keep to the memory of the op's
/// arguments or does not fill it, is not judged as it: the sentence. Empty where it is not so, or where
/// something else is seen to be the reason.
std::string is_nothing_like_the_op(const Called& called, const Numbers& numbers);

}  // namespace isomer::lab
