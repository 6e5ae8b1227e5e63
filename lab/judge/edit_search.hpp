#pragma once

#include "lab/candidate/candidate.hpp"
#include "lab/findings/finding.hpp"
#include "lab/judge/exchanged.hpp"
#include "lab/judge/kept_search.hpp"
#include "lab/judge/one_edit.hpp"

#include <functional>
#include <string>
#include <vector>

/// How edits of a candidate are tried one by one, whatever they are tried on.
namespace isomer::lab {

/// Of fewer numbers, of all calls together, many an edit makes each right.
inline constexpr std::size_t kHandful = 24;

using EditNumbers = decltype(Exchange::numbers);

/// What an edit is asked, by its numbers: the smallest wrong call, by several threads at once, and then all
/// the others.
struct EditTrials {
  std::function<bool(const EditNumbers&)> quick, all;
  /// Whether other kernels are launched with it than without: what is wrong may be passed by. May be null.
  std::function<bool(const EditNumbers&)> launches_others = {};
  /// Whether nothing is seen that is a fault where an edit is made in the source: with all others beside it a
  /// watched call takes too long. May be null.
  std::function<bool(const Exchange&)> is_clean = {};
  /// Numbers of the edits that the wrong call comes to; no other one mends it. Empty where that is not known.
  std::vector<bool> reached = {};
};

/// What a call is asked with to say that, and what its answer says.
inline constexpr EditNumbers kWhichAreReached = {-1, 0, 0, 0};
std::vector<bool> reached_by(const Answer& answer);

/// Such settings that a call with an edit ends soon: what an edit does may never end. `helps`: one call is
/// right with it, so that it is worth the time that the others take on a busy machine, watched.
CallSettings brief(CallSettings settings, double worked, bool watch, bool helps);

/// Whether a watched call did nothing that is a fault; `shared`: several writers of one row were asked for.
bool is_clean(const Answer& answer, bool shared);

/// Where a search among the edits of a build is kept.
KeptSearch kept_search(const ExchangedBuild& build, const EditsAsked& how, double rtol, double atol);

/// The edits that help, in their order.
std::vector<const Exchange*> helpful_edits(const ExchangedBuild& build, const EditTrials& trials,
                                           const EditsAsked& how, KeptSearch& kept, int& tried);

/// Of the edits that need a build of their own the first with which everything holds.
std::vector<const Exchange*> helpful_rebuilt(const ExchangedBuild& build, const EditsAsked& how,
                                             const std::function<bool(const Candidate&)>& holds, int& tried);

/// Whether every call of a signature is right with an edit.
bool is_right_with(const ExchangedBuild& build, const EditNumbers& numbers, const AnsweredGroup& group);

/// What is told of edits that help; of no code where there is none.
Finding finding_of_edits(const std::vector<const Exchange*>& helpful, const std::string& seen, int tried);

}  // namespace isomer::lab
