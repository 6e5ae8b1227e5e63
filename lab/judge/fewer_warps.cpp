#include "lab/judge/fewer_warps.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

/// So many threads are tried: one warp, and, of kernels that count on more, four.
constexpr std::uint32_t kThreads[] = {32, 128};

Finding parts_of_a_block(std::string seen, std::uint32_t threads) {
  Finding finding;
  finding.code = Code::other_reduction;
  finding.evidence = fmt::format(
      "{} where no block has more than {} threads: what the warps of a block reduce is not put "
      "together "
      "as it should be, or the result does not reach all of them",
      seen, threads);
  finding.fix =
      "let each warp store its part in shared memory, reduce the parts behind a barrier, and let all threads "
      "read the result from shared memory behind another one";
  return finding;
}

bool seen_by_threads(const Answer& answer) {
  return std::any_of(answer.seen.begin(), answer.seen.end(), [](const Seen& each) {
    return each.kind == "race" || each.kind == "missing-barrier" || each.kind.starts_with("out-of-bounds");
  });
}

}  // namespace

bool works_together(const std::string& source) {
  return source.find("__shared__") != std::string::npos &&
         (source.find("__shfl") != std::string::npos || source.find("__syncthreads") != std::string::npos);
}

Finding of_fewer_warps(const Candidate& candidate, const Called& called, Questions& questions,
                       Numbers& numbers) {
  if (std::any_of(numbers.answers.begin(), numbers.answers.end(), seen_by_threads)) return {};
  for (const std::uint32_t threads : kThreads) {
    Questions narrow = questions;
    narrow.settings.most_threads = threads;
    narrow.before = &numbers;
    Numbers others = explain_numbers(candidate, called.form, *called.port, narrow);
    const Explanation &own = numbers.explanation, &other = others.explanation;
    // A kernel that needs its threads is wrong in other places then.
    if (!other.explains && !(4 * other.left.wrong < own.left.wrong)) continue;
    if (other.plain.wrong >= own.plain.wrong) continue;
    Finding finding = parts_of_a_block(fmt::format("{} of {} elements are wrong, and {}", own.plain.wrong,
                                                   own.plain.elements, other.plain.wrong),
                                       threads);
    numbers = std::move(others);
    questions.settings = narrow.settings;
    return finding;
  }
  return {};
}

Finding of_fewer_warps(Approach& approach, const std::vector<Replayed>& calls,
                       std::vector<CallOutcome>& outcomes) {
  const auto right = [](const CallOutcome& each) { return each.right(); };
  const auto before = std::count_if(outcomes.begin(), outcomes.end(), right);
  if (std::any_of(outcomes.begin(), outcomes.end(),
                  [](const CallOutcome& each) { return !each.answer.ok() || seen_by_threads(each.answer); }))
    return {};
  for (const std::uint32_t threads : kThreads) {
    Approach narrow = approach;
    narrow.settings.most_threads = threads;
    std::vector<CallOutcome> others;
    for (const Replayed& call : calls) {
      others.push_back(replay_once(narrow, call));
      if (!others.back().right()) break;
    }
    if (others.size() < calls.size() || !others.back().right()) continue;
    Finding finding = parts_of_a_block(
        fmt::format("{} of {} calls are right, and all of them", before, calls.size()), threads);
    approach = std::move(narrow);
    outcomes = std::move(others);
    return finding;
  }
  return {};
}

}  // namespace isomer::lab
