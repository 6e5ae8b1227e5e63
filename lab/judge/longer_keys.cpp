#include "lab/judge/longer_keys.hpp"

#include "lab/ask/adapting/simpler_ports.hpp"
#include "lab/ask/nearness.hpp"
#include "lab/text/pattern.hpp"

#include <fmt/format.h>

#include <cstdlib>

namespace isomer::lab {
namespace {

/// Blocks of two for each of the device's multiprocessors, and a tile of 128 keys in each, and a quarter
/// more.
constexpr std::int64_t kKeysOfAllBlocks = 2 * 132 * 128 * 5 / 4;
constexpr double kPatience = 5e8;  // steps of the reference, of which one answer takes some 1e7

bool counts_multiprocessors(const std::string& source) {
  static const Pattern words("[mM]ulti_?[pP]rocessor_?[cC]ount|MULTIPROCESSOR_COUNT");
  return words.found_in(source);
}

/// The problem of one query with the most rows of queries, with so many keys that its blocks have two tiles
/// each; empty where the port asks for no such problem.
std::string longer(const std::vector<std::string>& probes) {
  static const Pattern keys("\\bsk=(\\d+)"), batch("\\bb=(\\d+)"), heads("\\bhq=(\\d+)"),
      other("scale=|regime=|causal");
  const auto number = [](const Pattern& of, const std::string& line) -> std::int64_t {
    const std::optional<Match> match = of.find(line);
    return match ? std::atoll((*match)[1].c_str()) : 1;
  };
  std::string best;
  std::int64_t most = 0;
  for (const std::string& line : probes) {
    if ((" " + line + " ").find(" sq=1 ") == std::string::npos || !keys.found_in(line) ||
        other.found_in(line))
      continue;
    const std::int64_t rows = number(batch, line) * number(heads, line);
    if (rows <= most) continue;
    most = rows;
    best = keys.replaced(line, fmt::format("sk={}", kKeysOfAllBlocks / rows / 8 * 8));
  }
  return best;
}

}  // namespace

void ask_longer_keys(const Candidate& candidate, const std::string& source, const Questions& questions,
                     Called& called, Numbers& numbers) {
  if (!numbers.explanation.explains || !numbers.explanation.set.empty() || !questions.recorded.empty() ||
      !counts_multiprocessors(source))
    return;
  const std::string line = longer(called.port->original->probes);
  if (line.empty()) return;
  std::shared_ptr<const Given> given;
  try {
    given = given_by_line(*called.port, line, called.dtypes);
  } catch (const Error&) {  // the op does not take it
    return;
  }
  const Trial trial = try_call(candidate, called.form, *called.port, *given, questions.settings);
  constexpr double kAll = 0.999;
  if (!trial.ok() || share_right(*given, trial) > kAll) return;
  const std::shared_ptr<Simpler> asked = simpler_of(*called.port);
  asked->original.probes.push_back(line);
  called.simpler = std::shared_ptr<const Port>(asked, &asked->port);
  called.port = called.simpler.get();
  Questions patient = questions;
  patient.patience = kPatience;
  numbers = explain_numbers(candidate, called.form, *called.port, patient);
}

}  // namespace isomer::lab
