#include "lab/evidence/recorded/probes/probes.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;
using Two = std::pair<std::size_t, std::size_t>;

/// The call with one element of the first row larger, and another smaller by as much or as it was.
Replayed with_pair(const Replayed& replayed, std::size_t role, const Two& at, double by, bool both) {
  Replayed other = replayed;
  Value made = compact_copy(replayed.values[role]);
  const DType dtype = made.tensor.dtype;
  const auto size = static_cast<std::size_t>(size_of(dtype));
  const Elements elements = oracle::elements(replayed.values[role].tensor);
  auto* bytes = static_cast<std::byte*>(made.storage.get());
  core::encode(dtype, elements[at.first] + by, bytes + at.first * size);
  if (both) core::encode(dtype, elements[at.second] - by, bytes + at.second * size);
  other.values[role] = std::move(made);
  return other;
}

/// Whether an output that is wrong is another then, beyond its tolerance, at a place that is not one of the
/// two.
bool reaches_others(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                    const CallOutcome& after, const Two& at, std::size_t elements) {
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    const Elements &got = outcome.got[t], &then = after.got[t];
    if (outcome.wrong[t] == 0 || got.size() != then.size()) continue;
    const Elements want = oracle::elements(replayed.outputs[t].want);
    const Elements bounds =
        bounds_of(replayed.outputs[t].want, want, rtol_for(approach, replayed.outputs[t]), approach.atol);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got.size() == elements && (i == at.first || i == at.second)) continue;
      if (!is_close(got[i], then[i], bounds[i])) return true;
    }
  }
  return false;
}

/// Which pairs of such elements of the first row reach what the row is reduced to.
enum class Reach : std::uint8_t { none, some, all };

/// The same; nothing where the call is not answered or there are too few of them.
template <class Has>
std::optional<Reach> matter(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                            std::size_t role, bool both, Has has) {
  const Elements elements = oracle::elements(replayed.values[role].tensor);
  const auto width = static_cast<std::size_t>(replayed.values[role].tensor.size(-1));
  std::vector<std::size_t> list;
  double largest = 0;
  for (std::size_t i = 0; i < width; ++i) {
    largest = std::isfinite(elements[i]) ? std::max(largest, std::fabs(elements[i])) : largest;
    if (has(i)) list.push_back(i);
  }
  constexpr std::size_t kFewest = 4;
  if (list.size() < kFewest) return std::nullopt;
  std::size_t asked = 0, reach = 0;
  const std::size_t half = list.size() / 2, third = list.size() / 3, quarter = list.size() / 4;
  for (const Two& at : {Two{list[0], list[half]}, Two{list[third], list.back()},
                        Two{list[quarter], list[half + quarter]}, Two{list[1], list[list.size() - 2]}}) {
    if (at.first == at.second) continue;
    const CallOutcome after =
        replay_once(approach, with_pair(replayed, role, at, 1 + 4 * std::max(largest, 0.25), both));
    if (!after.answer.ok()) return std::nullopt;
    ++asked;
    reach += reaches_others(approach, replayed, outcome, after, at, elements.size());
    if (reach > 0 && reach < asked) return Reach::some;
  }
  return reach == asked ? Reach::all : Reach::none;
}

}  // namespace

void probe_parts_of_blocks(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                           std::vector<Finding>& findings) {
  constexpr std::size_t kMostElements = 1 << 16;
  if (!outcome.answer.ok() || outcome.right() || outcome.elements > kMostElements) return;
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != Passing::What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    if (replayed.roles[role].output || !value.is_tensor() || value.tensor.rank == 0 || value.tensor.empty() ||
        !is_float(value.tensor.dtype) || value.tensor.numel() > static_cast<std::int64_t>(kMostElements))
      continue;
    const auto width = static_cast<std::size_t>(value.tensor.size(-1));
    for (const std::size_t block : std::array<std::size_t, 5>{64, 128, 256, 512, 1024}) {
      // The end of a row that is less than a block may be another matter: sinks of a graph that stand last.
      if (width < block) break;
      const auto upper = [block](std::size_t i) { return i % block >= block / 2; };
      const auto lower = [block](std::size_t i) { return i % block < block / 2; };
      // A mean hears of one element what a spread about it does not hear of it alone.
      for (const bool both : {false, true}) {
        const std::optional<Reach> of_upper = matter(approach, replayed, outcome, role, both, upper);
        if (!of_upper || *of_upper != Reach::none) continue;
        const std::optional<Reach> of_lower = matter(approach, replayed, outcome, role, both, lower);
        if (!of_lower || *of_lower != Reach::all) continue;
        Finding finding;
        finding.code = Code::other_reduction;
        finding.argument = replayed.roles[role].name;
        finding.by_influence = true;
        finding.evidence = fmt::format(
            "'{}': the answer is wrong, and of each {} elements of a row of {} the last {} do not reach what "
            "the "
            "row is reduced to{}, as the first {} do",
            replayed.line, block, finding.argument, block / 2,
            both ? " where one is made larger and another smaller by as much" : "", block / 2);
        finding.fix = fmt::format(
            "let all threads of the block take part: begin the steps of the reduction with half of its {} "
            "threads, and let the last one be 1",
            block);
        add_once(findings, std::move(finding));
        return;
      }
    }
  }
}

}  // namespace isomer::lab
