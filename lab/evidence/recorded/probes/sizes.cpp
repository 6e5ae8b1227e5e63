#include "lab/evidence/recorded/probes/probes.hpp"

#include "lab/evidence/probes/said_room.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/recorded/probes/resized.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace isomer::lab {
namespace {

/// One size of the test's calls, and others in its place.
struct Group {
  std::int64_t size = 0;
  std::vector<const Replayed*> asked;
  std::vector<CallOutcome> outcomes;
};

/// Whether the test itself has another size there: then that it is another is no cause.
bool varies(const Group& group, const std::vector<Replayed>& calls) {
  const auto list = places_of_size(*group.asked.front());
  return std::any_of(calls.begin(), calls.end(), [&](const Replayed& call) {
    return std::any_of(list.begin(), list.end(), [&](const std::pair<std::size_t, int>& place) {
      if (place.second < 0 || place.first >= call.values.size()) return false;
      const Tensor& tensor = call.values[place.first].tensor;
      return place.second < tensor.rank && tensor.size(place.second) > 1 &&
             tensor.size(place.second) != group.size;
    });
  });
}

/// Threads that meet are a cause of their own, as is a launch that no device takes.
bool has_cause(const CallOutcome& outcome) {
  constexpr std::string_view kKinds[] = {"race",          "barrier-divergence", "warp-divergence",
                                         "trap",          "assertion",          "warpgroup-divergence",
                                         "in-flight",     "early-reuse",        "wrong-phase",
                                         "missing-fence", "missing-proxy-fence"};
  return !outcome.answer.refused_launches.empty() ||
         std::any_of(std::begin(kKinds), std::end(kKinds),
                     [&](std::string_view kind) { return saw(outcome, kind); });
}

Finding refusal(const Replayed& replayed, const CallOutcome& outcome, const std::string& right) {
  Finding finding = finding_of_end(outcome.answer, replayed.line);
  const std::string& said = outcome.answer.message;
  finding.code = Code::shape_refused;
  finding.evidence = fmt::format(
      "'{}' ({}) is refused: \"{:.200}\"; the original answers it, and {} are accepted", replayed.line,
      dimensions_of_size(replayed), std::string_view(said).substr(0, said.find('\n')), right);
  finding.fix = "accept every size that the original accepts";
  finding.made = true;
  return finding;
}

Finding tail(const Replayed& replayed, const CallOutcome& outcome, const std::string& right,
             const std::string& wrong) {
  Finding finding;
  finding.code = Code::tail_mask;
  std::string elements;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    if (outcome.wrong[t] == 0) continue;
    finding.argument += (finding.argument.empty() ? "" : ", ") + replayed.outputs[t].name;
    elements += fmt::format("{}{} of {} elements of {}", elements.empty() ? "" : ", ", outcome.wrong[t],
                            replayed.outputs[t].want.numel(), replayed.outputs[t].name);
  }
  finding.evidence = fmt::format(
      "right for {} and wrong for {}, which no call of the test has but the original answers ({}): {} are "
      "wrong in '{}'",
      right, wrong, dimensions_of_size(replayed), elements, replayed.line);
  finding.fix =
      "process the last, partial block: handle the elements that no whole vector, tile or block covers one "
      "by one or masked";
  for (const Seen& seen : outcome.answer.seen) {
    if (!seen.kind.starts_with("out-of-bounds") && seen.kind != "uninitialised-read") continue;
    finding.location = seen.place;
    finding.evidence += "; " + without_folders(seen.text, seen.place);
    break;
  }
  if (saw(outcome, "misaligned"))
    finding.fix += "; use vector accesses only if each row begins at a multiple of the vector's size";
  return finding;
}

/// Whether whole rows of an output are wrong, others before or behind them are right, and the wrong ones are
/// not the last: no end that is left out, but what happens to be in them.
bool is_of_single_rows(const Replayed& replayed, const CallOutcome& outcome) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Tensor& want = replayed.outputs[t].want;
    if (outcome.wrong[t] == 0) continue;
    if (want.rank < 2 || want.size(-1) < 2 || outcome.got[t].size() != static_cast<std::size_t>(want.numel()))
      return false;
    const std::vector<double> elements = oracle::elements(want);
    const std::vector<double> bounds = bounds_of(
        want, elements, replayed.outputs[t].rtol > 0 ? replayed.outputs[t].rtol : rtol_of(want.dtype), 0);
    const auto width = static_cast<std::size_t>(want.size(-1));
    bool wrong_before = false, right_behind = false;
    for (std::size_t row = 0; row + width <= elements.size(); row += width) {
      std::size_t wrong = 0;
      for (std::size_t i = row; i < row + width; ++i)
        wrong += !is_close(elements[i], outcome.got[t][i], bounds[i]);
      if (wrong != 0 && wrong != width) return false;
      right_behind = right_behind || (wrong_before && wrong == 0);
      wrong_before = wrong_before || wrong != 0;
    }
    if (!right_behind) return false;
  }
  return true;
}

/// Whether a function of C returns a status, with which it can say that it did nothing.
bool returns_status(const std::string& source, const std::string& function) {
  return Pattern("\\b(?:int|int32_t|unsigned|bool|\\w*(?:[Ee]rror|[Ss]tatus)\\w*)\\s+" + literally(function) +
                 "\\s*\\(")
      .found_in(source);
}

/// `status`: the candidate can say that it did nothing. `adapted`: the answers are right with what an
/// experiment changes. `all_right`: those of the test's own calls are; otherwise another size has to be right
/// beside the wrong one.
void judge_group(const Group& group, const std::vector<Replayed>& calls, const std::string& source,
                 bool status, bool adapted, bool all_right, std::vector<Finding>& findings) {
  std::string right, wrong;
  bool other_right = false;
  std::size_t first = group.asked.size();
  // Two halves that lie beside each other are odd where they are no multiple of four.
  const std::int64_t even =
      std::all_of(group.asked.begin(), group.asked.end(),
                  [](const Replayed* replayed) { return replayed->call->size % 2 == 0; })
          ? 4
          : 2;
  for (std::size_t i = 0; i < group.asked.size(); ++i) {
    const std::int64_t size = group.asked[i]->call->size;
    const bool here = group.outcomes[i].right();
    // Wrong for a multiple of two as well: not a matter of the end.
    if (!here && size % even == 0) return;
    other_right = other_right || (here && size % even == 0);
    std::string& list = here ? right : wrong;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", size);
    if (!here && first == group.asked.size()) first = i;
  }
  right += fmt::format("{}{}", right.empty() ? "" : " and ", group.size);
  if (first == group.asked.size()) {
    if (!all_right) return;
    for (std::size_t i = 0; i < group.asked.size(); ++i)
      findings_of_device(group.outcomes[i].answer,
                         {group.asked[i]->line, group.asked[i]->empty, group.asked[i]->shared}, findings);
    return;
  }
  if (!other_right && !(all_right && varies(group, calls))) return;
  const Replayed& replayed = *group.asked[first];
  const CallOutcome& outcome = group.outcomes[first];
  if (lost(outcome)) return;
  // An experiment that was found for the test's sizes need not hold for others: an end leaves something
  // right.
  if (adapted && outcome.answer.ok() && outcome.share() == 0) return;
  if (has_cause(outcome)) {
    const std::size_t before = findings.size();
    findings_of_device(outcome.answer, {replayed.line, replayed.empty, replayed.shared}, findings);
    // Rows of another length begin elsewhere.
    for (std::size_t i = before; i < findings.size(); ++i)
      findings[i].made = findings[i].made || findings[i].code == Code::ignores_offset;
    return;
  }
  Finding finding;
  if (outcome.answer.ok() && outcome.share() == 0 && says_cases(source, group.size, replayed.call->size)) {
    finding =
        limit_of_size(replayed, right, "the source chooses between sizes, and this is none of them", {});
  } else if (status && outcome.answer.ok() && outcome.answer.launches == 0 &&
             outcome.answer.refused_launches.empty() && outcome.answer.seen.empty()) {
    finding = limit_of_size(replayed, right, "it launches no kernel for it, and returns a status", {});
  } else if (outcome.answer.ok() && !all_right && is_of_single_rows(replayed, outcome)) {
    return;
  } else if (outcome.answer.ok()) {
    finding = tail(replayed, outcome, right, wrong);
  } else if (outcome.answer.end == Answer::End::refused) {
    finding = refusal(replayed, outcome, right);
  } else if (outcome.answer.end != Answer::End::not_callable) {
    finding = finding_of_end(outcome.answer, replayed.line);
    finding.evidence += fmt::format("; right for {}", right);
  }
  if (finding.code != Code::none) add_once(findings, std::move(finding));
}

/// Whether the test's calls with the size that others are asked in place of are right: what is wrong in it as
/// well is no matter of an end.
bool is_right_as_asked(const Approach& approach, const Group& group, const std::vector<Replayed>& calls) {
  const auto list = places_of_size(*group.asked.front());
  return std::all_of(calls.begin(), calls.end(), [&](const Replayed& call) {
    const bool same = std::any_of(list.begin(), list.end(), [&](const std::pair<std::size_t, int>& place) {
      if (place.second < 0 || place.first >= call.values.size()) return false;
      const Tensor& tensor = call.values[place.first].tensor;
      return place.second < tensor.rank && tensor.size(place.second) == group.size;
    });
    return !same || replay_once(approach, call).right();
  });
}

}  // namespace

void ask_sizes(const Approach& approach, const std::vector<Replayed>& calls,
               const std::vector<Replayed>& asked, bool all_right, std::vector<Finding>& findings) {
  Approach brief = approach;
  brief.settings.timeout_seconds = std::min(brief.settings.timeout_seconds, kSecondsOfACall);
  std::vector<Group> groups;
  for (const Replayed& replayed : asked) {
    if (replayed.call->asked != "size" || (!calls.empty() && !keeps_shape(replayed, calls))) continue;
    // What follows a call's own size again: the sizes in its place get no larger.
    const bool same = !groups.empty() && groups.back().size == replayed.call->size_before &&
                      groups.back().asked.back()->call->size > replayed.call->size;
    if (!same) groups.push_back({replayed.call->size_before, {}, {}});
    groups.back().asked.push_back(&replayed);
  }
  for (Group& group : groups) {
    if (!all_right && !is_right_as_asked(brief, group, calls)) continue;
    for (const Replayed* replayed : group.asked) group.outcomes.push_back(replay_once(brief, *replayed));
    // As nothing says how a kernel is launched, nothing says how it is for another size.
    if (std::any_of(group.outcomes.begin(), group.outcomes.end(),
                    [](const CallOutcome& each) { return each.answer.launch_guessed; }))
      return;
    const std::string source = source_of(*approach.candidate);
    judge_group(group, calls, source, returns_status(source, approach.form.entry->function),
                !approach.adaptations.empty(), all_right, findings);
  }
}

}  // namespace isomer::lab
