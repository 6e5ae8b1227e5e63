#include "lab/evidence/probes/probes.hpp"

#include "lab/evidence/probes/speed.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr int kMeasured = 30;
constexpr std::size_t kRecorded = 4;  // calls of a recording that are measured

/// Elements whose answer the original leaves to chance: several threads may write them.
bool left_to_chance(const Given& given) {
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t) {
    if (!given.plain.tensors[t].others.empty()) return true;
    if (std::find(given.open[t].begin(), given.open[t].end(), 1) != given.open[t].end()) return true;
  }
  return false;
}

void judge_repeats(const Given& given, const Answer& answer, Probed& found) {
  if (answer.differing == 0 || left_to_chance(given)) return;
  Finding finding;
  finding.code = Code::nondeterministic;
  finding.evidence =
      fmt::format("{} of {} more calls with the same arguments give an answer with other bytes ('{}')",
                  answer.differing, answer.seconds.size(), given.line);
  finding.fix =
      "add in a fixed order: use no floating-point atomics, and let no thread read what another writes";
  add_once(found.findings, std::move(finding));
}

/// Returns whether it was compared with the original.
bool judge_time(const Given& given, const Answer& answer, Probed& found) {
  constexpr std::size_t kFewest = 5;
  if (given.original_seconds.size() < kFewest || answer.seconds.size() < kFewest) return false;
  if (given.original_device != answer.device) {
    found.notes.push_back(
        fmt::format("its time is not compared: the original was recorded on {}, but this device is {}",
                    given.original_device, answer.device));
    return true;
  }
  const Speed speed = compare_speed(answer.seconds, given.original_seconds);
  const std::string said =
      fmt::format("'{}' on {}: {}", given.line, answer.device,
                  sentence_of(speed, answer.seconds.size(), given.original_seconds.size()));
  if (!speed.slow) {
    found.notes.push_back("its time is not a fault: " + said);
    return true;
  }
  Finding finding;
  finding.code = Code::slow;
  finding.evidence = said;
  finding.fix =
      "trace both with isomer trace and compare them with isomer diff: launches, geometry, memory accesses";
  add_once(found.findings, std::move(finding));
  return true;
}

}  // namespace

void probe_measured(const Subjected& s, const std::vector<std::shared_ptr<const Given>>& recorded,
                    Probed& found) {
  CallSettings settings = s.settings;
  settings.measured = kMeasured;
  std::vector<std::shared_ptr<const Given>> asked;
  if (std::find(recorded.begin(), recorded.end(), s.given) == recorded.end()) asked.push_back(s.given);
  asked.insert(asked.end(), recorded.begin(),
               recorded.begin() + static_cast<std::ptrdiff_t>(std::min(recorded.size(), kRecorded)));
  bool compared = false;
  std::string device;
  for (const std::shared_ptr<const Given>& given : asked) {
    ++found.calls;
    const Trial trial = try_call(s.candidate, s.form, s.port, *given, settings);
    if (!trial.ok()) continue;
    device = trial.answer.device;
    judge_repeats(*given, trial.answer, found);
    // What a wrong answer costs says nothing.
    if (s.explained && s.set.empty()) compared = judge_time(*given, trial.answer, found) || compared;
  }
  if (!compared && s.explained && s.set.empty())
    found.notes.push_back(
        fmt::format("its time is not compared: no recording has the original's times on {} (isomer record "
                    "measures them if label and test run on this device)",
                    device.empty() ? "this device" : device));
}

}  // namespace isomer::lab
