#pragma once

#include "gpu/tuned.hpp"
#include "lab/bench/bench.hpp"

#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

struct TuneSelection {
  std::vector<std::string> ops;
  std::vector<std::string> lines;  ///< case lines instead of the ops' own bench cases
  std::string implementation;      ///< the registry's choice where empty
  Device device{};
  double seconds = 1.0;  ///< spent on each case
  int candidates = 6;    ///< of each case, the model's best
  bool verify = true;    ///< hold each candidate's output against the reference where it is small enough
};

/// A candidate that was measured: calls that follow one another, the inputs rotated.
struct TimedCandidate {
  std::string name;
  double modelled = 0;  ///< seconds
  Spread seconds;
  std::string verified;  ///< "yes", "no: <reason>", or why not looked at
};

struct TunedCase {
  std::string line, implementation;
  std::vector<TimedCandidate> candidates;  ///< the model's best first
  std::size_t takes = 0;                   ///< the least median of those whose output is not wrong
  std::string skipped;                     ///< why nothing was measured
};

struct Tuning {
  std::string device;
  std::vector<TunedCase> cases;
};

/// Measures the candidates of each case in turn, round by round, and puts what it measured into the table.
/// Throws Error bad_argument for unknown names and lines, and for a device that is the CPU; unsupported where
/// no candidate of a case gives the right output.
Tuning tune(const TuneSelection& selection, gpu::TunedTable& table,
            const std::function<void(int, int, const std::string&)>& progress = {});

std::string tune_table(const Tuning& tuning);
std::string tune_json(const Tuning& tuning);

}  // namespace isomer::lab
