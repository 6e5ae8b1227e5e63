#include "lab/check/suite.hpp"

#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "gpu/binary.hpp"
#include "lab/check/check_case.hpp"
#include "lab/check/sample.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <random>
#include <thread>

namespace isomer::lab {
namespace {

using core::fail;

struct Work {
  const oracle::Oracle* oracle;
  oracle::Case fixed;
  std::vector<Target> targets;
};

/// The emulator's devices differ in the lanes of a warp, and both are checked; other devices of one machine
/// are alike.
constexpr int kEmulated = 2;

bool selected(const std::vector<std::string>& wanted, const std::string& implementation) {
  if (wanted.empty()) return true;
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return implementation == name || implementation.starts_with(name + "/");
  });
}

/// The case's own seed, or one made from the run's seed and the line, so that each case can be repeated
/// alone.
oracle::Case fix_seed(const oracle::Case& c, std::uint64_t seed) {
  if (c.seed() != 0) return c;
  return c.with_seed(oracle::Random(seed, c.line()).bits() % 1000000007 + 1);
}

/// The implementations of an op that the selection names and that can run here, on their devices; the others
/// go to `absent`.
std::vector<Target> runnable(const core::Registry::Op& op, const Selection& selection,
                             std::vector<Absent>& absent) {
  std::vector<Target> list;
  for (const auto& implementation : op.implementations) {
    if (!selected(selection.implementations, implementation->name()) ||
        !selected(selection.backends, implementation->name()))
      continue;
    if (implementation->device() != DeviceType::cpu) gpu::check_settings();
    if (std::string reason = implementation->unavailable(); !reason.empty())
      absent.push_back({op.contract->op, implementation->name(), std::move(reason)});
    else
      for (int index = 0; index < (implementation->device() == DeviceType::emulated ? kEmulated : 1); ++index)
        list.emplace_back(implementation.get(), Device{implementation->device(), index});
  }
  return list;
}

void check_names(const Selection& selection) {
  const core::Registry& registry = core::Registry::builtin();
  std::vector<std::string> ops, implementations;
  for (const core::Registry::Op& op : registry.ops()) {
    ops.push_back(op.contract->op);
    for (const auto& implementation : op.implementations)
      if (std::find(implementations.begin(), implementations.end(), implementation->name()) ==
          implementations.end())
        implementations.push_back(implementation->name());
  }
  for (const std::string& op : selection.ops)
    if (registry.find(op) == nullptr)
      fail(ErrorCode::bad_argument, "check: expected an op (", core::either(ops), "), got '", op, "'");
  for (const std::string& name : selection.implementations)
    if (std::none_of(implementations.begin(), implementations.end(), [&](const std::string& known) {
          return known == name || known.starts_with(name + "/");
        }))
      fail(ErrorCode::bad_argument, "check: expected an implementation (", core::either(implementations),
           "), got '", name, "'");
  const std::vector<std::string> backends = {"cpu", "cuda", "hip", "emulated"};
  for (const std::string& name : selection.backends)
    if (std::find(backends.begin(), backends.end(), name) == backends.end())
      fail(ErrorCode::bad_argument, "check: expected a backend (", core::either(backends), "), got '", name,
           "'");
}

}  // namespace

int Suite::count(Status status) const {
  return static_cast<int>(std::count_if(outcomes.begin(), outcomes.end(),
                                        [&](const Outcome& outcome) { return outcome.status == status; }));
}

Suite check(const Selection& selection, const Progress& progress, const Late& late) {
  check_names(selection);
  if (selection.sample > 0 && !selection.lines.empty())
    fail(ErrorCode::bad_argument,
         "check: --sample chooses among the ordinary cases and cannot be combined with --case");
  if (selection.repeat < 2)
    fail(ErrorCode::bad_argument, "check: expected 2 runs of a case or more, got ", selection.repeat);
  Suite suite;
  suite.seed = selection.seed != 0 ? selection.seed : std::random_device{}() % 1000000000u + 1;
  std::vector<oracle::Case> lines;
  for (const std::string& line : selection.lines) {
    lines.push_back(oracle::parse_case(line));
    const std::string& op = lines.back().schema().op;
    if (!selection.ops.empty() &&
        std::find(selection.ops.begin(), selection.ops.end(), op) == selection.ops.end())
      fail(ErrorCode::bad_argument, "check: the case '", line, "' belongs to ", op, ", but only ",
           core::either(selection.ops), " is asked for");
  }
  std::vector<Work> work;
  for (const core::Registry::Op& op : core::Registry::builtin().ops()) {
    const std::string& name = op.contract->op;
    if (!selection.ops.empty() &&
        std::find(selection.ops.begin(), selection.ops.end(), name) == selection.ops.end())
      continue;
    const oracle::Oracle* oracle = oracle::find_oracle(name);
    if (oracle == nullptr) fail(ErrorCode::internal, "check: ", name, " has no reference");
    const auto targets = runnable(op, selection, suite.absent);
    if (targets.empty()) continue;
    const auto add = [&](const oracle::Case& c) {
      work.push_back({oracle, fix_seed(c, suite.seed), targets});
    };
    if (lines.empty() && selection.sample > 0) {
      const std::vector<oracle::Case> taken = sample(*oracle, targets, selection.sample, selection.jobs);
      for (const oracle::Case& c : taken) add(c);
      suite.sampled.push_back(
          {name, static_cast<int>(taken.size()), static_cast<int>(oracle->cases().size())});
    } else if (lines.empty()) {
      for (const oracle::Case& c : oracle->cases()) add(c);
    } else {
      for (const oracle::Case& c : lines)
        if (c.schema().op == name) add(c);
    }
  }

  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::vector<Outcome>> outcomes(work.size());
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  int done = 0;
  std::exception_ptr failure;
  Overdue overdue(kPatience, late);
  const auto serve = [&] {
    Queues queues;
    for (std::size_t i; (i = next.fetch_add(1)) < work.size();) {
      try {
        outcomes[i] = check_case(*work[i].oracle, work[i].fixed, work[i].targets, queues, !lines.empty(),
                                 &overdue, selection.repeat);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        return;
      }
      const std::lock_guard lock(mutex);
      ++done;
      if (progress) progress(done, static_cast<int>(work.size()), work[i].fixed.line());
    }
  };
  const int jobs = std::min<int>(selection.jobs > 0 ? selection.jobs : Executor::standard()->concurrency(),
                                 static_cast<int>(std::max<std::size_t>(work.size(), 1)));
  std::vector<std::thread> threads;
  for (int i = 1; i < jobs; ++i) threads.emplace_back(serve);
  serve();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  for (std::vector<Outcome>& list : outcomes)
    suite.outcomes.insert(suite.outcomes.end(), std::make_move_iterator(list.begin()),
                          std::make_move_iterator(list.end()));
  suite.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return suite;
}

}  // namespace isomer::lab
