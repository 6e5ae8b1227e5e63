#include "lab/ask/nearness.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/judge/edit_search.hpp"
#include "lab/judge/one_edit.hpp"
#include "lab/judge/sampled.hpp"
#include "lab/judge/unset_locals.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

constexpr double kShortest = 1e-3;    ///< seconds of a call that are worth being compared
constexpr std::size_t kMuchLess = 4;  ///< times so many elements are worth a call that is asked first

std::size_t elements_of(const Replayed& call) {
  std::size_t count = 0;
  for (const Replayed::Output& output : call.outputs) count += static_cast<std::size_t>(output.want.numel());
  return count;
}

bool reads_unwritten(const CallOutcome& outcome) {
  return std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(),
                     [](const Seen& seen) { return seen.kind == "uninitialised-read" && !seen.harmless; });
}

/// Whether an answer has a number that is none where the reference's is one.
bool makes_infinities(const Replayed& call, const CallOutcome& outcome) {
  if (!outcome.answer.ok()) return false;
  for (std::size_t t = 0; t < call.outputs.size(); ++t) {
    const std::vector<double> want = oracle::elements(call.outputs[t].want);
    for (std::size_t i = 0; i < std::min(want.size(), outcome.got[t].size()); ++i)
      if (std::isfinite(want[i]) && !std::isfinite(outcome.got[t][i])) return true;
  }
  return false;
}

}  // namespace

bool is_right_with(const ExchangedBuild& build, const EditNumbers& numbers, const AnsweredGroup& group) {
  Approach other = group.approach;
  other.candidate = build.candidate.get();
  other.form = in_build(*build.candidate, group.approach.form);
  for (std::size_t i = 0; i < group.calls.size(); ++i) {
    other.settings = brief(group.approach.settings, group.outcomes[i].answer.worked_seconds, false, true);
    other.settings.edits = numbers;
    if (!replay_once(other, group.calls[i]).right()) return false;
  }
  return true;
}

Finding of_one_edit(const Exchanging& exchanging, const Approach& approach,
                    const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                    const EditsAsked& how) {
  std::optional<std::size_t> asked;
  const auto fails = [&](std::size_t i) {
    return !outcomes[i].right() || (how.watched && !is_clean(outcomes[i].answer, calls[i].shared));
  };
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (fails(i) && outcomes[i].answer.ok() && !lost(outcomes[i]) &&
        (!asked || outcomes[i].elements < outcomes[*asked].elements))
      asked = i;
  if (!asked || !exchanging) return {};
  const std::shared_ptr<const ExchangedBuild> build = exchanging();
  if (build == nullptr) return {};
  Approach other = approach;
  other.candidate = build->candidate.get();
  other.form = in_build(*build->candidate, approach.form);
  std::uint8_t poison = approach.settings.poison;
  double slower = 1;  // times, with all edits in the source
  // Edits are tried by several threads.
  const auto with = [&](const EditNumbers& numbers, std::size_t call, bool watched, bool helps) {
    Approach edited = other;
    edited.settings = brief(approach.settings, slower * outcomes[call].answer.worked_seconds, watched, helps);
    edited.settings.edits = numbers;
    edited.settings.poison = poison;
    return edited;
  };
  const auto right = [&](std::size_t call, const EditNumbers& numbers, bool watched) {
    const CallOutcome now = replay_once(with(numbers, call, watched, call != *asked || watched), calls[call]);
    return now.right() && (!watched || is_clean(now.answer, calls[call].shared));
  };
  const auto is_right = [&](const Replayed& call, const EditNumbers& numbers) {
    return replay_once(with(numbers, *asked, false, false), call).right();
  };
  std::size_t elements = 0;
  for (const CallOutcome& outcome : outcomes) elements += outcome.elements;
  // Many edits make a handful of numbers right: then they have to be right for others, too.
  const bool few = elements < kHandful;
  std::size_t of_others = 0;
  if (how.others != nullptr)
    for (const AnsweredGroup& each : *how.others)
      if (each.calls.front().call != calls.front().call)
        for (const CallOutcome& outcome : each.outcomes) of_others += outcome.elements;
  if (few && (how.beyond == nullptr || how.beyond->empty()) && elements + of_others < kHandful) return {};
  const auto holds_beyond = [&](const EditNumbers& numbers) {
    return how.beyond == nullptr ||
           std::all_of(how.beyond->begin(), how.beyond->end(), [&](const Replayed& each) {
             const CallOutcome now = replay_once(with(numbers, *asked, false, true), each);
             return !makes_infinities(each, now) && (!few || now.right());
           });
  };
  const auto holds_for_others = [&](const EditNumbers& numbers) {
    return how.others == nullptr ||
           std::all_of(how.others->begin(), how.others->end(), [&](const AnsweredGroup& each) {
             return each.calls.front().call == calls.front().call || is_right_with(*build, numbers, each);
           });
  };
  // To watch takes longer: only what is right without is watched, where the numbers tell.
  const auto without = [&] { return replay_once(with({}, *asked, false, true), calls[*asked]); };
  CallOutcome unedited = without();
  if (unedited.answer.ok())
    slower = std::max(
        1.0, unedited.answer.worked_seconds / std::max(outcomes[*asked].answer.worked_seconds, kShortest));
  // What depends on memory that nothing has written may be right by chance: it is not with another fill.
  for (const std::uint8_t fill : {kLargePoison, kNegativePoison})
    if (how.watched && unedited.right() && reads_unwritten(outcomes[*asked])) {
      poison = fill;
      unedited = without();
    }
  const bool tells = !unedited.right();
  if (!tells && (!how.watched || right(*asked, {}, true))) return {};
  KeptSearch kept = kept_search(*build, how, approach.rtol, approach.atol);
  const auto add_as = [&](const Form& form, const Replayed& call) {
    std::vector<double> wanted;
    for (const Replayed::Output& output : call.outputs)
      for (const double each : oracle::elements(output.want)) wanted.push_back(each);
    kept.add(form, call.values, wanted);
  };
  const auto add = [&](const Replayed& call) { add_as(other.form, call); };
  // What is done to the calls has no name.
  if (!approach.adaptations.empty()) kept = KeptSearch({}, {});
  std::for_each(calls.begin(), calls.end(), add);
  if (how.beyond != nullptr) std::for_each(how.beyond->begin(), how.beyond->end(), add);
  if (how.others != nullptr)
    for (const AnsweredGroup& each : *how.others)
      for (const Replayed& call : each.calls) add_as(each.approach.form, call);
  int tried = 0;
  const Replayed* small = nullptr;
  if (tells && how.beyond != nullptr)
    for (const Replayed& each : *how.beyond)
      if (const std::size_t size = elements_of(each);
          size >= kHandful && size * kMuchLess <= outcomes[*asked].elements &&
          (small == nullptr || size < elements_of(*small)) && !is_right(each, {}))
        small = &each;
  const Replayed poisoned = with_poison(calls[*asked]);
  const std::uint32_t blocks =
      tells && small == nullptr ? blocks_that_tell(with({}, *asked, false, true), poisoned) : 0;
  // What is wrong in blocks that tell is mended in them.
  Approach asking = with(kWhichAreReached, *asked, false, true);
  asking.settings.blocks = blocks;
  const std::vector<bool> reached = reached_by(replay_once(asking, calls[*asked]).answer);
  const auto may_help = [&](const EditNumbers& numbers) {
    if (blocks == 0 || small != nullptr) return true;
    Approach sampled = with(numbers, *asked, false, false);
    sampled.settings.blocks = blocks;
    return may_be_right(poisoned, replay_once(sampled, poisoned));
  };
  const auto watched_in = [&](const Candidate& candidate) {
    Approach made = other;
    made.candidate = &candidate;
    made.form = in_build(candidate, approach.form);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      made.settings = brief(approach.settings, outcomes[i].answer.worked_seconds, true, true);
      const CallOutcome now = replay_once(made, calls[i]);
      if (!now.right() || !is_clean(now.answer, calls[i].shared)) return false;
    }
    return true;
  };
  const auto is_clean_when_made = [&](const Exchange& edit) {
    const std::shared_ptr<const Candidate> made = build->rebuild(made_in(build->source, edit));
    return made != nullptr && watched_in(*made);
  };
  // Who keeps to the memory does so with the edit that is meant.
  constexpr double kSecondsOfWatch = 1;
  const bool watches = !how.watched && !outcomes[*asked].answer.unwatched &&
                       is_clean(outcomes[*asked].answer, calls[*asked].shared) &&
                       outcomes[*asked].answer.worked_seconds < kSecondsOfWatch;
  std::function<bool(const Exchange&)> is_clean_edit;
  if ((how.watched && tells) || (watches && !build->slow))
    is_clean_edit = is_clean_when_made;
  else if (watches)
    is_clean_edit = [&](const Exchange& edit) { return right(*asked, edit.numbers, true); };
  const EditTrials trials = {
      [&](const EditNumbers& numbers) {
        if (!may_help(numbers)) return false;
        return (small == nullptr || is_right(*small, numbers)) && right(*asked, numbers, !tells);
      },
      [&](const EditNumbers& numbers) {
        for (std::size_t i = 0; i < calls.size(); ++i)
          if (i != *asked && !right(i, numbers, how.watched && !tells)) return false;
        return holds_beyond(numbers) && holds_for_others(numbers);
      },
      [&](const EditNumbers& numbers) {
        return replay_once(with(numbers, *asked, false, true), calls[*asked]).answer.launches !=
               outcomes[*asked].answer.launches;
      },
      is_clean_edit, reached};
  const auto search = [&](KeptSearch known) { return helpful_edits(*build, trials, how, known, tried); };
  std::vector<const Exchange*> list;
  if (small != nullptr) {
    const KeptSearch without = kept;
    add(*small);
    list = search(std::exchange(kept, without));
    // It may be wrong for a reason of its own.
    small = nullptr;
  }
  if (list.empty()) list = search(kept);
  if (list.empty())
    list = helpful_rebuilt(
        *build, how,
        [&](const Candidate& candidate) {
          other.candidate = &candidate;
          other.form = in_build(candidate, approach.form);
          return trials.quick({}) && trials.all({}) && (!trials.is_clean || watched_in(candidate));
        },
        tried);
  std::string seen =
      calls.size() == 1 ? "the call is right" : fmt::format("all {} calls are right", calls.size());
  if (how.watched) seen += " and nothing of this is seen";
  Finding finding = finding_of_edits(list, seen, tried);
  finding.location.file = approach.form.entry->place.file;
  return finding;
}

}  // namespace isomer::lab
