#include "lab/check/check_case.hpp"

#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/check/arena.hpp"
#include "lab/check/compare.hpp"
#include "lab/check/mirror.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <optional>
#include <shared_mutex>

namespace isomer::lab {
namespace {

const Tensor& output(const core::Call& call, const oracle::ExpectedTensor& expected) {
  return call.tensor(call.contract->index_of(expected.name));
}

/// What is wrong after one run; empty where nothing is.
std::string judge(const core::Call& call, const oracle::Expected& expected, const Arena& arena,
                  Allowance allowance, Outcome& outcome) {
  if (std::string reason = arena.trespass(); !reason.empty()) return reason;
  for (const oracle::ExpectedTensor& each : expected.tensors) {
    if (std::string reason = compare(each, output(call, each), allowance, outcome); !reason.empty())
      return reason;
    if (std::string reason = arena.overwritten(each, output(call, each)); !reason.empty()) return reason;
  }
  return {};
}

/// Cases that run at once share a device's memory: one that finds no room waits until it is alone.
std::shared_mutex device_memory;

void run(const oracle::Problem& problem, const oracle::Expected& expected,
         const core::Implementation& implementation, const Queue& queue, Arena& arena, int runs,
         Outcome& outcome) {
  const core::Call& call = problem.call();
  std::shared_lock together(device_memory);
  std::unique_lock alone(device_memory, std::defer_lock);
  std::optional<Mirror> held;
  try {
    held.emplace(problem, queue);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::unsupported) throw;
    together.unlock();
    alone.lock();
    held.emplace(problem, queue);
  }
  Mirror& mirror = *held;
  const Allowance allowance = allowance_of(implementation);
  std::vector<std::vector<std::byte>> first;
  for (int pass = 0; pass < runs; ++pass) {
    arena.reset(pass % 2);
    mirror.upload();
    const auto begin = std::chrono::steady_clock::now();
    core::dispatch(queue, mirror.call(), implementation);
    queue.synchronize();
    outcome.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    mirror.download();
    const std::int64_t lenient_before = outcome.lenient;
    // From the third run on results are held against the first run's, and not against the reference again.
    outcome.reason = pass < 2 ? judge(call, expected, arena, allowance, outcome) : arena.trespass();
    if (pass == 1) outcome.lenient = std::max(lenient_before, outcome.lenient - lenient_before);
    for (std::size_t i = 0; i < expected.tensors.size() && outcome.reason.empty(); ++i) {
      const oracle::ExpectedTensor& each = expected.tensors[i];
      const std::vector<std::byte> now = arena.content(output(call, each));
      if (pass == 0) {
        first.push_back(now);
        continue;
      }
      const auto size = static_cast<std::size_t>(size_of(each.dtype));
      std::vector<std::uint8_t> fixed = each.written;
      if (allowance.order)
        for (const auto& [e, values] : each.others) fixed[e] = 0;
      for (std::size_t e = 0; e < fixed.size(); ++e)
        if (fixed[e] && !std::equal(now.begin() + static_cast<std::ptrdiff_t>(e * size),
                                    now.begin() + static_cast<std::ptrdiff_t>((e + 1) * size),
                                    first[i].begin() + static_cast<std::ptrdiff_t>(e * size))) {
          outcome.reason = core::say(each.name, " differs between run 1 and run ", pass + 1,
                                     " of one plan, first in element ", e);
          break;
        }
    }
    if (!outcome.reason.empty()) {
      outcome.status = Status::failed;
      return;
    }
  }
}

}  // namespace

std::vector<Outcome> check_case(const oracle::Oracle& oracle, const oracle::Case& fixed,
                                const std::vector<Target>& targets, Queues& queues, bool given,
                                Overdue* overdue, int runs) {
  oracle::Problem problem(fixed);
  std::vector<Outcome> outcomes;
  const auto add = [&](const Target& target) -> Outcome& {
    Outcome outcome;
    outcome.op = oracle.contract->op;
    outcome.implementation = target.name();
    outcome.line = fixed.line();
    outcomes.push_back(std::move(outcome));
    return outcomes.back();
  };
  try {
    oracle.make(fixed, problem);
    // A case that its own contract refuses has no expected outputs.
    core::validate(problem.call(), Device{}, true);
  } catch (const Error& error) {
    if (given) throw;
    for (const Target& target : targets) {
      Outcome& outcome = add(target);
      outcome.status = Status::failed;
      outcome.reason = error.what();
    }
    return outcomes;
  }
  Arena arena(problem);
  // One for those that sum FP8 products in fewer bits, one for the others: both from what the tensors hold
  // now.
  std::optional<oracle::Expected> expected[2];
  for (const Target& target : targets) {
    const Allowance allowance = allowance_of(*target.implementation);
    std::optional<oracle::Expected>& wanted = expected[allowance.short_sums];
    if (!wanted) oracle.reference(problem.call(), asked_with(allowance), wanted.emplace(problem.call()));
  }
  for (const Target& target : targets) {
    Outcome& outcome = add(target);
    std::optional<Overdue::Work> working;
    if (overdue != nullptr) working.emplace(*overdue, outcome.line, outcome.implementation);
    try {
      run(problem, *expected[allowance_of(*target.implementation).short_sums], *target.implementation,
          queues.on(target.device), arena, runs, outcome);
    } catch (const Error& error) {
      outcome.status = error.code() == ErrorCode::unsupported ? Status::refused : Status::failed;
      outcome.reason = error.what();
    }
  }
  return outcomes;
}

}  // namespace isomer::lab
