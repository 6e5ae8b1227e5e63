#include "lab/evidence/recorded/probes/probes.hpp"

#include "lab/evidence/probes/said_room.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/recorded/probes/resized.hpp"
#include "lab/findings/conventions.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace isomer::lab {
namespace {

/// Of the processor: for one of them, foreseen and at most, and for all.
constexpr double kForeseen = 0.25, kOne = 0.6, kAll = 0.6;
/// What is wrong of an output for its size alone is more than one of so many elements.
constexpr std::size_t kOneOf = 200;

/// How far rounding, in however many steps, takes an element from its own size and its row's.
double rounded(DType dtype) {
  const int bytes = static_cast<int>(size_of(dtype));
  return !is_float(dtype) ? 0 : is_fp8(dtype) ? 0.3 : bytes == 2 ? 0.05 : 0.01;
}

/// Which elements of an output are wrong by more than rounding; none where few are, or none came.
std::vector<std::size_t> clearly_wrong(const Replayed::Output& output, const std::vector<double>& got) {
  const std::vector<double> want = oracle::elements(output.want);
  std::vector<std::size_t> list;
  if (got.size() != want.size()) return list;
  std::vector<double> bounds(want.size(), size_of(output.want.dtype) == 1 ? 1 : 0);
  if (is_float(output.want.dtype)) bounds = bounds_of(output.want, want, rounded(output.want.dtype), 0);
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!is_close(want[i], got[i], bounds[i])) list.push_back(i);
  // One of a few may be what the original itself says with few digits.
  constexpr std::size_t kFew = 16;
  const bool one = list.size() == 1 && want.size() > 1 && want.size() < kFew;
  if (one || list.size() * kOneOf < want.size()) list.clear();
  return list;
}

/// An access outside of memory that does not grow with the size: shared memory, or an array of a thread's.
bool lacks_room(const Seen& seen) {
  return seen.kind.starts_with("out-of-bounds") &&
         (seen.shared || (seen.buffer.empty() && !seen.nowhere && !seen.null));
}

/// A device takes no such launch, whatever its kernel would do.
bool is_too_much(const RefusedLaunch& refused) {
  using Cause = RefusedLaunch::Cause;
  return refused.cause != Cause::no_blocks && refused.cause != Cause::no_threads;
}

/// Why the candidate does not take that size; empty where it takes it, or seems to.
std::string why_not_taken(const Replayed& replayed, const CallOutcome& outcome, SourcePlace& place) {
  const Answer& answer = outcome.answer;
  for (const RefusedLaunch& refused : answer.refused_launches)
    if (is_too_much(refused)) return refused.text;
  if (!answer.ok()) {
    place = answer.place;
    return without_folders(answer.message.substr(0, answer.message.find('\n')), answer.place);
  }
  for (const Seen& seen : answer.seen)
    if (lacks_room(seen)) {
      place = seen.place;
      return without_folders(seen.text, seen.place);
    }
  // What chooses a kernel by the size has none for this one.
  const bool something =
      std::any_of(replayed.outputs.begin(), replayed.outputs.end(), [&](const auto& output) {
        const auto& got = outcome.got[static_cast<std::size_t>(&output - replayed.outputs.data())];
        const std::vector<double> before =
            output.before.defined() ? oracle::elements(output.before) : std::vector<double>(got.size(), 0.0);
        return !std::equal(got.begin(), got.end(), before.begin(), before.end(), same_value);
      });
  if (answer.launches == 0 && answer.refused_launches.empty() && !something)
    return "it launches no kernel and writes nothing";
  return {};
}

/// Of the wrong elements of an output those that keep what the memory held before.
std::size_t unwritten(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                      std::size_t output, const std::vector<std::size_t>& wrong) {
  const Replayed::Output& of = replayed.outputs[output];
  if (of.returned < 0 && of.before.defined()) {
    const std::vector<double> before = oracle::elements(of.before);
    return static_cast<std::size_t>(std::count_if(wrong.begin(), wrong.end(), [&](std::size_t i) {
      return same_value(outcome.got[output][i], before[i]);
    }));
  }
  Approach other = approach;
  other.settings.poison = kLargePoison;
  Replayed filled = replayed;
  Value& value = filled.values[static_cast<std::size_t>(of.role)];
  if (value.is_tensor()) {
    value = deep_copy(value);
    std::memset(value.storage.get(), kLargePoison, value.storage_bytes);
  }
  const CallOutcome again = replay_once(other, filled);
  if (!again.answer.ok() || again.got[output].size() != outcome.got[output].size()) return 0;
  const double fill = filled_with(again.values[output].tensor.dtype, kLargePoison);
  return static_cast<std::size_t>(std::count_if(wrong.begin(), wrong.end(), [&](std::size_t i) {
    return same_value(again.got[output][i], fill) && !same_value(outcome.got[output][i], fill);
  }));
}

/// The access outside of a buffer that goes with the size.
const Seen* access_outside(const CallOutcome& outcome) {
  for (const Seen& seen : outcome.answer.seen)
    if (seen.kind.starts_with("out-of-bounds")) return &seen;
  return nullptr;
}

std::string with_and(const std::vector<std::int64_t>& sizes) {
  std::string text;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : i + 1 == sizes.size() ? " and " : ", ", sizes[i]);
  return text;
}

/// What is told of a call that is silently wrong; of no code where it is none.
Finding wrong_for_larger(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                         const std::string& right) {
  Finding finding;
  std::string elements;
  std::size_t all = 0, left = 0;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    if (outcome.wrong[t] == 0) continue;
    const std::vector<std::size_t> wrong = clearly_wrong(replayed.outputs[t], outcome.got[t]);
    if (wrong.empty()) continue;
    const std::size_t kept = unwritten(approach, replayed, outcome, t, wrong);
    all += wrong.size();
    left += kept;
    finding.argument += (finding.argument.empty() ? "" : ", ") + replayed.outputs[t].name;
    elements += fmt::format("{}{} of {} elements of {} are {}", elements.empty() ? "" : ", ", wrong.size(),
                            replayed.outputs[t].want.numel(), replayed.outputs[t].name,
                            2 * kept >= wrong.size() ? "not written" : "wrong");
  }
  const Seen* outside = access_outside(outcome);
  if (all == 0 && outside == nullptr) return finding;
  finding.code = all > 0 && 2 * left >= all ? Code::unwritten_output : Code::tail_mask;
  finding.larger = true;
  finding.evidence = fmt::format(
      "right for {} and wrong for {}, which no call of the test has but the original answers ({}): {} in "
      "'{}'",
      right, replayed.call->size, dimensions_of_size(replayed),
      all > 0 ? elements : "memory outside of its buffers is accessed", replayed.line);
  finding.fix =
      "let the launch have as many blocks as the size needs, let loops reach the elements that no thread of "
      "a "
      "first round does, and bound each index by its own size";
  if (outside != nullptr) {
    if (finding.argument.empty()) finding.argument = outside->buffer;
    finding.location = outside->place;
    finding.evidence += "; " + without_folders(outside->text, outside->place);
  }
  for (const RefusedLaunch& refused : outcome.answer.refused_launches)
    finding.evidence += "; " + refused.text;
  return finding;
}

/// What one size of the test's has come to so far.
struct Asked {
  std::vector<std::int64_t> right;
  double seconds = 0;
  std::size_t bytes = 0;
  bool done = false;
};

struct Meant {
  Approach approach;
  CallOutcome outcome;
};

/// The call with the whole numbers that come nearest to a right answer: two sizes that are one in the test
/// are two here, and nobody says which of them a number is.
Meant as_meant(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
               const std::vector<Form>& forms) {
  const auto better = [](const CallOutcome& a, const CallOutcome& b) {
    const bool a_keeps = access_outside(a) == nullptr, b_keeps = access_outside(b) == nullptr;
    return std::pair(a_keeps && a.right(), a.share()) > std::pair(b_keeps && b.right(), b.share());
  };
  Meant meant{approach, outcome};
  for (const Form& form : forms) {
    Approach other = approach;
    other.form = form;
    if (CallOutcome then = replay_once(other, replayed); better(then, meant.outcome))
      meant = {std::move(other), std::move(then)};
  }
  return meant;
}

/// Whether it is called with tensors, which say every size.
bool is_given_tensors(const Form& form) {
  return form.entry->form == Entry::Form::extension ||
         std::any_of(form.entry->parameters.begin(), form.entry->parameters.end(), [](const Parameter& each) {
           return each.kind == Parameter::Kind::tensor || each.kind == Parameter::Kind::optional_tensor;
         });
}

/// Coordinates are three in every call of the test: what they are more for, nobody asked.
bool is_always_so_few(const Replayed& replayed, const std::vector<Replayed>& calls) {
  constexpr std::int64_t kFew = 4;
  const std::int64_t size = replayed.call->size_before;
  if (size > kFew || calls.size() < 2) return false;
  for (const auto& [role, dim] : places_of_size(replayed))
    for (const Replayed& call : calls)
      if (dim >= 0 && role < call.values.size() && call.values[role].is_tensor() &&
          dim < call.values[role].tensor.rank && call.values[role].tensor.size(dim) != size)
        return false;
  return true;
}

/// Whether a function over raw memory is told the size at all: who is told one number for two that are one in
/// every call of the test, has no way to know.
bool knows_size(const Form& form, const Replayed& replayed) {
  if (is_given_tensors(form)) return true;
  const std::vector<Value> given = passed(form, replayed.values);
  return std::any_of(given.begin(), given.end(), [&](const Value& each) {
    return each.kind == Value::Kind::integer && each.integer % replayed.call->size == 0 && each.integer != 0;
  });
}

}  // namespace

namespace {

/// Whether whole numbers alone are others, a few of them, beside real ones that are right: which of several
/// equals is chosen is a matter of rounding.
bool chooses_another(const Replayed& replayed, const CallOutcome& outcome) {
  constexpr std::size_t kFew = 4;  // in so many there is one
  if (!outcome.answer.ok() || access_outside(outcome) != nullptr) return false;
  bool real = false;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const bool is_real = is_float(replayed.outputs[t].want.dtype);
    real = real || is_real;
    if (outcome.wrong[t] > 0 && (is_real || kFew * outcome.wrong[t] > outcome.got[t].size())) return false;
  }
  return real;
}

}  // namespace

void ask_larger(const Approach& approach, const std::vector<Replayed>& calls,
                const std::vector<Replayed>& larger, const OtherForms& other_forms,
                std::vector<Finding>& findings) {
  // An experiment that was found for the test's sizes need not hold for others.
  if (!approach.adaptations.empty() || (approach.form.launch != nullptr && !approach.form.launch->certain))
    return;
  Approach brief = approach;
  brief.settings.timeout_seconds = std::min(brief.settings.timeout_seconds, kOne);
  std::map<std::pair<std::int64_t, std::string>, Asked> sizes;
  double worked = 0;
  bool limited = false;
  for (const Replayed& replayed : larger) {
    Asked& asked = sizes[{replayed.call->size_before, dimensions_of_size(replayed)}];
    if (asked.right.empty()) asked.right = {replayed.call->size_before};
    const std::size_t bytes = bytes_of(replayed);
    const double foreseen =
        asked.bytes == 0 ? 0 : asked.seconds * static_cast<double>(bytes) / static_cast<double>(asked.bytes);
    if (asked.done || worked > kAll || foreseen > kForeseen || !keeps_shape(replayed, calls)) continue;
    if (is_given_tensors(approach.form) && is_always_so_few(replayed, calls)) continue;
    const CallOutcome outcome = replay_once(brief, replayed);
    worked += outcome.answer.worked_seconds;
    if (outcome.answer.launch_guessed) return;
    asked.seconds = outcome.answer.worked_seconds;
    asked.bytes = bytes;
    // What takes too long for this device says nothing.
    asked.done = lost(outcome) || !outcome.right();
    if (lost(outcome) || (outcome.right() && access_outside(outcome) == nullptr)) {
      if (!lost(outcome)) asked.right.push_back(replayed.call->size);
      continue;
    }
    SourcePlace place;
    if (const std::string why = why_not_taken(replayed, outcome, place); !why.empty()) {
      asked.done = true;
      if (!std::exchange(limited, true))
        add_once(findings, limit_of_size(replayed, with_and(asked.right), why, place));
      continue;
    }
    if (wrong_for_larger(brief, replayed, outcome, {}).code == Code::none ||
        chooses_another(replayed, outcome))
      continue;
    const Meant meant = as_meant(brief, replayed, outcome, other_forms(replayed));
    if (!knows_size(meant.approach.form, replayed)) continue;
    Finding finding = wrong_for_larger(meant.approach, replayed, meant.outcome, with_and(asked.right));
    if (finding.code == Code::none) continue;
    const std::string source = source_of(*approach.candidate);
    const bool room = says_room(source, {}, asked.right.back(), replayed.call->size);
    if (room || says_cases(source, asked.right.front(), replayed.call->size)) {
      if (!std::exchange(limited, true))
        add_once(findings, limit_of_size(replayed, with_and(asked.right),
                                         room ? "a constant of the source says that there is room for no more"
                                              : "the source chooses between sizes, and this is none of them",
                                         finding.location));
      continue;
    }
    add_once(findings, std::move(finding));
  }
}

}  // namespace isomer::lab
