#include "lab/bench/tune.hpp"

#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "gpu/plan.hpp"
#include "lab/bench/device_bench.hpp"
#include "lab/bench/measuring.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

namespace isomer::lab {
namespace {

using core::fail;

/// A round of each candidate takes about this long, and a case has this many at least.
constexpr double kRoundSeconds = 0.002;
constexpr std::size_t kLeastRounds = 5;

std::vector<oracle::Case> cases_of(const TuneSelection& selection) {
  std::vector<oracle::Case> cases;
  for (const std::string& line : selection.lines) cases.push_back(oracle::parse_case(line));
  if (!cases.empty()) return cases;
  for (const core::Registry::Op& op : core::Registry::builtin().ops()) {
    const std::string& name = op.contract->op;
    if (selection.ops.empty() ||
        std::find(selection.ops.begin(), selection.ops.end(), name) != selection.ops.end())
      for (const char* line : oracle::find_oracle(name)->device_bench_lines)
        cases.push_back(oracle::parse_case(line));
  }
  return cases;
}

/// A candidate with its plan, and what was measured of it.
struct TunedTrial {
  TimedCandidate timed;
  std::unique_ptr<core::Plan> plan;
  Queue::Lease workspace;
  std::vector<double> rounds;
  int calls = 1;
};

class TuningOfCase {
 public:
  TuningOfCase(const oracle::Case& c, const Queue& queue, const TuneSelection& selection)
      : oracle_(*oracle::find_oracle(c.schema().op)),
        problem_(c.seed() != 0 ? c : c.with_seed(1)),
        queue_(queue),
        selection_(selection) {
    result_.line = c.line();
    problem_.reuse_after(kDistinctElements);
    oracle_.make(c.seed() != 0 ? c : c.with_seed(1), problem_);
    core::validate(problem_.call(), Device{}, true);
    copies_ = copies_of(problem_, queue);
  }

  TunedCase run(gpu::TunedTable& table) {
    const core::Call& call = copies_[0]->call();
    const core::Choice choice =
        core::choose(*core::Registry::builtin().find(call.contract->op), call, queue_);
    if (choice.implementation == nullptr)
      fail(ErrorCode::unsupported, "bench: no implementation takes ", result_.line,
           choice.refusals.empty() ? "" : ": " + choice.refusals.back().reason);
    result_.implementation = choice.implementation->name();
    const auto* plan = dynamic_cast<const gpu::Plan*>(choice.plan.get());
    const auto* implementation = dynamic_cast<const gpu::Implementation*>(choice.implementation);
    if (plan == nullptr || implementation == nullptr || plan->candidates().size() < 2) {
      result_.skipped = "its plan has no candidates to choose from";
      return std::move(result_);
    }
    make_trials(*implementation, plan->candidates());
    verify(*choice.implementation);
    measure();
    note(table, implementation->tuned_key(call, gpu::state_of(queue_).facts()));
    return std::move(result_);
  }

 private:
  void make_trials(const gpu::Implementation& implementation, std::vector<gpu::Candidate> candidates) {
    std::stable_sort(
        candidates.begin(), candidates.end(),
        [](const gpu::Candidate& x, const gpu::Candidate& y) { return x.modelled < y.modelled; });
    const gpu::Facts& facts = gpu::state_of(queue_).facts();
    for (const gpu::Candidate& candidate : candidates) {
      if (static_cast<int>(trials_.size()) >= selection_.candidates) break;
      core::PlanOrRefusal answer = implementation.plan_as(copies_[0]->call(), facts, candidate.name);
      if (const auto* refusal = std::get_if<core::Refusal>(&answer))
        fail(ErrorCode::internal, "bench: ", implementation.name(), " as '", candidate.name,
             "': ", refusal->reason);
      TunedTrial& trial = trials_.emplace_back();
      trial.timed.name = candidate.name;
      trial.timed.modelled = candidate.modelled;
      trial.plan = std::move(std::get<0>(answer));
      trial.plan->prepare(queue_);
      trial.workspace = queue_.lease(trial.plan->workspace_bytes());
    }
  }

  void call(TunedTrial& trial) {
    trial.plan->run(queue_, copies_[next_++ % copies_.size()]->call(), trial.workspace.data());
  }

  void verify(const core::Implementation& implementation) {
    const core::Contract& contract = *problem_.call().contract;
    const bool small = quick_to_verify(contract.work ? contract.work(problem_.call()) : core::Work{});
    for (TunedTrial& trial : trials_) {
      trial.timed.verified = !selection_.verify ? "not asked" : "too large for the reference";
      if (!selection_.verify || !small) continue;
      copies_[0]->upload();
      oracle::Expected expected(problem_.call());
      trial.plan->run(queue_, copies_[0]->call(), trial.workspace.data());
      queue_.synchronize();
      trial.timed.verified =
          verify_on_device(oracle_, problem_, *copies_[0], allowance_of(implementation), expected);
    }
  }

  void measure() {
    Stopwatch watch(gpu::state_of(queue_));
    const auto round = [&](TunedTrial& trial, int calls) {
      return watch.seconds([&] {
        for (int i = 0; i < calls; ++i) call(trial);
      }) / calls;
    };
    for (TunedTrial& trial : trials_)
      trial.calls = std::clamp(static_cast<int>(kRoundSeconds / std::max(round(trial, 3), 1e-9)), 1,
                               kCallsBetweenEvents);
    const double end = clock_seconds() + selection_.seconds;
    while (trials_[0].rounds.size() < kLeastRounds || clock_seconds() < end)
      for (TunedTrial& trial : trials_) trial.rounds.push_back(round(trial, trial.calls));
  }

  void note(gpu::TunedTable& table, gpu::TunedKey key) {
    gpu::TunedRow row{.key = std::move(key), .takes = {}, .nanoseconds = {}};
    double least = 0;
    for (TunedTrial& trial : trials_) {
      trial.timed.seconds = spread_of(trial.rounds);
      const double median = trial.timed.seconds.median;
      if (!trial.timed.verified.starts_with("no:")) {
        row.nanoseconds.emplace_back(trial.timed.name, std::max<std::int64_t>(std::llround(1e9 * median), 1));
        if (row.takes.empty() || median < least) {
          least = median;
          row.takes = trial.timed.name;
          result_.takes = result_.candidates.size();
        }
      }
      result_.candidates.push_back(std::move(trial.timed));
    }
    if (row.takes.empty())
      fail(ErrorCode::unsupported, "bench: no candidate of ", result_.implementation, " is right on ",
           result_.line, ": ", result_.candidates.front().verified);
    table.put(std::move(row));
  }

  const oracle::Oracle& oracle_;
  oracle::Problem problem_;
  const Queue& queue_;
  const TuneSelection& selection_;
  std::vector<std::unique_ptr<Mirror>> copies_;
  std::vector<TunedTrial> trials_;
  std::size_t next_ = 0;
  TunedCase result_;
};

}  // namespace

Tuning tune(const TuneSelection& selection, gpu::TunedTable& table,
            const std::function<void(int, int, const std::string&)>& progress) {
  std::vector<std::string> known;
  for (const core::Registry::Op& op : core::Registry::builtin().ops()) known.push_back(op.contract->op);
  for (const std::string& name : selection.ops)
    if (core::Registry::builtin().find(name) == nullptr)
      fail(ErrorCode::bad_argument, "bench: an op expected (", core::either(known), "), got '", name, "'");
  if (selection.device.type == DeviceType::cpu)
    fail(ErrorCode::bad_argument,
         "bench: --tune expects a device whose plans have candidates (--backend cuda, hip or emulated), got "
         "cpu");
  const Queue queue = Queue::on(
      selection.device, {.checked = false, .implementation = selection.implementation, .executor = nullptr});
  Tuning tuning{.device = gpu::state_of(queue).facts().name, .cases = {}};
  const std::vector<oracle::Case> cases = cases_of(selection);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (progress) progress(static_cast<int>(i), static_cast<int>(cases.size()), cases[i].line());
    tuning.cases.push_back(TuningOfCase(cases[i], queue, selection).run(table));
  }
  return tuning;
}

}  // namespace isomer::lab
