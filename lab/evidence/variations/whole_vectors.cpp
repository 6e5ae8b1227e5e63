#include "lab/evidence/variations/whole_vectors.hpp"

#include "lab/ask/adapting/simpler_ports.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

const Seen* unaligned(const Answer& answer) {
  const auto at = std::find_if(answer.seen.begin(), answer.seen.end(),
                               [](const Seen& seen) { return seen.kind == "misaligned" && seen.role >= 0; });
  return at == answer.seen.end() ? nullptr : &*at;
}

bool is_aligned(const Candidate& candidate, const Called& called, const Port& port, const std::string& probe,
                const CallSettings& settings) {
  try {
    const std::shared_ptr<const Given> given = given_by_line(port, probe, called.dtypes);
    const Trial trial = try_call(candidate, called.form, port, *given, settings);
    return trial.ok() && unaligned(trial.answer) == nullptr;
  } catch (const Error&) {  // the op does not take it
    return false;
  }
}

}  // namespace

bool take_whole_vectors(const Candidate& candidate, const Questions& questions, Called& called,
                        Numbers& numbers) {
  const Seen* first = nullptr;
  std::string line;
  for (std::size_t i = 0; i < numbers.answers.size() && first == nullptr; ++i)
    if ((first = unaligned(numbers.answers[i])) != nullptr) line = numbers.answered[i]->line;
  if (first == nullptr || !questions.recorded.empty()) return false;
  const std::shared_ptr<Simpler> aligned = simpler_of(*called.port);
  std::vector<std::string>& probes = aligned->original.probes;
  if (!called.port->original->whole_blocks.empty()) probes.push_back(called.port->original->whole_blocks);
  std::erase_if(probes, [&](const std::string& probe) {
    return !is_aligned(candidate, called, *called.port, probe, questions.settings);
  });
  if (probes.empty()) return false;
  Finding finding;
  finding.code = Code::shape_refused;
  finding.evidence = fmt::format(
      "'{}' has rows that do not begin at a multiple of what it touches at once, and is not asked: {}", line,
      first->text.substr(std::min(first->text.find("kernel "), first->text.size())));
  finding.location = first->place;
  called.findings.push_back(std::move(finding));
  aligned->port.whole_vectors = true;
  called.simpler = std::shared_ptr<const Port>(aligned, &aligned->port);
  called.port = called.simpler.get();
  called.given = given_by_line(*called.port, probes.front(), called.dtypes);
  called.trial = try_call(candidate, called.form, *called.port, *called.given, questions.settings);
  numbers = explain_numbers(candidate, called.form, *called.port, questions);
  return true;
}

}  // namespace isomer::lab
