#include "lab/ask/nearness.hpp"
#include "lab/findings/conventions.hpp"
#include "lab/judge/edit_search.hpp"
#include "lab/judge/one_edit.hpp"
#include "lab/judge/unset_locals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace isomer::lab {
namespace {

/// Whether an element is wrong of which the original leaves nothing open.
bool is_wrong(const Evidence& evidence) {
  const Given& given = *evidence.given;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i) {
      const oracle::ExpectedTensor& want = given.plain.tensors[t];
      if (given.open[t][i] == 0 && want.written[i] && !holds(want, i, evidence.outputs[t][i])) return true;
    }
  return false;
}

/// Whether no call came to no answer that came to one before: an edit need not mend what is another matter.
bool fail_as_before(const Numbers& now, const Numbers& before) {
  return std::all_of(now.failures.begin(), now.failures.end(), [&](const Failure& failure) {
    return std::any_of(before.failures.begin(), before.failures.end(), [&](const Failure& other) {
      return other.given->line == failure.given->line && other.trial.answer.end == failure.trial.answer.end;
    });
  });
}

}  // namespace

Finding of_one_edit(const Exchanging& exchanging, const Called& called, const Questions& questions,
                    const Numbers& numbers, const EditsAsked& how) {
  constexpr double kRight = 0.9999;
  if (!exchanging) return {};
  const Given* asked = nullptr;
  double before = 1;  // the share of its elements that are right, once it is known
  const auto right = [&](const Candidate& candidate, const Form& form, const Given& given,
                         const EditNumbers& edit) {
    CallSettings settings = brief(questions.settings, 0.2, how.watched, false);
    settings.edits = edit;
    const Trial trial = try_call(candidate, form, *called.port, given, settings);
    const double share = trial.ok() ? share_right(given, trial) : 0;
    // With a convention of its own not all of it can be right; a good part more of it is.
    constexpr double kGoodPart = 0.25;
    return (share >= kRight ||
            (how.stranger && !how.watched && asked != nullptr && share > before + kGoodPart)) &&
           (!how.watched || is_clean(trial.answer, false));
  };
  const auto size_of = [](const Given& given) {
    std::size_t elements = 0;
    for (const oracle::ExpectedTensor& each : given.plain.tensors) elements += each.value.size();
    return elements;
  };
  const std::shared_ptr<const ExchangedBuild> build = exchanging();
  if (build == nullptr) return {};
  const Form form = in_build(*build->candidate, called.form);
  for (const Evidence& each : numbers.evidence)
    if ((asked == nullptr || size_of(*each.given) < size_of(*asked)) && is_wrong(each) &&
        !right(*build->candidate, form, *each.given, {}))
      asked = each.given.get();
  if (asked == nullptr) return {};
  before = share_right(*asked, try_call(*build->candidate, form, *called.port, *asked,
                                        brief(questions.settings, 0.2, false, true)));
  KeptSearch kept = kept_search(*build, how, 0, 0);
  for (const Evidence& each : numbers.evidence) {
    std::vector<double> wanted;
    for (const oracle::ExpectedTensor& tensor : each.given->plain.tensors)
      wanted.insert(wanted.end(), tensor.value.begin(), tensor.value.end());
    kept.add(form, each.given->values, wanted);
  }
  int tried = 0;
  bool conventional = false;
  // What is left is what an original does that the op is called after.
  const auto is_conventional = [&](const Numbers& now) {
    std::vector<std::string> notes;
    std::vector<Finding> left = findings_of(*called.port, now, notes);
    tell_conventions(called.port->op, left);
    return std::all_of(left.begin(), left.end(), is_remark);
  };
  const auto holds = [&](const Candidate& candidate, const Form& as_called, const EditNumbers& edit) {
    Questions others = questions;
    others.settings = brief(questions.settings, 0.2, how.watched, true);
    others.settings.edits = edit;
    others.before = &numbers;
    const Numbers now = explain_numbers(candidate, as_called, *called.port, others);
    const bool is_right = now.explanation.plain.wrong == 0 || (how.stranger && is_conventional(now));
    conventional = conventional || (is_right && now.explanation.plain.wrong > 0);
    return is_right && fail_as_before(now, numbers) && !now.evidence.empty() &&
           (!how.watched || std::all_of(now.answers.begin(), now.answers.end(),
                                        [](const Answer& answer) { return is_clean(answer, false); }));
  };
  CallSettings which = brief(questions.settings, 0.2, how.watched, true);
  which.edits = kWhichAreReached;
  const EditTrials trials = {
      [&](const EditNumbers& edit) { return right(*build->candidate, form, *asked, edit); },
      [&](const EditNumbers& edit) { return holds(*build->candidate, form, edit); },
      {},
      {},
      reached_by(try_call(*build->candidate, form, *called.port, *asked, which).answer)};
  std::vector<const Exchange*> list = helpful_edits(*build, trials, how, kept, tried);
  if (list.empty())
    list = helpful_rebuilt(
        *build, how,
        [&](const Candidate& candidate) {
          const Form own = in_build(candidate, called.form);
          return right(candidate, own, *asked, {}) && holds(candidate, own, {});
        },
        tried);
  std::string seen = fmt::format("all {} calls are right", numbers.evidence.size());
  if (conventional) seen += " but for a convention";
  if (how.watched) seen += " and nothing of this is seen";
  Finding finding = finding_of_edits(list, seen, tried);
  finding.location.file = called.form.entry->place.file;
  return finding;
}

}  // namespace isomer::lab
