#include "lab/bench/host_bench.hpp"

#include "core/kept_plan.hpp"
#include "core/public_plan.hpp"
#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/bench/measuring.hpp"

#include <algorithm>
#include <optional>

namespace isomer::lab {
namespace {

/// Seconds of one of them, in the quickest of the batches that the time is enough for.
template <class Function>
double quickest(const Queue& queue, double seconds, Function&& function) {
  constexpr int kBatch = 50;
  double best = 1e9;
  const double end = clock_seconds() + seconds;
  for (int round = 0; round < 5 || clock_seconds() < end; ++round) {
    const double begin = clock_seconds();
    for (int i = 0; i < kBatch; ++i) function();
    best = std::min(best, (clock_seconds() - begin) / kBatch);
    queue.synchronize();
  }
  return best;
}

double elements_of(const core::Call& call) {
  double elements = 0;
  for (int i = 0; i < call.count; ++i)
    if (call.tensor(i).defined()) elements += static_cast<double>(call.tensor(i).numel());
  return elements;
}

oracle::Case seeded(const oracle::Case& c) { return c.seed() != 0 ? c : c.with_seed(1); }

/// Of those that compute something.
oracle::Case smallest_case(const oracle::Oracle& oracle) {
  std::optional<oracle::Case> smallest;
  double least = 0;
  for (const oracle::Case& c : oracle.cases()) {
    oracle::Problem problem(seeded(c), oracle::Contents::none);
    oracle.make(problem.made_from(), problem);
    const core::Call& call = problem.call();
    bool empty = false;
    for (int i = 0; i < call.count; ++i)
      empty = empty || (call.tensor(i).defined() && call.tensor(i).empty());
    const double elements = elements_of(call);
    if (empty || (smallest && elements >= least)) continue;
    smallest = c;
    least = elements;
  }
  return *smallest;
}

HostCost cost(const oracle::Case& c, const Queue& queue, double seconds) {
  const oracle::Oracle& oracle = *oracle::find_oracle(c.schema().op);
  oracle::Problem problem(seeded(c));
  oracle.make(problem.made_from(), problem);
  const core::Call& call = problem.call();
  core::dispatch(queue, call);
  const AnyPlan plan = core::PlanAccess::make(queue, call);
  return {.line = c.line(),
          .implementation = plan.implementation(),
          .planning = quickest(queue, seconds / 3, [&] { core::keep_plan(queue, call, nullptr); }),
          .call = quickest(queue, seconds / 3, [&] { core::dispatch(queue, call); }),
          .plan = quickest(queue, seconds / 3, [&] { core::PlanAccess::run(plan, call.args_struct); })};
}

}  // namespace

HostBench host_bench(const BenchSelection& selection) {
  std::vector<oracle::Case> cases;
  for (const std::string& line : selection.lines) cases.push_back(oracle::parse_case(line));
  for (const std::string& name : selection.ops)
    if (oracle::find_oracle(name) == nullptr)
      core::fail(ErrorCode::bad_argument, "bench: expected an op, got '", name, "'");
  if (selection.device.type != DeviceType::cpu)
    core::fail(ErrorCode::bad_argument, "bench: --host measures calls on the CPU, got --backend ",
               to_string(selection.device));
  if (cases.empty())
    for (const oracle::Oracle& oracle : oracle::oracles())
      if (selection.ops.empty() ||
          std::find(selection.ops.begin(), selection.ops.end(), oracle.contract->op) != selection.ops.end())
        cases.push_back(smallest_case(oracle));
  const auto executor = Executor::standard();
  HostBench result{.device = selection.device, .threads = executor->concurrency(), .costs = {}};
  const std::string forced = selection.implementations.empty() ? "" : selection.implementations.front();
  const Queue queue =
      Queue::on(selection.device, {.checked = false, .implementation = forced, .executor = executor});
  for (const oracle::Case& c : cases) result.costs.push_back(cost(c, queue, selection.seconds));
  return result;
}

}  // namespace isomer::lab
