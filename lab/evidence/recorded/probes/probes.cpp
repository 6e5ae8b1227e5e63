#include "lab/evidence/recorded/probes/probes.hpp"

#include "core/codec.hpp"
#include "lab/evidence/probes/watched.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// Whether what came back has other dimensions.
bool other_shape(const Value& a, const Value& b) {
  return a.is_tensor() && b.is_tensor() &&
         !std::equal(a.tensor.shape.begin(), a.tensor.shape.begin() + a.tensor.rank, b.tensor.shape.begin(),
                     b.tensor.shape.begin() + b.tensor.rank);
}

std::size_t changed_between(const CallOutcome& a, const CallOutcome& b) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < a.got.size() && t < b.got.size(); ++t) {
    // What has another shape then is another answer.
    if (a.got[t].size() != b.got[t].size()) ++count;
    if (t < a.values.size() && t < b.values.size() && other_shape(a.values[t], b.values[t])) ++count;
    for (std::size_t i = 0; i < a.got[t].size() && i < b.got[t].size(); ++i)
      count += !same_value(a.got[t][i], b.got[t][i]);
  }
  return count;
}

/// A tensor with its elements in reverse order: values that it may have, at other places.
void reverse(Value& value) {
  Value turned = compact_copy(value);
  const std::vector<double> elements = oracle::elements(value.tensor);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::size_t i = 0; i < elements.size(); ++i)
    core::encode(value.tensor.dtype, elements[elements.size() - 1 - i],
                 static_cast<std::byte*>(turned.storage.get()) + i * size);
  value = std::move(turned);
}

/// Every element made the first one: a value that it may have.
void fill_with_first(Value& value) {
  Value filled = compact_copy(value);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  auto* bytes = static_cast<std::byte*>(filled.storage.get());
  for (std::int64_t i = 1; i < value.tensor.numel(); ++i)
    std::copy_n(bytes, size, bytes + static_cast<std::size_t>(i) * size);
  value = std::move(filled);
}

/// What of an answer is no finite number is -inf.
bool is_below_all(const CallOutcome& outcome) {
  return std::all_of(outcome.got.begin(), outcome.got.end(), [](const std::vector<double>& got) {
    return std::all_of(got.begin(), got.end(), [](double each) { return std::isfinite(each) || each < 0; });
  });
}

/// Takes its largest element from each row.
void lower_rows(Value& value) {
  if (value.tensor.rank == 0) return;
  Value lowered = compact_copy(value);
  const std::vector<double> elements = oracle::elements(value.tensor);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype)),
             width = static_cast<std::size_t>(value.tensor.size(-1));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto row = elements.begin() + static_cast<std::ptrdiff_t>(i / width * width);
    core::encode(value.tensor.dtype,
                 elements[i] - *std::max_element(row, row + static_cast<std::ptrdiff_t>(width)),
                 static_cast<std::byte*>(lowered.storage.get()) + i * size);
  }
  value = std::move(lowered);
}

bool is_index_of_label(const Facts* facts, const Replayed& replayed, const std::string& name) {
  const LabelFunction* label = facts == nullptr ? nullptr : facts->function(replayed.call->function);
  return label != nullptr && std::any_of(label->indexes.begin(), label->indexes.end(),
                                         [&](const IndexUse& use) { return use.index == name; });
}

/// Whether the reference's answer is other where its elements are in reverse: not, where all are alike.
bool is_alike(const Value& value) {
  const std::vector<double> elements = oracle::elements(value.tensor);
  for (std::size_t i = 0; i < elements.size() / 2; ++i)
    if (!same_value(elements[i], elements[elements.size() - 1 - i])) return false;
  return true;
}

/// Whole numbers in place of others: those that an output of as many has. False where there is none.
bool fill_with_chosen(Value& value, const CallOutcome& outcome) {
  const auto count = static_cast<std::size_t>(value.tensor.numel());
  const auto got = std::find_if(outcome.got.begin(), outcome.got.end(),
                                [&](const std::vector<double>& each) { return each.size() == count; });
  if (got == outcome.got.end() || count == 0) return false;
  Value filled = compact_copy(value);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite((*got)[i]) || (*got)[i] != std::floor((*got)[i])) return false;
    core::encode(value.tensor.dtype, (*got)[i], static_cast<std::byte*>(filled.storage.get()) + i * size);
  }
  value = std::move(filled);
  return true;
}

bool is_zero(const Value& value) {
  if (!value.is_tensor() || !is_float(value.tensor.dtype) || value.tensor.numel() < 2) return false;
  const std::vector<double> elements = oracle::elements(value.tensor);
  return std::all_of(elements.begin(), elements.end(), [](double each) { return each == 0; });
}

/// Small values in the place of zeros, no two neighbours and no two arguments (`which`) alike.
void fill_counting(Value& value, std::size_t which) {
  Value filled = compact_copy(value);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::int64_t i = 0; i < value.tensor.numel(); ++i)
    core::encode(value.tensor.dtype,
                 0.25 * static_cast<double>((i + 3 * static_cast<std::int64_t>(which)) % 11) - 1,
                 static_cast<std::byte*>(filled.storage.get()) + static_cast<std::size_t>(i) * size);
  value = std::move(filled);
}

/// An output that is infinite or NaN throughout, whatever it depends on.
bool lost_in_infinities(const CallOutcome& outcome) {
  return std::any_of(outcome.got.begin(), outcome.got.end(), [](const std::vector<double>& got) {
    return !got.empty() &&
           std::none_of(got.begin(), got.end(), [](double each) { return std::isfinite(each); });
  });
}

/// Outputs that are all as they were before the call depend on nothing, and that is no fault of an argument.
bool writes_nothing(const Replayed& replayed, const CallOutcome& outcome) {
  if (std::all_of(outcome.got.begin(), outcome.got.end(), [](const auto& each) { return each.empty(); }))
    return true;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    if (!replayed.outputs[t].before.defined()) return false;
    const std::vector<double> before = oracle::elements(replayed.outputs[t].before);
    if (before.size() != outcome.got[t].size()) return false;
    for (std::size_t i = 0; i < before.size(); ++i)
      if (!same_value(before[i], outcome.got[t][i])) return false;
  }
  return true;
}

/// Whether a name says a size, or how something is launched: a port may have it from elsewhere.
bool is_extent(const std::string& name) {
  static const Pattern extent(
      "[a-z]|.*(size|len|length|dim|count|num|rows|cols|heads|block|tile|warps|stages|max|groups?|stride|"
      "width|"
      "height|total|batch|chunk|page).*|n_.*");
  return extent.is(lower_case(name));
}

/// Whether the label's answer was asked for, and does not depend on the argument either: in this call, or in
/// the first of its kind.
/// Whether the label was asked of other arguments or calls, and not whether it depends on that one in this.
bool is_not_asked(const Replayed& replayed, std::size_t role) {
  const std::vector<bool>& asked = replayed.call->idle_asked;
  return replayed.asks_idle && (role >= asked.size() || !asked[role]);
}

bool is_idle_in_label(const Facts* facts, const Replayed& replayed, std::size_t role) {
  const std::vector<bool>& idle = replayed.call->idle;
  const std::string& name = replayed.roles[role].name;
  return (role < idle.size() && idle[role]) ||
         (facts != nullptr &&
          std::any_of(facts->influence.begin(), facts->influence.end(), [&](const LabelInfluence& each) {
            return each.dim < 0 && !each.first && each.function == replayed.call->function &&
                   each.argument == name;
          }));
}

/// A number that callers leave at the original's default, and that has no influence on a wrong answer.
void tell_default(const Approach& approach, const Replayed& replayed, const CallOutcome& base, std::size_t at,
                  std::vector<Finding>& findings) {
  const Parameter& parameter = approach.form.entry->parameters[at];
  const double value = approach.form.passings[at].constant;
  const bool left = std::any_of(replayed.left_out.begin(), replayed.left_out.end(), [&](const Value& each) {
    return each.name == parameter.name && each.kind == Value::Kind::real;
  });
  if (!left || parameter.kind != Parameter::Kind::real || std::fabs(value) < 1e-2) return;
  Approach other = approach;
  for (const double made : {-3 * value, 0.25 * value}) {
    other.form.passings[at].constant = made;
    const CallOutcome after = replay_once(other, replayed);
    if (!after.answer.ok() || changed_between(base, after) > 0) return;
  }
  Finding finding;
  finding.code = Code::ignores_argument;
  finding.argument = parameter.name;
  finding.evidence = fmt::format(
      "'{}': with {} {:g} or {:g} instead of {:g}, the original's default, no element of the answer changes",
      replayed.line, parameter.name, -3 * value, 0.25 * value, value);
  finding.fix = fmt::format("use {}", parameter.name);
  add_once(findings, std::move(finding));
}

}  // namespace

double filled_with(DType dtype, std::uint8_t byte) {
  std::byte bytes[8];
  std::fill(std::begin(bytes), std::end(bytes), std::byte{byte});
  return core::decode(dtype, bytes);
}

bool depends_on(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                std::size_t role) {
  Replayed other = replayed;
  for (const auto change : {&reverse, &fill_with_first}) {
    other.values[role] = replayed.values[role];
    change(other.values[role]);
    const CallOutcome after = replay_once(approach, other);
    if (after.answer.ok() && changed_between(outcome, after) > 0) return true;
  }
  return false;
}

void probe_ignored(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                   const Facts* facts, std::vector<Finding>& findings) {
  if (!outcome.answer.ok() || outcome.elements == 0 || writes_nothing(replayed, outcome)) return;
  // Of zeros alone nothing depends on what is done with them: logits 0 have one loss whatever scales them.
  Replayed lively = replayed;
  bool zeros = false;
  for (std::size_t r = 0; r < replayed.roles.size(); ++r)
    if (!replayed.roles[r].output && is_zero(replayed.values[r])) {
      fill_counting(lively.values[r], r);
      zeros = true;
    }
  const CallOutcome base = zeros ? replay_once(approach, lively) : outcome;
  if (!base.answer.ok() || lost_in_infinities(base)) return;
  for (std::size_t i = 0; i < approach.form.passings.size(); ++i) {
    const Passing& passing = approach.form.passings[i];
    if (passing.what == What::constant && !outcome.right()) tell_default(approach, lively, base, i, findings);
    if (passing.what != What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    if (replayed.roles[role].output) continue;
    const Value& value = lively.values[role];
    const std::string& name = replayed.roles[role].name;
    const bool index = value.is_tensor() && is_index_of_label(facts, replayed, name);
    if (outcome.right() && !index) continue;
    if (is_idle_in_label(facts, replayed, role) || (outcome.right() && is_not_asked(replayed, role)))
      continue;
    Replayed other = lively;
    Value& changed = other.values[role];
    std::string how;
    if (value.is_tensor() && value.tensor.numel() > 1 && !is_alike(value)) {
      reverse(changed);
      how = "in reverse order";
    } else if (value.kind == Value::Kind::real) {
      // Far off: a small change of a small number is lost beside the others.
      changed.real = std::fabs(value.real) < 1e-2 ? 1 : -3 * value.real;
      how = fmt::format("{:g} instead of {:g}", changed.real, value.real);
    } else if (value.kind == Value::Kind::boolean) {
      changed.integer = value.integer == 0 ? 1 : 0;
      how = changed.integer != 0 ? "True instead of False" : "False instead of True";
    } else if (value.kind == Value::Kind::integer && value.integer > 0 && !is_extent(name)) {
      changed.integer = value.integer + 1;
      how = fmt::format("{} instead of {}", changed.integer, value.integer);
    } else {
      continue;
    }
    CallOutcome after = replay_once(approach, other);
    if (!after.answer.ok() || changed_between(base, after) > 0) continue;
    if (value.is_tensor()) {  // a sum or a count has no order
      changed = value;
      fill_with_first(changed);
      after = replay_once(approach, other);
      if (!after.answer.ok() || changed_between(base, after) > 0) continue;
    }
    // What a choice leaves out is seen where it is what was chosen.
    if (value.is_tensor() && !is_float(value.tensor.dtype)) {
      changed = value;
      if (fill_with_chosen(changed, base)) {
        after = replay_once(approach, other);
        if (!after.answer.ok() || changed_between(base, after) > 0) continue;
      }
    }
    if (value.kind == Value::Kind::integer) {
      // A bound from above that nothing reaches is met from below.
      bool used = false;
      for (const std::int64_t far : {3 * value.integer + 2, value.integer / 3}) {
        if (used) break;
        changed.integer = far;
        after = replay_once(approach, other);
        used = !after.answer.ok() || changed_between(base, after) > 0;
      }
      if (used) continue;
    }
    if (value.kind == Value::Kind::real) {  // a bound that nothing reaches is looked at all the same
      changed.real = 0.25 * value.real;
      after = replay_once(approach, other);
      if (!after.answer.ok() || changed_between(base, after) > 0) continue;
    }
    Finding finding;
    const bool small = value.kind == Value::Kind::real && std::fabs(value.real) < 1e-2;
    finding.code = index ? Code::ignores_index : small ? Code::epsilon : Code::ignores_argument;
    finding.argument = name;
    finding.evidence = fmt::format("'{}': with {} {} no element of the answer changes{}", replayed.line, name,
                                   how, index ? ", although the label uses it as an index" : "");
    finding.fix = fmt::format("use {}", name);
    add_once(findings, std::move(finding));
  }
}

namespace {

/// Whether the label, asked for it, gives numbers where that argument is large.
bool may_be_large(const Replayed& replayed, std::size_t role) {
  const auto& names = replayed.may_be_large;
  return !names || std::find(names->begin(), names->end(), replayed.roles[role].name) != names->end();
}

}  // namespace

void probe_overflow(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    const Facts* facts, std::vector<Finding>& findings) {
  if (!outcome.answer.ok() || facts == nullptr || !facts->subtracts_maximum) return;
  // Threads that meet in no order lose the maximum as they lose anything else.
  if (std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
        return each.code == Code::missing_barrier || each.code == Code::race;
      }))
    return;
  constexpr double kLarge = 2000;  // e^89 overflows f32, and a scale may lie before it
  // Infinity in a narrow type may be what the original gives too.
  const auto not_finite = [&](const CallOutcome& of) {
    std::size_t count = 0;
    for (std::size_t t = 0; t < of.got.size(); ++t)
      for (const double each : of.got[t])
        count += std::isnan(each) || (std::isinf(each) && size_of(replayed.outputs[t].want.dtype) >= 4);
    return count;
  };
  if (not_finite(outcome) > 0) return;
  std::vector<std::size_t> kept;  // inputs that may be as large as they like: their maximum is taken
  for (std::size_t i = 0; i < approach.form.passings.size(); ++i) {
    const Passing& passing = approach.form.passings[i];
    if (passing.what != What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    if (replayed.roles[role].output || !value.is_tensor() || !is_float(value.tensor.dtype)) continue;
    std::vector<double> elements = oracle::elements(value.tensor);
    double largest = 0;
    for (const double each : elements)
      largest = std::isfinite(each) ? std::max(largest, std::fabs(each)) : largest;
    if (largest == 0 || largest >= kLarge || !may_be_large(replayed, role)) continue;
    Replayed other = replayed;
    Value scaled = compact_copy(value);
    const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
    for (std::size_t e = 0; e < elements.size(); ++e)
      core::encode(value.tensor.dtype, elements[e] * (kLarge / largest),
                   static_cast<std::byte*>(scaled.storage.get()) + e * size);
    other.values[role] = std::move(scaled);
    const CallOutcome after = replay_once(approach, other);
    const std::size_t count = after.answer.ok() ? not_finite(after) : 0;
    if (count == 0 && after.answer.ok()) kept.push_back(role);
    // What is added to it behind its maximum is large in the original's exponentials too.
    const auto same_shape = [&](std::size_t other_role) {
      const Tensor &a = replayed.values[other_role].tensor, &b = value.tensor;
      return a.rank == b.rank && std::equal(a.shape.begin(), a.shape.begin() + a.rank, b.shape.begin());
    };
    if (count == 0 || std::any_of(kept.begin(), kept.end(), same_shape)) continue;
    // Sums of nothing are divided by as well: large values that differ no more than before show the
    // exponentials.
    Replayed raised = replayed;
    Value high = compact_copy(value);
    for (std::size_t e = 0; e < elements.size(); ++e)
      core::encode(value.tensor.dtype, elements[e] + kLarge,
                   static_cast<std::byte*>(high.storage.get()) + e * size);
    raised.values[role] = std::move(high);
    if (const CallOutcome then = replay_once(approach, raised); then.answer.ok() && not_finite(then) == 0)
      continue;
    // The logarithm of nothing is -inf as well: where rows have a largest element of 0 no exponential
    // overflows.
    if (is_below_all(after)) {
      lower_rows(other.values[role]);
      const CallOutcome lowered = replay_once(approach, other);
      if (lowered.answer.ok() && not_finite(lowered) > 0) continue;
    }
    Finding finding;
    finding.code = Code::missing_max_subtraction;
    finding.argument = replayed.roles[role].name;
    finding.evidence = fmt::format(
        "'{}': with {} multiplied by {:.3g}, so that its largest element is {:g}, {} of {} elements of the "
        "answer are NaN or infinite; the label takes a maximum before its exponentials",
        replayed.line, finding.argument, kLarge / largest, kLarge, count, after.elements);
    finding.fix = "subtract the maximum of the row before the exponential";
    add_once(findings, std::move(finding));
    return;
  }
}

void probe_memory(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                  std::vector<Finding>& findings) {
  if (!outcome.answer.ok()) return;
  // Fresh memory with other contents: what changes was never written, or depends on what was not.
  Approach other = approach;
  other.settings.poison = kLargePoison;
  CallOutcome poisoned = replay_once(other, replayed);
  // A maximum that is begun with either is NaN, or infinite.
  if (poisoned.answer.ok() && lost_in_infinities(outcome) && lost_in_infinities(poisoned)) {
    other.settings.poison = kNegativePoison;
    poisoned = replay_once(other, replayed);
  }
  // Shared memory that nobody has written yet carries the fill into what is written; who never ends writes
  // nothing.
  const bool caused = std::any_of(findings.begin(), findings.end(), [](const Finding& each) {
    return each.code == Code::missing_barrier || each.code == Code::uninitialised_read ||
           each.code == Code::timeout;
  });
  for (std::size_t t = 0; poisoned.answer.ok() && !caused && t < replayed.outputs.size(); ++t) {
    std::size_t changed = 0, kept = 0, first = 0;
    const double filled = filled_with(poisoned.values[t].tensor.dtype, other.settings.poison);
    for (std::size_t i = 0; i < std::min(outcome.got[t].size(), poisoned.got[t].size()); ++i) {
      if (same_value(outcome.got[t][i], poisoned.got[t][i])) continue;
      if (changed++ == 0) first = i;
      kept += poisoned.got[t][i] == filled;
    }
    if (changed == 0) continue;
    const bool unwritten = 2 * kept >= changed;
    Finding finding;
    finding.code = unwritten ? Code::unwritten_output : Code::uninitialised_read;
    finding.argument = replayed.outputs[t].name;
    finding.evidence = fmt::format(
        "'{}': {} of {} elements {}: two fills gave two answers (first element {})", replayed.line, changed,
        outcome.got[t].size(),
        unwritten ? "keep what fresh memory held before" : "depend on what fresh memory held before", first);
    finding.fix = unwritten ? "write every element of the output"
                            : "initialise the memory before reading it, adding to it or comparing with it";
    add_once(findings, std::move(finding));
  }
  Approach again = approach;
  again.settings.repeats = calls_for_state(outcome.answer, again.settings);
  const CallOutcome second = replay_once(again, replayed);
  if (!second.answer.ok()) return;
  results_of_device(second.answer, replayed.line, findings);
  std::size_t worse = 0;
  for (std::size_t t = 0; t < second.wrong.size(); ++t)
    if (second.wrong[t] > outcome.wrong[t]) worse += second.wrong[t] - outcome.wrong[t];
  if (worse == 0) return;
  Finding finding;
  finding.code = Code::stale_state;
  finding.evidence = fmt::format(
      "'{}': after {} with zeros at the same addresses, {} more elements are wrong than in a first call",
      replayed.line, calls_before(again.settings), worse);
  finding.fix = "keep no state between calls";
  add_once(findings, std::move(finding));
}

}  // namespace isomer::lab
