#include "lab/ask/adapting/aligned_sizes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

bool is_aligned(const Candidate& candidate, const Called& called, const std::string& probe,
                const CallSettings& settings) {
  try {
    const std::shared_ptr<const Given> given = given_by_line(*called.port, probe, called.dtypes);
    const Trial trial = try_call(candidate, called.form, *called.port, *given, settings);
    return trial.ok() && unaligned(trial.answer) == nullptr;
  } catch (const Error&) {  // the op does not take it
    return false;
  }
}

}  // namespace

const Seen* unaligned(const Answer& answer) {
  const auto at = std::find_if(answer.seen.begin(), answer.seen.end(),
                               [](const Seen& seen) { return seen.kind == "misaligned" && seen.role >= 0; });
  return at == answer.seen.end() ? nullptr : &*at;
}

std::shared_ptr<Simpler> of_aligned_sizes(const Candidate& candidate, const Called& called,
                                          const CallSettings& settings) {
  std::shared_ptr<Simpler> aligned = simpler_of(*called.port);
  std::vector<std::string>& probes = aligned->original.probes;
  if (!called.port->original->whole_blocks.empty()) probes.push_back(called.port->original->whole_blocks);
  std::erase_if(probes,
                [&](const std::string& probe) { return !is_aligned(candidate, called, probe, settings); });
  if (probes.empty()) return nullptr;
  aligned->port.whole_vectors = true;
  return aligned;
}

namespace {

void take(const Candidate& candidate, const CallSettings& settings, const std::shared_ptr<Simpler>& aligned,
          const SourcePlace& place, std::string why, Called& called) {
  Finding finding;
  finding.code = Code::shape_refused;
  finding.evidence = std::move(why);
  finding.location = place;
  called.findings.push_back(std::move(finding));
  called.simpler = std::shared_ptr<const Port>(aligned, &aligned->port);
  called.port = called.simpler.get();
  called.given = given_by_line(*called.port, aligned->original.probes.front(), called.dtypes);
  called.trial = try_call(candidate, called.form, *called.port, *called.given, settings);
}

}  // namespace

void take_aligned_sizes(const Candidate& candidate, const CallSettings& settings,
                        const std::shared_ptr<Simpler>& aligned, const Seen& seen, const std::string& line,
                        Called& called) {
  take(candidate, settings, aligned, seen.place,
       fmt::format(
           "'{}' has rows that do not begin at a multiple of what it touches at once, and is not asked: {}",
           line, seen.text.substr(std::min(seen.text.find("kernel "), seen.text.size()))),
       called);
}

void adapt_to_alignment(const Candidate& candidate, const CallRequest& request, Called& called) {
  if (!request.recorded.empty() || !is_stranger(request, *called.form.entry)) return;
  const Answer& answer = called.trial.answer;
  const Seen* first = unaligned(answer);
  const bool refused =
      first == nullptr && answer.end == Answer::End::refused && answer.refused_launches.empty();
  if (first == nullptr && !refused) return;
  const std::shared_ptr<Simpler> aligned = of_aligned_sizes(candidate, called, request.settings);
  if (aligned == nullptr) return;
  if (refused) {
    const std::string said = answer.message.substr(0, answer.message.find('\n'));
    take(candidate, request.settings, aligned, called.form.entry->place,
         fmt::format("'{}' is refused (\"{:.200}\"), and sizes like it are not asked", called.given->line,
                     said),
         called);
  } else {
    const Seen seen = *first;
    take_aligned_sizes(candidate, request.settings, aligned, seen, called.given->line, called);
  }
  called.callable = called.trial.ok();
}

}  // namespace isomer::lab
