#include "lab/bench/device_bench.hpp"

#include "core/sentence.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/check/compare.hpp"
#include "lab/check/mirror.hpp"

#include <algorithm>
#include <memory>

namespace isomer::lab {
namespace {

constexpr std::size_t kDeviceCopyBytes = std::size_t{1} << 30;
constexpr int kCopies = 4;

}  // namespace

Stopwatch::Stopwatch(const gpu::QueueState& state)
    : state_(state),
      begin_(state.vendor().make_event(state.device.index)),
      end_(state.vendor().make_event(state.device.index)) {}

Stopwatch::~Stopwatch() {
  state_.vendor().release_event(state_.device.index, begin_);
  state_.vendor().release_event(state_.device.index, end_);
}

std::vector<std::unique_ptr<Mirror>> copies_of(const oracle::Problem& problem, const Queue& queue) {
  const gpu::Facts& facts = gpu::state_of(queue).facts();
  std::int64_t bytes = 0;
  for (const oracle::Problem::Buffer& buffer : problem.buffers())
    bytes += static_cast<std::int64_t>(buffer.bytes);
  const std::int64_t wanted = 2 * facts.l2_bytes / std::max<std::int64_t>(bytes, 1) + 2;
  const std::int64_t fits = facts.memory_bytes / 2 / std::max<std::int64_t>(bytes, 1);
  std::vector<std::unique_ptr<Mirror>> copies;
  for (std::int64_t i = 0; i < std::clamp<std::int64_t>(wanted, 1, std::clamp<std::int64_t>(fits, 1, 64));
       ++i) {
    copies.push_back(std::make_unique<Mirror>(problem, queue));
    copies.back()->upload();
  }
  return copies;
}

std::string verify_on_device(const oracle::Oracle& oracle, const oracle::Problem& problem, Mirror& mirror,
                             Allowance allowance, oracle::Expected& expected) {
  oracle.reference(problem.call(), asked_with(allowance), expected);
  mirror.download();
  Outcome outcome;
  for (const oracle::ExpectedTensor& each : expected.tensors)
    if (std::string reason = compare(
            each, problem.call().tensor(problem.call().contract->index_of(each.name)), allowance, outcome);
        !reason.empty())
      return "no: " + reason;
  return "yes";
}

DeviceCeilings::DeviceCeilings(const Queue& queue) : queue_(queue) {
  const gpu::QueueState& state = gpu::state_of(queue_);
  const auto half = static_cast<std::size_t>(state.facts().memory_bytes / 8);
  const std::size_t bytes = std::min(kDeviceCopyBytes, half);
  from_ = state.vendor().allocate(state.device.index, bytes);
  to_ = state.vendor().allocate(state.device.index, bytes);
  if (from_ == nullptr || to_ == nullptr)
    core::fail(ErrorCode::out_of_memory, "bench: no memory for the copy rate");
  state.vendor().fill(state.device.index, state.stream(), from_, 1, bytes);
}

DeviceCeilings::~DeviceCeilings() {
  const gpu::QueueState& state = gpu::state_of(queue_);
  for (void* buffer : {from_, to_})
    if (buffer != nullptr) state.vendor().release(state.device.index, buffer);
}

double DeviceCeilings::copy_rate() {
  const gpu::QueueState& state = gpu::state_of(queue_);
  const std::size_t bytes =
      std::min(kDeviceCopyBytes, static_cast<std::size_t>(state.facts().memory_bytes / 8));
  Stopwatch watch(state);
  const double seconds = watch.seconds([&] {
    for (int i = 0; i < kCopies; ++i)
      state.vendor().copy(state.device.index, state.stream(), to_, from_, bytes,
                          gpu::Vendor::Copy::on_device);
  });
  return 2.0 * kCopies * static_cast<double>(bytes) / seconds;
}

Measurement measure_on_device(const oracle::Oracle& oracle, const oracle::Case& c,
                              const core::Registry::Op& op, const std::string& forced, const Queue& queue,
                              DeviceCeilings& ceilings, const BenchSelection& selection) {
  const oracle::Case fixed = c.seed() != 0 ? c : c.with_seed(1);
  oracle::Problem problem(fixed);
  problem.reuse_after(kDistinctElements);
  oracle.make(fixed, problem);
  core::validate(problem.call(), Device{}, true);
  oracle::Expected expected(problem.call());
  const core::Work work = op.contract->work ? op.contract->work(problem.call()) : core::Work{};
  const std::vector<std::unique_ptr<Mirror>> copies = copies_of(problem, queue);

  const core::Choice choice = core::choose(op, copies[0]->call(), queue);
  if (choice.implementation == nullptr)
    core::fail(ErrorCode::unsupported, "bench: ", forced.empty() ? "no implementation" : forced,
               " does not take ", c.line(),
               choice.refusals.empty() ? "" : ": " + choice.refusals.back().reason);
  Measurement m;
  m.op = op.contract->op;
  m.line = c.line();
  m.implementation = choice.implementation->name();
  m.bytes = work.bytes;
  m.flops = work.flops;
  const auto call = [&](std::size_t i) { core::dispatch(queue, copies[i % copies.size()]->call()); };
  call(0);
  queue.synchronize();
  const bool small = quick_to_verify(work);
  m.verified =
      !selection.verify ? "not asked"
      : small ? verify_on_device(oracle, problem, *copies[0], allowance_of(*choice.implementation), expected)
              : "too large for the reference";

  Stopwatch watch(gpu::state_of(queue));
  std::size_t next = 0;
  double host = 0;
  const auto round = [&](int calls) {
    const double seconds = watch.seconds([&] {
      const double begin = clock_seconds();
      for (int i = 0; i < calls; ++i) call(next++);
      host = (clock_seconds() - begin) / calls;
    });
    return seconds / calls;
  };
  const double first = round(3);
  const int calls = std::clamp(static_cast<int>(0.002 / std::max(first, 1e-9)), 1, kCallsBetweenEvents);
  round(calls);
  std::vector<double> seconds, hosts, ratios, copies_rates;
  const double end = clock_seconds() + selection.seconds;
  while (seconds.size() < 7 || (clock_seconds() < end && seconds.size() < 1000)) {
    copies_rates.push_back(ceilings.copy_rate());
    seconds.push_back(round(calls));
    hosts.push_back(host);
    ratios.push_back(m.bytes / copies_rates.back() / seconds.back());
  }
  m.rounds = static_cast<int>(seconds.size());
  m.seconds = spread_of(seconds);
  m.host_seconds = spread_of(hosts).median;
  m.ratios = spread_of(ratios);
  m.ratio = m.ratios.median;
  m.copy_rate = spread_of(copies_rates).median;
  m.byte_floor = m.bytes / m.copy_rate;
  // No rate of multiply-adds is measured on a device: the ratio is to the bytes, and the rate is printed
  // beside it.
  m.memory_bound = m.flops / m.bytes < 100;
  return m;
}

}  // namespace isomer::lab
