#include "lab/judge/recorded_answer.hpp"

#include "lab/evidence/recorded/patterns/patterns.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// An answer follows the dtypes that it was asked with.
bool casts(const Approach& approach) {
  return std::any_of(approach.form.passings.begin(), approach.form.passings.end(),
                     [](const Passing& each) { return each.cast != DType::none; });
}

/// Whether a result's numbers have been given a cause.
bool has_a_cause(const std::vector<Finding>& findings) {
  constexpr std::array kCauses = {Code::approximation,
                                  Code::argument_order,
                                  Code::clamp,
                                  Code::epsilon,
                                  Code::head_mapping,
                                  Code::log_base,
                                  Code::mask_alignment,
                                  Code::inverted_condition,
                                  Code::layout_convention,
                                  Code::missing_absolute,
                                  Code::missing_max_subtraction,
                                  Code::missing_rescale,
                                  Code::missing_scale,
                                  Code::missing_term,
                                  Code::off_by_one,
                                  Code::other_reduction,
                                  Code::rounding_mode,
                                  Code::saturation,
                                  Code::scale_precision,
                                  Code::tie_rule,
                                  Code::zero_guard};
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
    return each.subject == Subject::candidate && each.strength != Strength::nearest && !is_remark(each) &&
           std::find(kCauses.begin(), kCauses.end(), each.code) != kCauses.end();
  });
}

}  // namespace

void form_of_answers(const Approach& approach, const Entry& entry, const Replayed& replayed,
                     const CallOutcome& outcome, Diagnosis& diagnosis) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Replayed::Output& output = replayed.outputs[t];
    const Value& came = outcome.values[t];
    const bool passed_in = approach.form.takes(output.role);
    if (output.returned < 0 || passed_in || (output.again && !came.is_tensor())) continue;
    Finding finding;
    finding.argument = output.name;
    finding.location = entry.place;
    if (!came.is_tensor()) {
      finding.code = Code::unwritten_output;
      finding.evidence =
          fmt::format("'{}': the original returns {} tensors, but the candidate returned {}", replayed.line,
                      replayed.call->returned.size(), outcome.answer.returned.size());
      finding.fix = fmt::format("also return {}", output.name);
    } else if (came.tensor.numel() != output.want.numel()) {
      finding.code = Code::shape_refused;
      finding.evidence = fmt::format("'{}': {} was returned, but the reference gives {}", replayed.line,
                                     came.tensor.describe(), output.want.describe());
      finding.fix = "return the reference's shape";
    } else if (came.tensor.rank != output.want.rank ||
               !std::equal(came.tensor.shape.begin(), came.tensor.shape.begin() + came.tensor.rank,
                           output.want.shape.begin())) {
      finding.code = came.tensor.rank != output.want.rank ? Code::rank_refused : Code::layout_convention;
      finding.evidence = fmt::format("'{}': {} was returned, but the reference gives {}", replayed.line,
                                     came.tensor.describe(), output.want.describe());
      finding.fix = "return the reference's shape";
    } else if (came.tensor.dtype != output.want.dtype && !casts(approach)) {
      finding.code = Code::dtype_refused;
      finding.evidence = fmt::format("'{}': {} was returned, but the reference gives {}", replayed.line,
                                     came.tensor.describe(), output.want.describe());
      finding.fix = fmt::format("return {}", name_of(output.want.dtype));
    } else {
      continue;
    }
    add_once(diagnosis.findings, std::move(finding));
  }
}

void inputs_kept(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                 Diagnosis& diagnosis) {
  if (!approach.adaptations.empty()) return;
  const std::vector<Value> given = passed(approach.form, replayed.values);
  for (std::size_t i = 0; i < given.size() && i < outcome.answer.arguments.size(); ++i) {
    const Passing& passing = approach.form.passings[i];
    if (passing.what != What::role || !given[i].is_tensor()) continue;
    const Port::Role& role = replayed.roles[static_cast<std::size_t>(passing.role)];
    if (role.output || holds_a_result(approach.form, i)) continue;
    const std::vector<double> before = oracle::elements(given[i].tensor),
                              after = oracle::elements(outcome.answer.arguments[i].tensor);
    std::size_t changed = 0;
    for (std::size_t e = 0; e < before.size(); ++e)
      changed += before[e] != after[e] && !(before[e] != before[e] && after[e] != after[e]);
    if (changed == 0) continue;
    Finding finding;
    finding.code = Code::writes_input;
    finding.argument = role.name;
    finding.evidence =
        fmt::format("'{}': the call changes {} of {} elements of {}; the original does not write to it",
                    replayed.line, changed, before.size(), role.name);
    finding.fix = "do not write to the input";
    add_once(diagnosis.findings, std::move(finding));
  }
}

void numbers_of_answer(const Answered& answered, int vague, Diagnosis& diagnosis) {
  const auto& [approach, replayed, outcome, facts, factored] = answered;
  const auto found = [&](Code code) {
    return std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                       [&](const Finding& each) { return each.code == code; });
  };
  std::vector<Diagnosis::Difference> differences;
  bool wrong = false;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Replayed::Output& output = replayed.outputs[t];
    if (outcome.got[t].empty()) continue;
    const std::vector<double> want = oracle::elements(output.want);
    const std::vector<double> bounds = bounds_of(approach, output, want);
    Diagnosis::Difference difference{
        output.name, {output.want.shape.begin(), output.want.shape.begin() + output.want.rank}, {}, {}};
    for (std::size_t i = 0; i < want.size(); ++i) {
      const bool off = !is_close(want[i], outcome.got[t][i], bounds[i]);
      wrong = wrong || off;
      difference.wrong.push_back(off);
      difference.error.push_back(outcome.got[t][i] - want[i]);
    }
    differences.push_back(std::move(difference));
    if (factored.count(output.name) > 0) continue;
    if (outcome.wrong[t] == 0) continue;
    Finding finding = other_of_equals(replayed, t, outcome.got[t]);
    if (finding.code == Code::none) finding = other_side_of_index(replayed, t, outcome.got[t], facts);
    if (finding.code == Code::none)
      finding = wrong_where_not_finite(replayed, t,
                                       {differences.back().wrong.begin(), differences.back().wrong.end()});
    if (finding.code == Code::none)
      finding = pattern_of({output.name, output.want, outcome.got[t], output.before,
                            rtol_for(approach, output), approach.atol});
    if (finding.code == Code::intermediate_precision && finding.strength == Strength::nearest &&
        is_float(output.want.dtype) && changes_evenly(approach, replayed, outcome, t))
      finding = pattern_of({output.name, output.want, outcome.got[t], output.before,
                            rtol_for(approach, output), approach.atol, true});
    if (finding.code == Code::unexplained || finding.code == Code::nan_inf)
      if (Finding rows = rows_by_count(replayed, output.want, differences.back().wrong);
          rows.code != Code::none)
        finding = std::move(rows);
    if (finding.code == Code::none) continue;
    // What another call says of this output exactly is not said again by what this one looks like.
    const bool told =
        std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                    [&](const Finding& each) { return each.argument == output.name && has_a_cause({each}); });
    if (finding.strength == Strength::nearest && told) continue;
    if (finding.strength == Strength::nearest && is_float(output.want.dtype))
      if (Finding better = pattern_of_inputs(approach, replayed, outcome, t); better.code != Code::none)
        finding = std::move(better);
    finding.evidence = fmt::format("'{}': {} {}", replayed.line, output.name, finding.evidence);
    // Numbers have their cause where memory or threads go wrong, or where an argument is not looked at.
    const bool caused =
        found(Code::race) || found(Code::missing_barrier) || found(Code::out_of_bounds_read) ||
        found(Code::out_of_bounds_write) || found(Code::warp_size) || found(Code::uninitialised_read) ||
        found(Code::stale_state) || found(Code::ignores_index) || found(Code::ignores_argument) ||
        found(Code::empty_input) || found(Code::intermediate_precision);
    const bool likely = finding.strength == Strength::nearest || finding.code == Code::nan_inf;
    if (vague != (finding.code == Code::unexplained ? 2 : likely ? 1 : 0)) continue;
    if (vague > 0 &&
        (caused || found(Code::unwritten_output) || found(Code::missing_scale) || found(Code::tail_mask)))
      continue;
    // Where threads meet in no order, so do the places that are wrong.
    if (finding.code == Code::tail_mask && (found(Code::race) || found(Code::missing_barrier))) continue;
    // What is read behind the end of an input is what the last elements are made of.
    if ((finding.code == Code::tail_mask || finding.code == Code::off_by_one) &&
        found(Code::out_of_bounds_read))
      continue;
    if (finding.code == Code::tail_mask)
      std::erase_if(diagnosis.findings, [&](const Finding& each) {
        return each.code == Code::unwritten_output && each.argument == output.name;
      });
    // What one call says exactly, another need not say again without a name.
    if (finding.code == Code::unexplained &&
        std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [&](const Finding& each) {
          // What views show is not why a compact tensor is wrong.
          return each.argument == output.name && each.code != Code::dtype_refused &&
                 each.code != Code::assumes_contiguous && each.code != Code::ignores_offset;
        }))
      continue;
    // What is not added because its argument is not looked at.
    if ((finding.code == Code::missing_term || finding.code == Code::approximation) &&
        found(Code::ignores_argument))
      continue;
    // Results are made of one another: what has a cause in one is not told without a name of the next.
    if (finding.code == Code::unexplained && has_a_cause(diagnosis.findings)) {
      if (replayed.outputs.size() == 1) continue;
      const std::string note = fmt::format(
          "{} is also wrong, in {} of {} elements, and may be so for the same reason: it is judged when that "
          "is "
          "mended",
          output.name, outcome.wrong[t], want.size());
      if (std::find(diagnosis.notes.begin(), diagnosis.notes.end(), note) == diagnosis.notes.end())
        diagnosis.notes.push_back(note);
      continue;
    }
    if (finding.code == Code::missing_scale &&
        (found(Code::missing_scale) || found(Code::epsilon) || found(Code::ignores_argument) ||
         found(Code::intermediate_precision)))
      continue;
    add_once(diagnosis.findings, std::move(finding));
  }
  if (wrong && diagnosis.differences.empty()) diagnosis.differences = std::move(differences);
}

}  // namespace isomer::lab
