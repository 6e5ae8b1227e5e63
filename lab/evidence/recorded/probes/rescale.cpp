#include "lab/evidence/recorded/probes/probes.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace isomer::lab {
namespace {

using What = Passing::What;
using Elements = std::vector<double>;
using Order = std::vector<std::size_t>;

/// Per element of the rows in descending order, which element it is.
Order descending(const Elements& elements, std::size_t width) {
  Order order(elements.size());
  std::iota(order.begin(), order.end(), 0u);
  for (std::size_t row = 0; row + width <= order.size(); row += width)
    std::stable_sort(order.begin() + static_cast<std::ptrdiff_t>(row),
                     order.begin() + static_cast<std::ptrdiff_t>(row + width),
                     [&](std::size_t a, std::size_t b) { return elements[a] > elements[b]; });
  return order;
}

bool has_rows(const Value& value) {
  return value.is_tensor() && !value.tensor.empty() && is_float(value.tensor.dtype) &&
         value.tensor.rank > 0 && value.tensor.size(-1) > 2;
}

/// The call with each row of one tensor in descending order, and its answers in the order of before.
Adaptation sorted(const Replayed& replayed, std::size_t role) {
  const Value& value = replayed.values[role];
  const Elements elements = oracle::elements(value.tensor);
  const Order order = descending(elements, static_cast<std::size_t>(value.tensor.size(-1)));
  Adaptation adaptation;
  adaptation.before = [role, elements, order](std::vector<Value>& values) {
    Value laid = compact_copy(values[role]);
    const DType dtype = laid.tensor.dtype;
    const auto size = static_cast<std::size_t>(size_of(dtype));
    for (std::size_t i = 0; i < order.size(); ++i)
      core::encode(dtype, elements[order[i]], static_cast<std::byte*>(laid.storage.get()) + i * size);
    values[role] = std::move(laid);
  };
  adaptation.after = [order](const Replayed::Output&, Elements got) {
    if (got.size() != order.size()) return got;  // a number of each row
    Elements back(got.size());
    for (std::size_t i = 0; i < got.size(); ++i) back[order[i]] = got[i];
    return back;
  };
  return adaptation;
}

Value filled(const Value& value, double number) {
  Value made = compact_copy(value);
  const auto size = static_cast<std::size_t>(size_of(value.tensor.dtype));
  for (std::int64_t i = 0; i < made.tensor.numel(); ++i)
    core::encode(made.tensor.dtype, number,
                 static_cast<std::byte*>(made.storage.get()) + static_cast<std::size_t>(i) * size);
  return made;
}

/// Whether each element of the reference lies between the least and the largest of a tensor, as averages do.
bool may_be_averages(const Tensor& want, const Tensor& of) {
  const Elements averages = oracle::elements(want), elements = oracle::elements(of);
  const auto [least, most] = std::minmax_element(elements.begin(), elements.end());
  return std::all_of(averages.begin(), averages.end(),
                     [&, low = *least, high = *most](double each) { return each >= low && each <= high; });
}

/// How far an answer is from 1, at most; infinite where it is none.
double off_one(const CallOutcome& outcome) {
  if (!outcome.answer.ok() || outcome.got.size() != 1 || outcome.got.front().empty()) return INFINITY;
  double off = 0;
  for (const double each : outcome.got.front())
    off = std::isfinite(each) ? std::max(off, std::fabs(each - 1)) : INFINITY;
  return off;
}

/// Of values that are all 1 every average is 1. Where it is that only as long as all weights are alike, sums
/// of other weights are put together.
bool averages_of_ones(const Approach& approach, const Replayed& replayed, std::vector<Finding>& findings) {
  constexpr double kClose = 1e-2;
  if (replayed.outputs.size() != 1 || !is_float(replayed.outputs.front().want.dtype)) return false;
  const Tensor& want = replayed.outputs.front().want;
  const auto may = [&](const Passing& passing) {
    if (passing.what != What::role) return false;
    const auto role = static_cast<std::size_t>(passing.role);
    return !replayed.roles[role].output && has_rows(replayed.values[role]);
  };
  for (const Passing& values : approach.form.passings) {
    if (!may(values)) continue;
    const auto role = static_cast<std::size_t>(values.role);
    const Value& given = replayed.values[role];
    if (want.rank < 2 || given.tensor.rank < 2 || given.tensor.size(-1) != want.size(-1) ||
        !may_be_averages(want, given.tensor))
      continue;
    Replayed ones = replayed;
    ones.values[role] = filled(given, 1);
    const double off = off_one(replay_once(approach, ones));
    if (!std::isfinite(off) || off < kClose) continue;
    for (const Passing& scores : approach.form.passings) {
      if (!may(scores) || scores.role == values.role) continue;
      Replayed even = ones;
      even.values[static_cast<std::size_t>(scores.role)] =
          filled(replayed.values[static_cast<std::size_t>(scores.role)], 0);
      if (off_one(replay_once(approach, even)) > 1e-4) continue;
      Finding finding;
      finding.code = Code::missing_rescale;
      finding.argument = replayed.roles[role].name;
      finding.evidence = fmt::format(
          "'{}': with every element of {} made 1, of which every average is 1, the answer is off by up to "
          "{:.3g}; "
          "if {} is 0 besides, so that all weights are alike, it is 1",
          replayed.line, finding.argument, off, replayed.roles[static_cast<std::size_t>(scores.role)].name);
      finding.fix =
          "when a larger maximum is found, multiply the earlier sums, of weights and of weighted values, by "
          "the "
          "exponential of the old maximum minus the new one";
      add_once(findings, std::move(finding));
      return true;
    }
  }
  return false;
}

}  // namespace

bool probe_rescale(const Approach& approach, const std::vector<Replayed>& calls,
                   const std::vector<CallOutcome>& outcomes, const Facts* facts,
                   std::vector<Finding>& findings) {
  if (facts == nullptr || !facts->subtracts_maximum) return false;
  const auto wrong = static_cast<std::size_t>(
      std::find_if(outcomes.begin(), outcomes.end(),
                   [](const CallOutcome& each) { return each.answer.ok() && !each.right(); }) -
      outcomes.begin());
  if (wrong == outcomes.size()) return false;
  // Places change with the order, and what is chosen by size comes first in it.
  for (const Replayed::Output& output : calls[wrong].outputs)
    if (!is_float(output.want.dtype)) return false;
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    if (calls[wrong].roles[role].output || !has_rows(calls[wrong].values[role])) continue;
    std::size_t right = 0, before = 0;
    bool all = true;
    for (std::size_t i = 0; i < calls.size() && all; ++i) {
      before += outcomes[i].right();
      if (!has_rows(calls[i].values[role])) continue;
      Approach other = approach;
      other.adaptations.insert(other.adaptations.begin(), sorted(calls[i], role));
      all = replay_once(other, calls[i]).right();
      right += all;
    }
    if (!all) continue;
    Finding finding;
    finding.code = Code::missing_rescale;
    finding.argument = calls[wrong].roles[role].name;
    finding.evidence = fmt::format(
        "'{}': the answer is right if each row of {} is passed in descending order, with its maximum first "
        "({} of {} calls are right, and in this order {})",
        calls[wrong].line, finding.argument, before, calls.size(), right);
    finding.fix =
        "when a larger maximum is found, multiply the earlier sums by the exponential of the old maximum "
        "minus the new one";
    add_once(findings, std::move(finding));
    return true;
  }
  return averages_of_ones(approach, calls[wrong], findings);
}

}  // namespace isomer::lab
