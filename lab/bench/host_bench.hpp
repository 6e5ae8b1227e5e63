#pragma once

#include "lab/bench/bench.hpp"

namespace isomer::lab {

/// What one call costs on the host, in seconds: the least of many batches, as a machine's other work only
/// adds.
struct HostCost {
  std::string line, implementation;
  double planning = 0;  ///< validating, choosing and planning, once for a form of call
  double call = 0;      ///< a call whose plan is kept, computing included on the CPU
  double plan = 0;      ///< the same by an isomer::Plan
};

struct HostBench {
  Device device{};
  int threads = 0;
  std::vector<HostCost> costs;
};

/// The smallest ordinary case of each op, or the cases that are given. Throws Error as bench() does.
HostBench host_bench(const BenchSelection& selection);

std::string host_bench_table(const HostBench& bench);
std::string host_bench_json(const HostBench& bench);

}  // namespace isomer::lab
