#include "lab/evidence/variations/conventional_calls.hpp"

#include "lab/ask/conventional_forms.hpp"
#include "lab/ask/nearness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr double kRight = 0.98;  ///< of an answer: with as much of it right, it is called as it is meant

bool strays_or_races(const Trial& trial) {
  const std::vector<Seen>& all = trial.answer.seen;
  return std::any_of(all.begin(), all.end(), [](const Seen& seen) {
    return seen.kind.starts_with("out-of-bounds") || (seen.kind == "race" && !seen.stores_twice);
  });
}

/// Whether the right answers are the same: of one query, for one, all keys are seen, causal or not.
bool is_same_problem(const Given& a, const Given& b) {
  if (a.plain.tensors.size() != b.plain.tensors.size()) return false;
  for (std::size_t t = 0; t < a.plain.tensors.size(); ++t)
    if (a.plain.tensors[t].value != b.plain.tensors[t].value) return false;
  return true;
}

}  // namespace

void take_convention(const Candidate& candidate, const Questions& questions, Called& called,
                     Numbers& numbers) {
  const double before = share_right(*called.given, called.trial);
  const auto take = [&](Convention& each) {
    Finding finding;
    finding.code = Code::convention;
    finding.argument = each.argument;
    finding.evidence =
        fmt::format("{}: without this {:.1f} % of the answer is right", each.said, 100 * before);
    finding.fix =
        "none is needed where its callers expect this; a port of the op's original needs the op's way";
    finding.location = each.form.entry->place;
    called.findings.push_back(std::move(finding));
    called.form = std::move(each.form);
  };
  const bool strayed = strays_or_races(called.trial);
  std::vector<Convention> list = conventional_forms(called.form, *called.port, *called.given);
  std::vector<Convention> tame;
  for (Convention& each : list) {
    Trial trial = try_call(candidate, each.form, *called.port, *called.given, questions.settings);
    // Memory that a convention has no room for is no convention's.
    if (!trial.ok() || strays_or_races(trial) || !trial.answer.refused_launches.empty()) continue;
    const double after = share_right(*called.given, trial);
    // A call that is right as it is made has no convention with which it is less right.
    if (before >= kRight && after < before) continue;
    if (after < std::max(kRight, before + 0.2)) {
      tame.push_back(std::move(each));
      continue;
    }
    take(each);
    called.trial = std::move(trial);
    numbers = explain_numbers(candidate, called.form, *called.port, questions);
    return;
  }
  // Beside another convention, such as base-2 log-sum-exps, which the numbers say.
  constexpr std::size_t kSearched = 5;
  Questions beside = questions;
  beside.patience = 4e7;
  std::optional<Numbers> nearest;
  std::size_t nearest_at = 0;
  for (std::size_t i = 0; i < tame.size() && i < kSearched; ++i) {
    // Where it strayed, no longer to stray is half of the answer.
    if (strayed && i > 1) break;
    Numbers other = explain_numbers(candidate, tame[i].form, *called.port, beside);
    if (!other.explanation.explains) {
      const auto left = [](const Numbers& of) { return of.explanation.left.wrong; };
      if (left(other) < (nearest ? left(*nearest) : left(numbers) / 4 * 3)) {
        nearest = std::move(other);
        nearest_at = i;
      }
      continue;
    }
    take(tame[i]);
    numbers = std::move(other);
    return;
  }
  // A fault beside a convention: what is left is told as it is with the convention.
  if (!nearest) return;
  take(tame[nearest_at]);
  numbers = std::move(*nearest);
}

bool take_cleared(const Candidate& candidate, const Questions& questions, Called& called, Numbers& numbers) {
  Form cleared = called.form;
  cleared.cleared = true;
  const double before = share_right(*called.given, called.trial);
  Trial trial = try_call(candidate, cleared, *called.port, *called.given, questions.settings);
  // What is zero where nothing was written, or wrong besides, says nothing of what is added to.
  if (!trial.ok() || strays_or_races(trial) ||
      share_right(*called.given, trial) < std::max(0.5, before + 0.4) ||
      share_right(*called.given, trial) < kRight)
    return false;
  Finding finding;
  finding.code = Code::convention;
  finding.evidence = fmt::format(
      "it adds to what lies in the memory of its outputs, which its callers have to clear: in cleared memory "
      "all of '{}' is right, otherwise {:.0f} %",
      called.given->line, 100 * before);
  finding.fix = "none is needed where its callers clear that memory; a port of the op's original writes it";
  finding.location = called.form.entry->place;
  called.findings.push_back(std::move(finding));
  called.form = std::move(cleared);
  called.trial = std::move(trial);
  numbers = explain_numbers(candidate, called.form, *called.port, questions);
  return true;
}

Finding of_unset_room(const Candidate& candidate, const Questions& questions, Called& called,
                      Numbers& numbers) {
  Finding finding;
  Form cleared = called.form;
  cleared.lent = 0;
  for (std::size_t i = 0; i < cleared.passings.size(); ++i)
    if (cleared.passings[i].what == Passing::What::room && !cleared.passings[i].zeros)
      finding.argument += (finding.argument.empty() ? "" : ", ") + cleared.entry->parameters[i].name;
  const Explanation& found = numbers.explanation;
  if (finding.argument.empty() || numbers.raced || (found.explains && found.set.empty())) return {};
  Trial trial = try_call(candidate, cleared, *called.port, *called.given, questions.settings);
  if (!trial.ok() || strays_or_races(trial)) return {};
  Numbers of_zeros = explain_numbers(candidate, cleared, *called.port, questions);
  // What NaN is the same in many sets of causes, and fewer of them explain what has none.
  if (!of_zeros.explanation.explains ||
      (found.explains && of_zeros.explanation.set.size() >= found.set.size()) ||
      of_zeros.explanation.plain.wrong >= found.plain.wrong)
    return {};
  finding.code = Code::uninitialised_read;
  finding.evidence = fmt::format(
      "what its answers are depends on what lies in memory that is lent to it: where that holds NaN {} of {} "
      "elements of all calls are wrong, and where it holds zeros {}, so it reads there what it has not written",
      found.plain.wrong, found.plain.elements, of_zeros.explanation.plain.wrong);
  finding.fix = "write every part of that memory that is read later, or leave out what is not written";
  finding.location = called.form.entry->place;
  called.form = std::move(cleared);
  called.trial = std::move(trial);
  numbers = std::move(of_zeros);
  return finding;
}

bool take_flag(const Candidate& candidate, const Questions& questions, Called& called,
               std::optional<Port>& narrowed, Numbers& numbers, bool right_alone) {
  if (right_alone && (!called.trial.ok() || strays_or_races(called.trial) ||
                      share_right(*called.given, called.trial) >= kRight))
    return false;
  for (std::size_t role = 0; role < called.port->roles.size(); ++role) {
    if (called.port->original->parameters[role].kind != oracle::Original::Kind::boolean ||
        called.form.takes(static_cast<int>(role)))
      continue;
    Port flagged = *called.port;
    flagged.always = {called.port->roles[role].argument};
    const std::shared_ptr<const Given> given =
        given_by_line(flagged, flagged.original->probes.front(), called.dtypes);
    if (is_same_problem(*given, *called.given)) continue;
    Trial trial = try_call(candidate, called.form, flagged, *given, questions.settings);
    if (!trial.ok() || strays_or_races(trial)) continue;
    const bool right = share_right(*given, trial) >= kRight;
    if (right_alone && !right) continue;
    Numbers of_flag = explain_numbers(candidate, called.form, flagged, questions);
    // A fault beside it has to be one that explains the rest.
    if (!right && !of_flag.explanation.explains) continue;
    Finding finding;
    finding.code = Code::convention;
    finding.evidence = fmt::format(
        "it is always {0}, and no parameter says so: {1} of '{2}' is right, and without {0} {3:.0f} %",
        flagged.always.front(), right ? "all" : "but for what is told besides, all", given->line,
        100 * share_right(*called.given, called.trial));
    finding.fix = "none is needed where its callers expect this; a port of the op's original takes the flag";
    finding.location = called.form.entry->place;
    called.findings.push_back(std::move(finding));
    called.port = &narrowed.emplace(std::move(flagged));
    called.given = given;
    called.trial = std::move(trial);
    numbers = std::move(of_flag);
    return true;
  }
  return false;
}

}  // namespace isomer::lab
