#include "lab/bench/bench.hpp"

#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "cpu/target.hpp"
#include "lab/bench/ceilings.hpp"
#include "lab/bench/device_bench.hpp"
#include "lab/bench/measuring.hpp"
#include "lab/bench/peers.hpp"
#include "lab/check/compare.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>

namespace isomer::lab {
namespace {

using core::fail;

std::string verify(const oracle::Oracle& oracle, const core::Call& call, Allowance allowance,
                   oracle::Expected& expected) {
  Outcome outcome;
  oracle.reference(call, asked_with(allowance), expected);
  for (const oracle::ExpectedTensor& each : expected.tensors)
    if (std::string reason =
            compare(each, call.tensor(call.contract->index_of(each.name)), allowance, outcome);
        !reason.empty())
      return "no: " + reason;
  return "yes";
}

Measurement measure(const oracle::Oracle& oracle, const oracle::Case& c, const core::Registry::Op& op,
                    const std::string& forced, const Queue& queue, Ceilings& ceilings,
                    const BenchSelection& selection) {
  const oracle::Case fixed = c.seed() != 0 ? c : c.with_seed(1);
  oracle::Problem problem(fixed);
  oracle.make(fixed, problem);
  const core::Call& call = problem.call();
  core::validate(call, queue.device(), true);
  // What an inout holds before the first run is what the reference starts from.
  oracle::Expected expected(call);

  const core::Choice choice = core::choose(op, call, queue);
  if (choice.implementation == nullptr)
    fail(ErrorCode::unsupported, "bench: ", forced.empty() ? "no implementation" : forced, " does not take ",
         c.line(), choice.refusals.empty() ? "" : ": " + choice.refusals.back().reason);
  Measurement m;
  m.op = op.contract->op;
  m.line = c.line();
  m.implementation = choice.implementation->name();
  const core::Work work = op.contract->work ? op.contract->work(call) : core::Work{};
  m.bytes = work.bytes;
  m.flops = work.flops;

  core::dispatch(queue, call, *choice.implementation);  // warm-up, and the output that is verified
  const bool small = quick_to_verify(work);
  m.verified = !selection.verify ? "not asked"
               : small           ? verify(oracle, call, allowance_of(*choice.implementation), expected)
                                 : "too large for the reference";

  m.copy_rate = ceilings.copy_rate();
  m.fma_rate = ceilings.fma_rate();
  m.memory_bound = m.bytes / m.copy_rate >= m.flops / m.fma_rate;
  std::vector<double> seconds, ratios, copies, fmas;
  const double end = clock_seconds() + selection.seconds;
  while (seconds.size() < 5 || (clock_seconds() < end && seconds.size() < 10000)) {
    const double copy = m.memory_bound ? ceilings.copy_rate() : m.copy_rate;
    const double fma = m.memory_bound ? m.fma_rate : ceilings.fma_rate();
    // Short calls are timed in a batch of some milliseconds.
    int batch = 1;
    if (!seconds.empty())
      batch = std::clamp(static_cast<int>(0.003 / std::max(seconds.front(), 1e-9)), 1, 1000);
    const double begin = clock_seconds();
    for (int i = 0; i < batch; ++i) core::dispatch(queue, call, *choice.implementation);
    const double each = (clock_seconds() - begin) / batch;
    seconds.push_back(each);
    copies.push_back(copy);
    fmas.push_back(fma);
    ratios.push_back(std::max(m.bytes / copy, m.flops / fma) / each);
  }
  m.rounds = static_cast<int>(seconds.size());
  m.seconds = spread_of(seconds);
  m.ratios = spread_of(ratios);
  m.ratio = m.ratios.median;
  m.copy_rate = spread_of(copies).median;
  m.fma_rate = spread_of(fmas).median;
  m.byte_floor = m.bytes / m.copy_rate;
  m.flop_floor = m.flops / m.fma_rate;
  return m;
}

}  // namespace

Bench bench(const BenchSelection& selection,
            const std::function<void(int, int, const std::string&)>& progress) {
  const core::Registry& registry = core::Registry::builtin();
  std::vector<std::string> known;
  for (const core::Registry::Op& op : registry.ops()) known.push_back(op.contract->op);
  for (const std::string& name : selection.ops)
    if (registry.find(name) == nullptr)
      fail(ErrorCode::bad_argument, "bench: expected an op (", core::either(known), "), got '", name, "'");
  std::vector<oracle::Case> cases;
  for (const std::string& line : selection.lines) {
    cases.push_back(oracle::parse_case(line));
    const std::string& op = cases.back().schema().op;
    if (!selection.ops.empty() &&
        std::find(selection.ops.begin(), selection.ops.end(), op) == selection.ops.end())
      fail(ErrorCode::bad_argument, "bench: the case '", line, "' belongs to ", op, ", but only ",
           core::either(selection.ops), " is asked for");
  }
  if (cases.empty())
    for (const core::Registry::Op& op : registry.ops()) {
      const std::string& name = op.contract->op;
      if (!selection.ops.empty() &&
          std::find(selection.ops.begin(), selection.ops.end(), name) == selection.ops.end())
        continue;
      const oracle::Oracle& oracle = *oracle::find_oracle(name);
      if (selection.device.type != DeviceType::cpu) {
        for (const char* line : oracle.device_bench_lines) cases.push_back(oracle::parse_case(line));
      } else if (oracle.bench_cases) {
        for (const oracle::Case& c : oracle.bench_cases()) cases.push_back(c);
      }
    }

  std::vector<std::string> implementations = selection.implementations;
  if (implementations.empty()) implementations.emplace_back();
  Bench result;
  const auto executor = Executor::standard();
  result.threads = executor->concurrency();
  result.device = selection.device;
  const bool on_host = selection.device.type == DeviceType::cpu;
  std::optional<Ceilings> ceilings;
  std::optional<DeviceCeilings> device_ceilings;
  if (on_host) {
    result.target = std::string(cpu::name_of(cpu::best_target()));
    ceilings.emplace(*executor);
  } else {
    const Queue queue = Queue::on(selection.device);
    result.target = gpu::state_of(queue).facts().name;
    device_ceilings.emplace(queue);
  }
  std::unique_ptr<Peers> peers;
  if (!selection.peers.empty()) {
    peers = std::make_unique<Peers>(selection.peers, selection.device);
    result.peers = peers->about();
  }
  const int all = static_cast<int>(cases.size() * implementations.size());
  int done = 0;
  for (const oracle::Case& c : cases)
    for (const std::string& implementation : implementations) {
      if (progress) progress(done++, all, c.line());
      const Queue queue = Queue::on(
          selection.device, {.checked = false, .implementation = implementation, .executor = executor});
      const std::string& name = c.schema().op;
      const oracle::Oracle& oracle = *oracle::find_oracle(name);
      const core::Registry::Op& op = *registry.find(name);
      result.measurements.push_back(
          on_host ? measure(oracle, c, op, implementation, queue, *ceilings, selection)
                  : measure_on_device(oracle, c, op, implementation, queue, *device_ceilings, selection));
      if (peers) {
        const oracle::Case fixed = c.seed() != 0 ? c : c.with_seed(1);
        oracle::Problem problem(fixed, oracle::Contents::none);
        oracle.make(fixed, problem);
        result.measurements.back().peers = peers->measure(problem.call(), selection.seconds);
      }
    }
  return result;
}

std::vector<Floor> read_gate(const std::string& path) {
  std::ifstream file(path);
  if (!file) fail(ErrorCode::io, "bench: cannot read '", path, "'");
  std::vector<Floor> floors;
  std::string text;
  for (int number = 1; std::getline(file, text); ++number) {
    if (const auto comment = text.find('#'); comment != std::string::npos) text.resize(comment);
    std::istringstream words(text);
    double least = 0;
    std::string line;
    if (!(words >> std::ws) || words.eof()) continue;
    if (!(words >> least))
      fail(ErrorCode::bad_argument, "bench: ", path, ":", number, ": expected a ratio and a case line, got '",
           text, "'");
    std::getline(words >> std::ws, line);
    floors.push_back({least, oracle::parse_case(line).line()});
  }
  if (floors.empty()) fail(ErrorCode::bad_argument, "bench: '", path, "' has no line `<ratio> <case>`");
  return floors;
}

std::vector<std::string> bench_gate(const Bench& bench, const std::vector<Floor>& floors) {
  std::vector<std::string> short_of;
  for (const auto& [least, line] : floors) {
    const auto found = std::find_if(bench.measurements.begin(), bench.measurements.end(),
                                    [&, &line = line](const Measurement& m) { return m.line == line; });
    if (found == bench.measurements.end())
      short_of.push_back(core::say(line, ": not measured"));
    else if (found->ratio < least)
      short_of.push_back(core::say(line, ": ratio ", found->ratio, ", expected at least ", least));
  }
  return short_of;
}

}  // namespace isomer::lab
