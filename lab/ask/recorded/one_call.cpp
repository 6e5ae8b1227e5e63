#include "lab/ask/recorded/replayed.hpp"
#include "oracle/expected.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

namespace isomer::lab {
namespace {

/// What comes of a call for which no time is left: nothing, and nothing is said of the candidate.
CallOutcome not_asked(const Replayed& replayed) {
  CallOutcome outcome;
  outcome.answer.end = Answer::End::timed_out;
  for (const Replayed::Output& output : replayed.outputs) {
    const auto elements = static_cast<std::size_t>(output.want.numel());
    outcome.elements += elements;
    outcome.values.emplace_back();
    outcome.got.emplace_back();
    outcome.wrong.push_back(std::max<std::size_t>(elements, 1));
  }
  return outcome;
}

/// Whether so few elements of a large answer in halves are off, and so little, that its rounding on the way
/// explains them: a bound that holds for all but one in ten thousand is the bound of a right port.
bool is_tail_of_halves(const Replayed::Output& output, const std::vector<double>& want,
                       const std::vector<double>& got, const std::vector<double>& bounds, std::size_t wrong) {
  constexpr double kRare = 1e-4, kNear = 4;
  const bool halves = output.want.dtype == DType::f16 || output.want.dtype == DType::bf16;
  if (!halves || static_cast<double>(wrong) > kRare * static_cast<double>(want.size())) return false;
  for (std::size_t i = 0; i < want.size(); ++i)
    if (!is_close(want[i], got[i], kNear * bounds[i])) return false;
  return true;
}

}  // namespace

bool AnsweredGroup::right() const {
  return std::all_of(outcomes.begin(), outcomes.end(), [](const CallOutcome& each) { return each.right(); });
}

std::size_t CallOutcome::right_outputs() const {
  std::size_t count = 0;
  for (std::size_t i = 0; i < wrong.size(); ++i) count += wrong[i] == 0;
  return answer.ok() ? count : 0;
}

double CallOutcome::share() const {
  std::size_t all = 0;
  for (const std::size_t each : wrong) all += each;
  if (!answer.ok()) return 0;
  return elements == 0 ? 1 : 1 - static_cast<double>(all) / static_cast<double>(elements);
}

Replayed with_poison(const Replayed& replayed) {
  Replayed poisoned = replayed;
  for (std::size_t r = replayed.call->before.size(); r < replayed.roles.size(); ++r) {
    Value& value = poisoned.values[r];
    if (!value.is_tensor()) continue;
    value = deep_copy(value);
    std::memset(value.storage.get(), 0xff, value.storage_bytes);
  }
  return poisoned;
}

CallOutcome replay_once(const Approach& approach, const Replayed& replayed) {
  if (approach.left != nullptr && *approach.left <= 0) return not_asked(replayed);
  std::vector<Value> values = replayed.values;
  if (!approach.adaptations.empty())
    for (Value& value : values) value = deep_copy(value);
  for (const Adaptation& adaptation : approach.adaptations)
    if (adaptation.before) adaptation.before(values);
  CallOutcome outcome;
  const std::vector<Value> arguments = passed(approach.form, values);
  const auto begin = std::chrono::steady_clock::now();
  outcome.answer = approach.candidate->call(*approach.form.entry, arguments, approach.settings);
  if (approach.left != nullptr)
    *approach.left -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  // Where the original returns None among its tensors, nothing stands for it.
  if (outcome.answer.returned.size() > approach.form.returned.size())
    std::erase_if(outcome.answer.returned, [](const Value& each) { return each.kind == Value::Kind::none; });
  for (const Replayed::Output& output : replayed.outputs) {
    Value came;
    if (outcome.answer.ok()) {
      for (std::size_t i = 0; i < approach.form.returned.size() && i < outcome.answer.returned.size(); ++i)
        if (approach.form.returned[i] == output.role) came = outcome.answer.returned[i];
      for (std::size_t i = 0; i < approach.form.passings.size() && i < outcome.answer.arguments.size(); ++i)
        if (!came.is_tensor() && approach.form.passings[i].what == Passing::What::role &&
            approach.form.passings[i].role == output.role)
          came = outcome.answer.arguments[i];
      if (const auto held = approach.form.in_place.find(output.role);
          held != approach.form.in_place.end() &&
          static_cast<std::size_t>(held->second) < outcome.answer.arguments.size())
        came = outcome.answer.arguments[static_cast<std::size_t>(held->second)];
    }
    const std::vector<double> want = oracle::elements(output.want);
    outcome.elements += want.size();
    std::vector<double> got;
    if (came.is_tensor()) got = oracle::elements(came.tensor);
    if (got.size() == want.size())
      for (auto it = approach.adaptations.rbegin(); it != approach.adaptations.rend(); ++it)
        if (it->after) got = it->after(output, std::move(got));
    for (std::size_t i = 0; i < std::min(got.size(), output.open.size()); ++i)
      if (output.open[i] != 0) got[i] = 0;
    std::size_t wrong = 0;
    if (!came.is_tensor() || got.size() != want.size()) {
      wrong = output.again && !came.is_tensor() ? 0 : std::max<std::size_t>(want.size(), 1);
      got.clear();
    } else {
      const std::vector<double> bounds = bounds_of(approach, output, want);
      for (std::size_t i = 0; i < want.size(); ++i) wrong += !is_close(want[i], got[i], bounds[i]);
      if (wrong > 0 && is_tail_of_halves(output, want, got, bounds, wrong)) wrong = 0;
    }
    outcome.values.push_back(std::move(came));
    outcome.got.push_back(std::move(got));
    outcome.wrong.push_back(wrong);
  }
  return outcome;
}

std::size_t bytes_of(const Replayed& replayed) {
  std::size_t bytes = 0;
  for (const Value& value : replayed.values) bytes += value.storage_bytes;
  return bytes;
}

bool lost(const CallOutcome& outcome) {
  return outcome.answer.end == Answer::End::timed_out || outcome.answer.end == Answer::End::over_limit ||
         outcome.answer.end == Answer::End::too_large;
}

}  // namespace isomer::lab
