#include "lab/ask/adapting/ways.hpp"

#include "lab/ask/adapting/changes.hpp"
#include "lab/ask/nearness.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {

double likelihood(const Given& given, const Trial& trial) {
  if (!trial.ok() || !trial.answer.refused_launches.empty()) return -2;
  Trial counted = trial;
  std::erase_if(counted.answer.seen,
                [](const Seen& seen) { return seen.kind == "race" && (seen.stores_twice || seen.shared); });
  return worth(given, counted) + 0.5 * correlation(given, trial);
}

bool is_right_as_far_as_written(const Given& given, const Trial& trial) {
  if (!leaves_out(given, trial)) return true;
  std::size_t written = 0, right = 0;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i) {
      if (trial.untouched[t][i] != 0) continue;
      ++written;
      right += holds(given.plain.tensors[t], i, trial.outputs[t][i]);
    }
  return written > 0 && 10 * right > 9 * written;
}

bool leaves_barriers_out(const Trial& trial) {
  return std::any_of(trial.answer.seen.begin(), trial.answer.seen.end(),
                     [](const Seen& seen) { return seen.kind == "barrier-divergence"; });
}

Outcome outcome(const Given& given, const Trial& trial) {
  if (!trial.answer.ok()) return {fmt::format("'{}': {}", given.line, trial.answer.message), given.line};
  if (!trial.ok()) return {fmt::format("'{}': {}", given.line, trial.misfit), given.line};
  const bool left = strays(trial);
  return {fmt::format("'{}': {:.0f} % of the answer is right{}", given.line, 100 * share_right(given, trial),
                      left                         ? ", and memory outside the tensors is accessed"
                      : leaves_barriers_out(trial) ? ", and threads leave out a barrier at which others wait"
                                                   : ""),
          given.line, left};
}

bool races_within_blocks(const Trial& trial) {
  return std::any_of(trial.answer.seen.begin(), trial.answer.seen.end(), [](const Seen& seen) {
    return seen.kind == "race" && seen.shared && !seen.stores_twice;
  });
}

bool is_right(const Given& given, const Trial& trial) {
  return trial.ok() && share_right(given, trial) > 0.98;
}

bool confuses_sizes(const Candidate& candidate, const Way& way, const CallSettings& settings,
                    double& worked) {
  const auto& chosen = way.simpler->chosen;
  for (std::size_t a = 0; a < chosen.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      if (chosen[a].second != chosen[b].second) continue;
      bool wrong = true;
      for (const std::size_t larger : {a, b}) {
        const std::shared_ptr<Simpler> other = copy_of(*way.simpler);
        choose(*other, chosen[larger].first, std::to_string(2 * std::stoi(chosen[larger].second)));
        const std::shared_ptr<const Given> given = given_by_line(without_what_it_lacks(other->port, way.form),
                                                                 other->original.probes.front(), way.dtypes);
        const Trial trial = try_call(candidate, way.form, other->port, *given, settings);
        worked += trial.answer.worked_seconds;
        wrong = wrong && trial.ok() && !is_right(*given, trial);
      }
      if (wrong) return true;
    }
  return false;
}

bool right_elsewhere(const Candidate& candidate, const Way& way, const CallSettings& settings,
                     double& worked) {
  if (!way.trial.ok() || strays(way.trial)) return false;
  const Port port = without_what_it_lacks(way.simpler->port, way.form);
  const std::vector<std::string>& probes = way.simpler->original.probes;
  const auto keeps = [&](const std::string& line, bool right) {
    const std::shared_ptr<Given> given = given_by_line(port, line, way.dtypes);
    const Trial trial = try_call(candidate, way.form, way.simpler->port, *given, settings);
    worked += trial.answer.worked_seconds;
    return trial.ok() && !strays(trial) && (!right || is_right(*given, trial));
  };
  // Of who has one length none is said.
  const bool lengths = std::any_of(probes.begin(), probes.end(), [](const std::string& line) {
    return line.find(" sk=") != std::string::npos;
  });
  const auto open = std::find_if(probes.begin(), probes.end(), [&](const std::string& line) {
    return (!lengths || line.find(" sk=") != std::string::npos) && line.find("causal") == std::string::npos;
  });
  if (open == probes.end() || !keeps(*open, true)) return false;
  return std::all_of(probes.begin() + 1, probes.end(), [&](const std::string& line) {
    return line.find("causal") == std::string::npos || keeps(line, false);
  });
}

double likelihood_of_others(const Candidate& candidate, const Way& way, const CallSettings& settings,
                            double& worked) {
  constexpr std::size_t kOthers = 2;
  const Port port = without_what_it_lacks(way.simpler->port, way.form);
  double least = way.score;
  for (std::size_t i = 1; i <= kOthers && i < way.simpler->original.probes.size(); ++i) {
    const std::shared_ptr<Given> given = given_by_line(port, way.simpler->original.probes[i], way.dtypes);
    const Trial trial = try_call(candidate, way.form, way.simpler->port, *given, settings);
    worked += trial.answer.worked_seconds;
    least = std::min(least, likelihood(*given, trial));
  }
  return least;
}

double likelihood_with_flag(const Candidate& candidate, const Way& way, const CallSettings& settings,
                            double& worked, bool& right) {
  double most = -3;
  const Port& port = way.simpler->port;
  if (!way.trial.ok() || strays(way.trial)) return most;
  for (std::size_t role = 0; role < port.roles.size(); ++role) {
    if (port.original->parameters[role].kind != oracle::Original::Kind::boolean ||
        way.form.takes(static_cast<int>(role)))
      continue;
    Port flagged = without_what_it_lacks(port, way.form);
    flagged.always = {port.roles[role].argument};
    const std::shared_ptr<const Given> given =
        given_by_line(flagged, port.original->probes.front(), way.dtypes);
    const Trial trial = try_call(candidate, way.form, flagged, *given, settings);
    worked += trial.answer.worked_seconds;
    most = std::max(most, likelihood(*given, trial));
    right = right || (is_right(*given, trial) && !strays(trial) && !leaves_barriers_out(trial));
  }
  return most;
}

bool is_half_right(const Given& given, const Trial& trial) {
  constexpr double kHalf = 0.4;
  return trial.ok() && !strays(trial) && !leaves_out(given, trial) && share_right(given, trial) > kHalf;
}

}  // namespace isomer::lab
