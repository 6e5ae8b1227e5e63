#pragma once

#include "lab/ask/recorded/binding.hpp"
#include "lab/ask/recorded/option_codes.hpp"
#include "lab/ask/recorded/replayed.hpp"
#include "lab/judge/one_edit.hpp"
#include "lab/judge/replay.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {

/// The recorded calls of one signature, as a candidate answers them.
class GroupReplay {
 public:
  GroupReplay(const Candidate& candidate, const Entry& entry, const ReplayRequest& request,
              const Facts* facts, Diagnosis& diagnosis);
  void run(const std::vector<Replayed>& group);
  /// With no answer to compare with: how the call has to be made, and nothing of what it does.
  void call_only(const Replayed& replayed);
  /// With what an experiment changes every call is right.
  bool explained() const { return explained_; }

  /// The numbers that stand for words and dtypes, which lie behind the values of each call.
  void take_options(std::vector<OptionCode> options) { options_ = std::move(options); }
  /// The sizes that calls of other signatures settled are tried first.
  void take_sizes(std::vector<SettledSize> settled) { settled_ = std::move(settled); }
  /// Of these calls; empty where they are a guess.
  const std::vector<SettledSize>& sizes() const { return settled_; }
  /// Other calls were right with warps of 64 lanes alone: these are asked with 64 where they are right with
  /// neither.
  void prefer_wide(bool prefer) { prefers_wide_ = prefer; }
  bool is_wide() const { return approach_.settings.lanes == 64; }
  /// Calls of other signatures, with their answers: what explains these explains those, too. May be null.
  void take_others(const std::vector<AnsweredGroup>* others) { others_ = others; }
  /// The calls as they are asked before any experiment, and their answers; no calls where a build of another
  /// kind was asked.
  AnsweredGroup answered_group() const { return answered_; }
  /// Whether one of the calls launched a kernel, and the right answers of those where none did.
  bool launches() const { return launches_; }
  const std::vector<Answer>& right_answers() const { return right_answers_; }

  /// Why nothing of what was seen is told; empty where it may be.
  std::string not_accused() const;
  /// Memory that the candidate takes and the recorded calls pass nothing for.
  std::set<std::string> null_pointers() const;
  /// The same where it is read through null.
  std::set<std::string> memory_of_nobody() const;
  /// A bare kernel was launched as nothing says that it is.
  bool guessed() const;

 private:
  static bool unexplained(const Diagnosis& diagnosis);
  /// What the outcomes of the calls say.
  void conclude(const std::vector<Replayed>& calls, const std::vector<Replayed>& asked);
  /// Answers that are what the label gives once its text has one edit.
  void explain_by_the_label(const std::vector<Replayed>& calls, const Approach& as_called,
                            const std::vector<CallOutcome>& answered);
  /// The findings of these calls, and not those of other signatures', which are left.
  std::vector<Finding> take_own();
  /// What nothing else explains, by an edit of the source with which every call is right.
  /// `as_called`, `answered`: before experiments, which `found` something, changed the call.
  void explain_by_an_edit(const std::vector<Replayed>& calls, const Approach& as_called,
                          const std::vector<CallOutcome>& answered, const std::vector<Finding>& found);
  void explain_by_an_edit(const std::vector<Replayed>& calls, const Approach& as_called,
                          const std::vector<CallOutcome>& answered, const std::vector<Finding>& found,
                          std::vector<Finding>& findings);
  /// Of a candidate that the test's calls are right with, and the recorder's are not, an edit for all of
  /// them.
  Finding edit_of_what_was_asked(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& answered,
                                 EditsAsked how);
  /// The same where the sizes that are passed are guessed: told if with one way alone an edit is found.
  void explain_by_sizes_and_an_edit(const std::vector<Replayed>& calls, const Approach& as_called,
                                    std::vector<Finding>& findings);
  /// A sum without a first value, which may be right by chance: the rest is judged with zeros.
  void set_locals(const std::vector<Replayed>& calls);
  /// Races of one line's stores with each other, where every answer is right, and the same in other orders.
  void harmless_races(const std::vector<Replayed>& calls);
  /// Of memory that nothing has written, where the answers are the same whatever it holds.
  void harmless_reads(const std::vector<Replayed>& calls);
  /// The answers to the calls as they are bound: with sizes, and with what refusals ask for.
  /// How a call is bound, with the options; none of its arguments is for the parameters `left`.
  Bound bound_with(const Replayed& call, std::vector<int> left) const;
  void ask_as(const Bound& bound, const std::vector<Replayed>& calls);
  /// The same as if nothing had been asked before.
  void ask_anew(const Bound& bound, const std::vector<Replayed>& calls, const Diagnosis& at_first);
  /// As it was before another way to call was tried.
  void take_back(const GroupReplay& before);
  /// What numbers are of which the names say nothing, from other calls or by trial.
  void find_sizes_of(const Bound& bound, const std::vector<Replayed>& calls);
  void find_sizes_of(const Bound& bound, const std::vector<Replayed>& calls, const std::vector<int>& unsure);
  /// Numbers for words of which the source does not say which: those with which the calls are right.
  void find_codes(std::vector<Replayed>& calls, std::vector<Replayed>& asked);
  /// One change after the other until the first call is answered.
  void adapt(const Replayed& replayed);
  /// Tensors in any other order, where that makes the refused call right: two of them swapped are tried
  /// later.
  bool reordered(const Replayed& replayed, const Answer& refusal);
  /// Whether the candidate, which may be made for the sizes of the test alone, takes smaller ones.
  bool taken(const std::vector<Replayed>& smaller);
  /// Once each: one that does not come to its end is a matter of the device that is emulated. Where one is
  /// right and what stands for them is not, they are judged as they are: nobody passes the smaller sizes.
  void ask_large(std::vector<Replayed>& large, std::vector<Replayed>& calls);
  void ask(const std::vector<Replayed>& calls);
  /// Tensors that the label computes on its way, for pointers of their names that an argument of another name
  /// was passed to: where that makes more of the answers right. `at_first`: what was told before the calls.
  void try_own_by_name(std::vector<Replayed>& calls, const Diagnosis& at_first, Bound& bound);
  /// Writes a result to another pointer of its type that nothing is passed to, and lends room in its place.
  void try_other_results(const std::vector<Replayed>& calls, const Diagnosis& at_first, Bound& bound);
  /// Real numbers that nothing of the label's is for, and are passed 1.
  std::vector<std::size_t> reals_of_nobody(const Replayed& call) const;
  /// Passes them what the label computes, if that is right.
  void try_computed_reals(const std::vector<Replayed>& calls);
  void tell_in_place(const Replayed& call);
  /// Passes tensors that the label computes on its way where a constant pointer is passed nothing, if that is
  /// right.
  void try_own_left(const std::vector<Replayed>& calls, const Diagnosis& at_first, Bound& bound);
  /// A caller's number of another name than the parameter that it was passed to, to another parameter: where
  /// that makes every answer right.
  void try_other_numbers(const std::vector<Replayed>& calls, const Diagnosis& at_first, Bound& bound);
  /// Strides of a name that no tensor has as those of another one: where that makes every answer right.
  void try_other_strides(const std::vector<Replayed>& calls);
  /// Of a number that callers say None for the one that stands for it: where that makes every answer right.
  void try_numbers_for_none(const std::vector<Replayed>& calls);
  /// A note of those that are passed.
  void tell_own_tensors(const Replayed& call);
  /// Room for memory that the recorded calls pass nothing for: where the answers are right with it, or are
  /// the same whatever lies in it, the candidate makes itself what it reads there.
  void try_lent_room(const std::vector<Replayed>& calls, const Bound& bound);
  /// Lent memory that is read before it is written: with zeros in it every answer is right.
  void try_cleared_room(const std::vector<Replayed>& calls);
  /// What is only too large is no fault, and is not asked again.
  void leave_out_large(std::vector<Replayed>& calls);
  /// Built for warps of 64 lanes the answer is the same, or one of the two is wrong.
  void try_wide(const std::vector<Replayed>& calls);

  const Entry& entry_;
  const ReplayRequest& request_;
  const Facts* facts_;
  Diagnosis& diagnosis_;
  std::size_t told_before_ = 0;  ///< findings that calls of other signatures have
  Approach approach_;
  std::vector<CallOutcome> outcomes_;
  std::vector<Replayed> asked_;   ///< calls of the recorder's
  std::vector<Replayed> larger_;  ///< those among them that have a larger size than the test's
  std::vector<OptionCode> options_;
  std::string real_of_nobody_;  ///< a real number of which nothing says what it is; empty: none
  std::vector<int> unsure_;     ///< parameters that are sizes of which nobody says which
  std::shared_ptr<const Candidate> wide_;
  AnsweredGroup answered_;
  const std::vector<AnsweredGroup>* others_ = nullptr;
  SizesBy sizes_by_ = SizesBy::callers;
  std::vector<SettledSize> settled_;
  std::vector<Form> other_sizes_;  ///< with which the calls may be meant, where that is a guess
  bool adapted_ = false, explained_ = false, prefers_wide_ = false, launches_ = false;
  std::vector<Answer> right_answers_;
};

}  // namespace isomer::lab
