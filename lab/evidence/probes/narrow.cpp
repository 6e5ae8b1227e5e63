#include "lab/evidence/probes/probes.hpp"

#include "lab/evidence/probes/watched.hpp"
#include "lab/evidence/variations/changed_answers.hpp"
#include "lab/findings/source_places.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr std::int64_t kOf16Bits = std::int64_t{1} << 16;  // elements: the first index that 16 bits have not
constexpr std::int64_t kMostOfNarrow = 12 * kOf16Bits;     // of a call, its inputs among them
constexpr double kMostStepsOfNarrow = 64;                  // for each of them

/// The line's call of so many rows, or columns, that an output has twice as many elements as an index of 16
/// bits tells apart; null where the op takes no such call, or it is a long one.
std::shared_ptr<const Given> of_many_elements(const Subjected& s, const std::string& line) {
  constexpr std::int64_t kFewOfLine = 8;
  try {
    const auto outputs = [](const Given& given) {
      std::int64_t most = 0;
      for (const oracle::ExpectedTensor& each : given.plain.tensors)
        most = std::max(most, static_cast<std::int64_t>(each.value.size()));
      return most;
    };
    const std::int64_t of_few = outputs(*given_by_line(s.port, line + std::to_string(kFewOfLine), s.dtypes));
    if (of_few == 0) return nullptr;
    const std::int64_t size = 2 * kOf16Bits * kFewOfLine / of_few + 3;
    std::shared_ptr<const Given> given = given_by_line(s.port, line + std::to_string(size), s.dtypes);
    std::int64_t elements = 0;
    for (const Value& value : given->values)
      if (value.is_tensor()) elements += value.tensor.numel();
    const core::Call& call = given->problem->call();
    const bool light = call.contract->work &&
                       call.contract->work(call).flops <= kMostStepsOfNarrow * static_cast<double>(elements);
    return light && elements <= kMostOfNarrow && outputs(*given) > kOf16Bits ? given : nullptr;
  } catch (const Error&) {  // the op does not take it
    return nullptr;
  }
}

/// Whether an output is as an index of 16 bits leaves it: nothing is written behind the row in which the last
/// of them is, or nothing is wrong before the first that they have not, or that is negative in them.
bool is_wrapped(const Given& given, const Trial& trial, const oracle::ExpectedTensor& want, std::size_t t) {
  const auto size = static_cast<std::int64_t>(want.value.size());
  const std::int64_t row = want.shape.empty() ? 1 : want.shape.back();
  if (size <= kOf16Bits + row) return false;
  bool behind = false, before = false;
  std::int64_t first_wrong = size;
  for (std::int64_t i = 0; i < size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (!want.written[at] || given.open[t][at]) continue;
    if (i >= kOf16Bits + row) behind = behind || trial.untouched[t][at] == 0;
    if (i < kOf16Bits / 2) before = before || trial.untouched[t][at] == 0;
    if (!holds(want, at, trial.outputs[t][at])) first_wrong = std::min(first_wrong, i);
  }
  return (before && !behind) || (first_wrong >= kOf16Bits / 2 && first_wrong < size);
}

}  // namespace

void probe_narrow_indices(const Subjected& s, Probed& found) {
  if (!s.explained || !s.memory_safe || !found.findings.empty() ||
      line_of(s.source, {R"(\b(unsigned short|short|u?int16_t|ushort)\b)"}) == 0)
    return;
  for (const std::string& line : s.port.original->sizes) {
    const std::shared_ptr<const Given> given = of_many_elements(s, line);
    if (given == nullptr) continue;
    ++found.calls;
    const Trial trial = try_call(s.candidate, s.form, s.port, *given, s.settings);
    std::vector<Finding> seen;  // elements that are stored in one place, or outside
    findings_of_device(trial.answer, *given, seen);
    if (!trial.ok() || !trial.answer.refused_launches.empty()) continue;
    const oracle::Expected want = varied(*given, *s.port.oracle, oracle::Variations(s.set));
    std::size_t wrong = 0, all = 0;
    bool wraps = false;
    const oracle::ExpectedTensor* first = nullptr;
    for (std::size_t t = 0; t < want.tensors.size(); ++t) {
      wraps = wraps || is_wrapped(*given, trial, want.tensors[t], t);
      for (std::size_t i = 0; i < want.tensors[t].value.size(); ++i) {
        if (given->open[t][i] || !want.tensors[t].written[i]) continue;
        ++all;
        if (holds(want.tensors[t], i, trial.outputs[t][i])) continue;
        ++wrong;
        if (first == nullptr) first = &want.tensors[t];
      }
    }
    if (wrong == 0 || !wraps) continue;
    Finding finding;
    if (!seen.empty()) finding.location = seen.front().location;
    finding.code = Code::index_overflow;
    finding.argument = first->name;
    finding.evidence = fmt::format(
        "right for all smaller calls that were asked, and in '{}' {} of {} elements are wrong: {} has more "
        "of "
        "them than an integer of 16 bits, which the source has, tells apart",
        given->line, wrong, all, first->name);
    finding.fix = "compute the index in 32 or 64 bits";
    add_once(found.findings, std::move(finding));
    return;
  }
}

}  // namespace isomer::lab
