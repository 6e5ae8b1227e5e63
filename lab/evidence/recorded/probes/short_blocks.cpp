#include "lab/evidence/recorded/probes/probes.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace isomer::lab {
namespace {

using What = Passing::What;

bool is_list_of_counts(const Value& value) {
  return value.is_tensor() && !value.boolean && value.tensor.rank == 1 && !value.tensor.empty() &&
         (value.tensor.dtype == DType::i32 || value.tensor.dtype == DType::i64);
}

/// The call with other counts.
template <class Change>
Replayed recounted(const Replayed& replayed, std::size_t role, Change change) {
  Replayed other = replayed;
  Value counts = compact_copy(replayed.values[role]);
  const std::vector<double> numbers = oracle::elements(counts.tensor);
  const auto size = static_cast<std::size_t>(size_of(counts.tensor.dtype));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    core::encode(counts.tensor.dtype, static_cast<double>(change(static_cast<std::int64_t>(numbers[i]))),
                 static_cast<std::byte*>(counts.storage.get()) + i * size);
  other.values[role] = std::move(counts);
  return other;
}

bool answers_alike(const CallOutcome& a, const CallOutcome& b) {
  if (!b.answer.ok()) return false;
  for (std::size_t t = 0; t < a.got.size(); ++t)
    if (a.got[t].size() != b.got[t].size() ||
        !std::equal(a.got[t].begin(), a.got[t].end(), b.got[t].begin(), same_value))
      return false;
  return true;
}

}  // namespace

void probe_short_blocks(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                        std::vector<Finding>& findings) {
  if (!outcome.answer.ok() || outcome.right() || outcome.elements == 0) return;
  for (const Passing& passing : approach.form.passings) {
    const auto role = static_cast<std::size_t>(passing.role);
    if (passing.what != What::role || replayed.roles[role].output ||
        !is_list_of_counts(replayed.values[role]))
      continue;
    const std::vector<double> numbers = oracle::elements(replayed.values[role].tensor);
    if (std::any_of(numbers.begin(), numbers.end(), [](double n) { return n < 0; })) continue;
    std::string blocks;
    for (const std::int64_t block : std::array<std::int64_t, 7>{4, 8, 16, 32, 64, 128, 256}) {
      const auto short_one = [&](double n) { return static_cast<std::int64_t>(n) % block != 0; };
      const bool whole_ones = std::any_of(numbers.begin(), numbers.end(),
                                          [&](double n) { return n >= static_cast<double>(block); });
      if (!whole_ones || std::none_of(numbers.begin(), numbers.end(), short_one)) continue;
      const auto down = [&](std::int64_t n) { return n / block * block; };
      if (!answers_alike(outcome, replay_once(approach, recounted(replayed, role, down)))) continue;
      // Of counts that nothing looks at no number changes anything.
      const auto fewer = [&](std::int64_t n) { return std::max<std::int64_t>(0, n / block * block - block); };
      if (!answers_alike(outcome, replay_once(approach, recounted(replayed, role, fewer))))
        blocks += (blocks.empty() ? "" : ", ") + std::to_string(block);
    }
    if (blocks.empty()) continue;
    Finding finding;
    finding.code = Code::tail_mask;
    finding.argument = replayed.roles[role].name;
    finding.evidence = fmt::format(
        "'{}': if each number of {} is rounded down to a multiple of {}, the wrong answer does not change: "
        "what follows the last whole block is left out",
        replayed.line, finding.argument, blocks);
    finding.fix = "process the last, partial block";
    add_once(findings, std::move(finding));
    return;
  }
}

}  // namespace isomer::lab
