#include "lab/judge/recorded_calls.hpp"

#include "lab/ask/adapting/refusal.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/recorded/patterns/functions.hpp"
#include "lab/evidence/recorded/patterns/reductions.hpp"
#include "lab/evidence/recorded/patterns/row_factors.hpp"
#include "lab/evidence/recorded/patterns/row_terms.hpp"
#include "lab/evidence/recorded/probes/probes.hpp"
#include "lab/evidence/recorded/probes/resized.hpp"
#include "lab/evidence/recorded/quick.hpp"
#include "lab/judge/recorded_answer.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <tuple>

namespace isomer::lab {
namespace {

constexpr std::size_t kFewElements = 8;  ///< of which a part shows little

/// An answer is wrong, and of the candidate's numbers nothing is said yet. The first `mended` findings are
/// those of faults that the calls were adapted to, so that they make no answer wrong any more.
bool nothing_told(const std::vector<CallOutcome>& outcomes, const Diagnosis& diagnosis, std::size_t mended) {
  const auto first =
      diagnosis.findings.begin() + static_cast<std::ptrdiff_t>(std::min(mended, diagnosis.findings.size()));
  return std::any_of(outcomes.begin(), outcomes.end(),
                     [](const CallOutcome& each) { return each.answer.ok() && !each.right(); }) &&
         std::none_of(first, diagnosis.findings.end(), [](const Finding& each) {
           return each.subject == Subject::candidate && each.code != Code::dtype_refused &&
                  each.code != Code::keyword_name && each.code != Code::symbol_name &&
                  each.code != Code::epsilon && each.code != Code::assumes_contiguous &&
                  each.code != Code::ignores_offset;
         });
}

/// Errors that are no rounding: a quarter of an output and more is off by a twentieth of a typical element.
bool far_off(const Replayed& replayed, const CallOutcome& outcome) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Tensor& tensor = replayed.outputs[t].want;
    if (!is_float(tensor.dtype) || outcome.got[t].empty()) continue;
    const std::vector<double> want = oracle::elements(tensor);
    double squares = 0;
    for (const double each : want) squares += each * each;
    const double typical = std::sqrt(squares / static_cast<double>(want.size()));
    std::size_t far = 0;
    for (std::size_t i = 0; i < want.size(); ++i)
      far += std::fabs(outcome.got[t][i] - want[i]) > typical / 20;
    if (4 * far > want.size()) return true;
  }
  return false;
}

/// Where sums are said to be rounded and one call is far off, that one has another fault besides.
std::size_t another_fault(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                          const Diagnosis& diagnosis, std::size_t mended) {
  const auto first =
      diagnosis.findings.begin() + static_cast<std::ptrdiff_t>(std::min(mended, diagnosis.findings.size()));
  const bool rounded = std::any_of(first, diagnosis.findings.end(), [](const Finding& each) {
    return each.code == Code::intermediate_precision && each.strength == Strength::nearest;
  });
  for (std::size_t i = 0; rounded && i < calls.size(); ++i)
    if (outcomes[i].answer.ok() && !cut_short(outcomes[i]) && far_off(calls[i], outcomes[i])) return i;
  return calls.size();
}

/// How many of the tensors that are given have one element.
std::size_t single_elements(const Replayed& replayed) {
  std::size_t count = 0;
  for (std::size_t r = 0; r < replayed.roles.size(); ++r)
    count +=
        !replayed.roles[r].output && replayed.values[r].is_tensor() && replayed.values[r].tensor.numel() == 1;
  return count;
}

/// Whether a source has a thread hear of what others have.
bool hears_of_others(const std::string& source) {
  static const Pattern means("__shared__|__shfl|__reduce_|shfl_|atomic|\\bcub::|\\bcg::|cooperative_groups");
  return means.found_in(source);
}

/// What is read before the barrier that is missing was not written yet.
void read_too_early(Diagnosis& diagnosis) {
  std::set<std::string> arrays;
  for (const Finding& each : diagnosis.findings)
    if (each.code == Code::missing_barrier) arrays.insert(each.argument);
  std::erase_if(diagnosis.findings, [&](const Finding& each) {
    return each.code == Code::uninitialised_read && arrays.count(each.argument) > 0;
  });
}

/// What a store beyond its buffer meets, wherever it lands, is no fault of its own.
void behind_their_buffers(Diagnosis& diagnosis) {
  std::set<int> lines;
  for (const Finding& each : diagnosis.findings)
    if (each.code == Code::out_of_bounds_write && !each.shared && each.location.line != 0)
      lines.insert(each.location.line);
  std::erase_if(diagnosis.findings, [&](const Finding& each) {
    const bool met = each.code == Code::race || each.code == Code::missing_barrier ||
                     (each.code == Code::out_of_bounds_write && each.shared);
    return met && lines.count(each.location.line) > 0;
  });
}

}  // namespace

bool cut_short(const CallOutcome& outcome) {
  const std::vector<Seen>& seen = outcome.answer.seen;
  return (outcome.elements > 0 && !outcome.answer.refused_launches.empty()) ||
         std::any_of(seen.begin(), seen.end(), [](const Seen& each) {
           return each.kind == "step-limit" || each.kind == "endless-wait";
         });
}

void tell_end(const Approach& approach, const Entry& entry, const Replayed& replayed, const Answer& answer,
              Diagnosis& diagnosis) {
  Finding finding = finding_of_end(answer, replayed.line);
  if (answer.end == Answer::End::not_callable) {
    const bool count = entry.parameters.size() != approach.form.passings.size();
    finding.code = count ? Code::argument_count : Code::argument_kind;
    finding.fix = count ? fmt::format("take the {} arguments that are passed", replayed.call->before.size())
                        : "accept what the original accepts";
  } else if (answer.end == Answer::End::refused) {
    // A launch that the device refuses has been told, and the candidate has only passed it on.
    if (!answer.refused_launches.empty()) return;
    say_what_is_refused(answer.message, entry, replayed.roles, finding);
  }
  if (finding.location.line == 0) finding.location = entry.place;
  const bool said =
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [&](const Finding& each) {
        return each.code == finding.code && (finding.argument.empty() || each.argument == finding.argument);
      });
  if (!said) add_once(diagnosis.findings, std::move(finding));
}

namespace {

/// Takes back that tensors are ignored, where another call shows that they are not: a right one, or a wrong
/// one of other sizes.
void drop_if_used(const Approach& approach, const std::vector<Replayed>& calls,
                  const std::vector<CallOutcome>& outcomes, std::size_t reversed, std::size_t told,
                  std::vector<Finding>& findings) {
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (i != reversed && outcomes[i].answer.ok() && outcomes[i].elements > 1 && !cut_short(outcomes[i]))
      others.push_back(i);
  std::stable_sort(others.begin(), others.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(!outcomes[a].right(), outcomes[a].elements) <
           std::pair(!outcomes[b].right(), outcomes[b].elements);
  });
  constexpr std::size_t kAsked = 2;
  if (others.size() > kAsked) others.resize(kAsked);
  for (std::size_t i = findings.size(); i-- > told;) {
    if (findings[i].code != Code::ignores_argument) continue;
    const bool used = std::any_of(others.begin(), others.end(), [&](std::size_t at) {
      const auto role = std::find_if(
          calls[at].roles.begin(), calls[at].roles.end(),
          [&](const Port::Role& each) { return each.name == findings[i].argument && each.tensor; });
      return role != calls[at].roles.end() &&
             depends_on(approach, calls[at], outcomes[at],
                        static_cast<std::size_t>(role - calls[at].roles.begin()));
    });
    if (used) findings.erase(findings.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

/// Of the wrong calls that returned the one with most elements: of a small one nothing may be left.
std::size_t largest_wrong(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes) {
  std::size_t largest = calls.size();
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (outcomes[i].answer.ok() && !outcomes[i].right() && !cut_short(outcomes[i]) &&
        (largest == calls.size() || outcomes[i].elements > outcomes[largest].elements))
      largest = i;
  return largest;
}

/// Of what is asked besides the recorded calls, together.
constexpr double kSecondsOfProbes = 12;

}  // namespace

void judge(const Approach& approach, const Entry& entry, const Facts* facts, bool adapted,
           const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
           Diagnosis& diagnosis) {
  const std::size_t mended = diagnosis.findings.size();
  std::set<std::string> factored;  // outputs whose rows are the reference's times a factor that is told
  bool rescaled = false;           // sums that are not rescaled are told
  bool reduced = false;            // a wrong reduction is told
  bool counted = false;            // another count that something is divided by is told
  bool answered = false, overrun = false;
  std::size_t probed = calls.size(), reversed = calls.size();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const CallOutcome& outcome = outcomes[i];
    if (outcome.answer.end == Answer::End::timed_out && outcome.answer.message.empty()) continue;
    findings_of_device(outcome.answer, {calls[i].line, calls[i].empty, calls[i].shared}, diagnosis.findings);
    if (!overrun && std::any_of(outcome.answer.seen.begin(), outcome.answer.seen.end(),
                                [](const Seen& each) { return each.kind.starts_with("out-of-bounds"); })) {
      probe_overruns(approach, calls[i], outcome, diagnosis.findings);
      overrun = true;
    }
    if (!outcome.answer.ok()) {
      tell_end(approach, entry, calls[i], outcome.answer, diagnosis);
      continue;
    }
    answered = true;
    ++diagnosis.calls;
    if (cut_short(outcome)) continue;
    form_of_answers(approach, entry, calls[i], outcome, diagnosis);
    inputs_kept(approach, calls[i], outcome, diagnosis);
    // The smallest wrong call, else the smallest with anything in it, is the one for probes.
    const auto cost = [&](std::size_t at) {
      return std::tuple(outcomes[at].right(), outcomes[at].elements == 0,
                        outcomes[at].elements < kFewElements, outcomes[at].elements);
    };
    if (probed == calls.size() || cost(i) < cost(probed)) probed = i;
    // Of single elements nothing can be said that is said of an order.
    const auto cost_of_order = [&](std::size_t at) {
      return std::tuple(outcomes[at].right(), single_elements(calls[at]), cost(at));
    };
    if (reversed == calls.size() || cost_of_order(i) < cost_of_order(reversed)) reversed = i;
  }
  read_too_early(diagnosis);
  tell_repeated_indices(calls, outcomes, diagnosis.findings);
  behind_their_buffers(diagnosis);
  // Threads that meet in no order give one answer as well as another, unless they store the same.
  const bool raced =
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), [](const Finding& each) {
        return (each.code == Code::missing_barrier || each.code == Code::race) && !each.same_store;
      });
  Approach watched = approach;
  watched.left = std::make_shared<double>(kSecondsOfProbes);
  const Approach probing = for_numbers(watched, outcomes), patient = for_numbers(approach, outcomes);
  if (probed < calls.size()) {
    probe_memory(watched, calls[probed], outcomes[probed], diagnosis.findings);
    // What does not reach the memory of a result depends on nothing.
    const bool nothing =
        probe_unwritten_results(probing, calls[probed], outcomes[probed], diagnosis.findings);
    if (!raced && !nothing) {
      const std::size_t told = diagnosis.findings.size();
      probe_ignored(probing, calls[reversed], outcomes[reversed], facts, diagnosis.findings);
      // Where another call is right, which an argument that is ignored cannot be, that is another fault's.
      if (!outcomes[reversed].right())
        drop_if_used(patient, calls, outcomes, reversed, told, diagnosis.findings);
    }
    // What has no infinity yet shows where one comes from.
    const auto finite = [](const CallOutcome& each) {
      return each.answer.ok() && each.elements > 0 &&
             std::all_of(each.got.begin(), each.got.end(), [](const std::vector<double>& got) {
               return std::all_of(got.begin(), got.end(), [](double value) { return std::isfinite(value); });
             });
    };
    const auto whole =
        static_cast<std::size_t>(std::find_if(outcomes.begin(), outcomes.end(), finite) - outcomes.begin());
    const std::size_t overflown = finite(outcomes[probed]) || whole == outcomes.size() ? probed : whole;
    probe_overflow(probing, calls[overflown], outcomes[overflown], facts, diagnosis.findings);
    rescaled = probe_rescale(probing, calls, outcomes, facts, diagnosis.findings);
    if (!nothing) probe_ignored_bits(probing, calls[probed], outcomes[probed], diagnosis.findings);
    probe_views(watched, calls, outcomes, diagnosis.findings);
    probe_short_blocks(probing, calls[probed], outcomes[probed], diagnosis.findings);
  }
  for (std::size_t t = 0; t < calls.front().outputs.size(); ++t) {
    if (std::any_of(outcomes.begin(), outcomes.end(), cut_short)) break;
    Finding finding;
    // Where one result is divided by another count, so may be the next.
    if (!rescaled && counted) finding = factor_of_counts(calls, outcomes, t);
    if (!rescaled && finding.code == Code::none) finding = factor_of_rows(approach, calls, outcomes, t);
    if (!rescaled && finding.code == Code::none) {
      finding = reduction_of_rows(approach, calls, outcomes, t);
      reduced = reduced || finding.code != Code::none;
    }
    if (!rescaled && finding.code == Code::none) {
      finding = factor_of_counts(calls, outcomes, t);
      counted = counted || finding.code != Code::none;
    }
    if (!rescaled && finding.code == Code::none) finding = factor_of_masks(calls, outcomes, t);
    if (!rescaled && finding.code == Code::none) finding = term_of_rows(approach, calls, outcomes, t);
    for (std::size_t i = 0; i < calls.size() && !rescaled && finding.code == Code::none; ++i)
      if (outcomes[i].answer.ok() && t < calls[i].outputs.size())
        finding = wrapped_sums(approach, calls[i], outcomes[i], t);
    if (!rescaled && finding.code == Code::none) finding = function_of_elements(approach, calls, outcomes, t);
    if (!rescaled && finding.code == Code::none) finding = function_of_products(approach, calls, outcomes, t);
    if (finding.code == Code::none && !rescaled) continue;
    factored.insert(calls.front().outputs[t].name);
    if (finding.code != Code::none) add_once(diagnosis.findings, std::move(finding));
  }
  // Where calls of another signature have their cause, what has no influence on these is no other one.
  const bool caused = std::any_of(
      diagnosis.findings.begin(), diagnosis.findings.begin() + static_cast<std::ptrdiff_t>(mended),
      [](const Finding& each) { return each.code == Code::layout_convention && !each.made; });
  // Where no thread hears of another's there is nothing of which a part could be lost.
  const bool together = hears_of_others(source_of(*approach.candidate));
  // What is vague of another output is made of the numbers that are explained.
  const std::vector<int> vaguer = reduced ? std::vector<int>{0} : std::vector<int>{0, 1, 2};
  for (const int vague : vaguer) {
    if (vague == 2 && !caused && probed < calls.size() && nothing_told(outcomes, diagnosis, mended)) {
      probe_influence(probing, calls[probed], outcomes[probed], facts, diagnosis.findings);
      if (const std::size_t at = largest_wrong(calls, outcomes);
          at < calls.size() && at != probed && nothing_told(outcomes, diagnosis, mended))
        probe_influence(probing, calls[at], outcomes[at], facts, diagnosis.findings);
      if (const std::size_t at = largest_wrong(calls, outcomes);
          at < calls.size() && together && nothing_told(outcomes, diagnosis, mended))
        probe_parts_of_blocks(probing, calls[at], outcomes[at], diagnosis.findings);
      if (!nothing_told(outcomes, diagnosis, mended)) break;
    }
    for (std::size_t i = 0; i < calls.size(); ++i)
      if (outcomes[i].answer.ok() && !cut_short(outcomes[i]))
        numbers_of_answer({approach, calls[i], outcomes[i], facts, factored}, vague, diagnosis);
  }
  // Why a row has another factor: the block puts together less than it has.
  const auto by_row = [](const Finding& each) { return each.row_factor; };
  if (const std::size_t at = largest_wrong(calls, outcomes);
      together && at < calls.size() &&
      std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), by_row)) {
    std::vector<Finding> parts;
    probe_parts_of_blocks(probing, calls[at], outcomes[at], parts);
    if (!parts.empty()) std::erase_if(diagnosis.findings, by_row);
    for (Finding& each : parts) add_once(diagnosis.findings, std::move(each));
  }
  if (const std::size_t at = another_fault(calls, outcomes, diagnosis, mended); at < calls.size())
    probe_influence(probing, calls[at], outcomes[at], facts, diagnosis.findings);
  // What does not fit an integer because its scale is another is no fault of its own.
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                  [](const Finding& each) { return each.code == Code::missing_scale; }))
    std::erase_if(diagnosis.findings, [](const Finding& each) {
      return each.code == Code::saturation && each.strength == Strength::observed && each.location.line > 0;
    });
  // What is written where an index does not say meets other writers, and leaves its own place as it was.
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(),
                  [](const Finding& each) { return each.code == Code::ignores_index; }))
    std::erase_if(diagnosis.findings, [](const Finding& each) {
      return each.code == Code::unwritten_output || (each.code == Code::race && each.same_store);
    });
  // What is read elsewhere than in its memory is wrong by whatever lies there.
  const auto strays = [](const Finding& each) {
    return (each.code == Code::out_of_bounds_read || each.code == Code::out_of_bounds_write) && !each.made &&
           each.location.line != 0;
  };
  if (std::any_of(diagnosis.findings.begin(), diagnosis.findings.end(), strays))
    std::erase_if(diagnosis.findings, [&](const Finding& each) {
      return (each.code == Code::mask_alignment || each.code == Code::tail_mask) && !each.made &&
             each.variations.empty() && (each.location.line == 0 || each.location.line == entry.place.line);
    });
  const bool refused_all = !answered;
  if (adapted || refused_all) diagnosis.call = Stage::failed;
  if (diagnosis.call == Stage::not_reached && answered) diagnosis.call = Stage::passed;
}

}  // namespace isomer::lab
