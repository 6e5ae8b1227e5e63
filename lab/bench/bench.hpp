#pragma once

#include "oracle/oracle.hpp"

#include <isomer/queue.hpp>

#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

struct BenchSelection {
  std::vector<std::string> ops;
  std::vector<std::string> implementations;  ///< the registry's choice where empty
  Device device{};                           ///< where the ops run
  std::vector<std::string> lines;            ///< case lines instead of the op's own bench cases
  double seconds = 1.0;                      ///< spent on each case, ceilings included
  bool verify = true;  ///< hold the timed output against the reference where it is small enough
  std::string peers;   ///< the Python whose PyTorch is timed beside each case; none where empty
};

/// Minimum, median and maximum of some rounds.
struct Spread {
  double low = 0, median = 0, high = 0;
};

/// The time of somebody else's way to compute a case, or why it does not take it.
struct PeerTime {
  std::string name;
  Spread seconds;
  int rounds = 0;
  std::string refused;
};

struct Measurement {
  std::string op, line, implementation;
  Spread seconds;
  double host_seconds = 0;  ///< of one call on the host, where the device works on its own
  int rounds = 0;
  double bytes = 0, flops = 0;
  double copy_rate = 0,
         fma_rate = 0;  ///< medians of the ceilings taken between the rounds; bytes/s and FLOP/s
  double byte_floor = 0, flop_floor = 0;  ///< seconds
  bool memory_bound = true;               ///< which floor binds
  double ratio = 0;  ///< median over rounds of floor / time, each with its own round's ceiling
  Spread ratios;
  std::string verified;  ///< "yes", "no: <reason>", or why not looked at
  std::vector<PeerTime> peers;
};

struct Bench {
  Device device{};
  int threads = 0;     ///< of the CPU
  std::string target;  ///< the CPU's instruction set, or the device's name
  std::string peers;   ///< what was timed beside: "PyTorch 2.11.0, CUDA 13.0, cuDNN 9.19"
  std::vector<Measurement> measurements;
};

/// Alternates rounds of each case with rounds of its ceiling. Throws Error bad_argument for unknown names and
/// lines.
Bench bench(const BenchSelection& selection,
            const std::function<void(int, int, const std::string&)>& progress = {});

std::string bench_table(const Bench& bench);
std::string bench_json(const Bench& bench);
/// A bar per case: the ratio to the binding ceiling.
std::string bench_svg(const Bench& bench);

/// The least ratio that a case may have.
struct Floor {
  double least;
  std::string line;
};
/// The floors of a file of lines `<least ratio>  <case line>`; # begins a comment. Throws Error io or
/// bad_argument for a file that cannot be read, is something else or has no floor.
std::vector<Floor> read_gate(const std::string& file);
/// A sentence for each floor that a measurement falls short of, or that was not measured.
std::vector<std::string> bench_gate(const Bench& bench, const std::vector<Floor>& floors);

}  // namespace isomer::lab
