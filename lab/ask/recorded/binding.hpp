#pragma once

#include "lab/ask/names/named_sizes.hpp"
#include "lab/ask/recorded/replayed.hpp"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace isomer::lab {

/// How an entry is called with a recorded call's arguments, by place, by name and by kind; what had to be
/// adapted for it; and the whole numbers of which the names say nothing.
struct Bound {
  Form form;
  std::vector<Finding> findings;
  std::vector<int> unsure;
  std::vector<int> alike = {};  ///< of those: passed as the size to which the label gives a name alike
};
/// `left`: parameters that none of the call's arguments is for, where the entry is a function over raw
/// memory; `told`: arguments that are for none of its parameters.
Bound bind_call(const Entry& entry, const Replayed& replayed, const NamedSizes& sizes = {},
                const std::vector<int>& left = {}, const std::set<std::string>& told = {});

/// The form with what is passed by place brought to the parameters of the same names, and the finding that
/// says so: where those are the same names in another order.
std::optional<Bound> in_order_of_names(const Form& form, const Replayed& replayed);

/// The entry and those that are the same function for elements of other types, as argmax_f32 and argmax_f16
/// are; none of an extension, which asks its tensors.
std::vector<const Entry*> dtype_twins(const Candidate& candidate, const Entry& entry);

/// Of those the one for the types that the call has.
const Entry& twin_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed);

/// Of several functions that are exported under the entry's name the first that takes the call as it is, as
/// pybind11 chooses; of functions for one type each the one for the call's; where a call has a tensor in the
/// place of a number, the one beside it that takes one; the entry itself where there is no other.
const Entry& overload_for(const Candidate& candidate, const Entry& entry, const Replayed& replayed,
                          const CallSettings& settings);

/// Passes what the reference computes under a parameter's name: where the names say nothing of it (`unsure`),
/// or say a size that is another number in one of the calls; and the items of lists that it is given, as
/// `stride_h, stride_w` for `stride`. What of `unsure` is left.
std::vector<int> take_computed(Form& form, const std::vector<Replayed>& calls,
                               const std::vector<int>& unsure);

/// Passes sizes by the names that the label or the test has for them, of which only the first letter, or a
/// word that is usual for it, is the parameter's: `M` for `mixtures`, `B` for `batch`. Which of `unsure` they
/// are: no two parameters have one name, and no two names one parameter.
std::vector<int> take_initials(Form& form, const std::vector<Replayed>& calls,
                               const std::vector<int>& unsure);

/// What the sizes that a candidate is given go back to: its callers or names that say them, an answer that is
/// right with them, that they alone are likely and keep to the memory, or a guess.
enum class SizesBy : std::uint8_t { callers, right_answer, likelihood, guess };

/// Whole numbers that no caller passes (`unsure`) are sizes: those with which every answer is right; else the
/// likeliest with which nothing is accessed outside and all is written; else those with which least is
/// accessed outside, most is written, and most of that is right.
/// Those of which the names are like the label's (`alike`) are tried as that first, and are that where
/// nothing else gives a right answer; `by_initials`: some of them by no more than letters. `tried`: of those
/// that were tried the likeliest and the nearest, no two of which pass the same numbers.
/// `spent`: seconds of all such searches for one candidate, which have an end.
SizesBy find_sizes(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                   const std::vector<int>& alike, bool by_initials, std::vector<Form>& tried, double& spent);
/// The sizes that calls of one signature settled, by the names of the parameter and of the tensors: those of
/// another signature have the same.
struct SettledSize {
  /// The last of a quotient or a difference; else empty. Of what the label computes `tensor` is its name.
  std::string parameter, tensor, other_tensor;
  Passing passing;
  int rank = 0;                   ///< the tensor's
  std::vector<SettledSize> also;  ///< other sizes that were the same number in every call
  bool by_right_answer = false;   ///< the answers were right with it
};
std::vector<SettledSize> settled_sizes(const Form& form, const std::vector<Replayed>& calls,
                                       const std::vector<int>& unsure);
/// Passes `unsure` as they were settled, where each is, or one of them as another size that was the same
/// number where that alone is right; false, and nothing changed, where one is not settled or where the calls
/// stray from their memory. `right`: every answer is.
bool take_settled(Approach& approach, const std::vector<Replayed>& calls, const std::vector<int>& unsure,
                  const std::vector<SettledSize>& settled, bool& right);
/// Other ways to pass the whole numbers `unsure` than the form's: those that pass the same in `calls`, and
/// other numbers in `larger`.
std::vector<Form> same_in_all_but(const Form& form, const std::vector<Replayed>& calls,
                                  const Replayed& larger, const std::vector<int>& unsure);

/// Memory that a caller lends, for parameters that nothing is passed for and that are named so: `workspace`.
void lend_room(Form& form);
/// Their names, but for those that are cleared, as the names of counters and locks ask; empty where none is.
std::string lent_room(const Form& form);
/// All of it holds zeros.
void clear_room(Form& form);

}  // namespace isomer::lab
