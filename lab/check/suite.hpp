#pragma once

#include "core/plan.hpp"
#include "lab/check/outcome.hpp"
#include "lab/check/overdue.hpp"
#include "oracle/case.hpp"
#include "oracle/oracle.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

/// What `isomer check` was asked to do. Empty lists mean all.
struct Selection {
  std::vector<std::string> ops;
  std::vector<std::string> implementations;  ///< "cpu/avx2", or "cpu" for all of a backend
  std::vector<std::string> lines;            ///< case lines; they take the place of the ordinary lists
  std::vector<std::string> backends = {"cpu", "cuda", "hip"};
  std::uint64_t seed = 0;  ///< 0: a fresh one
  int jobs = 0;            ///< cases at once; 0: one per CPU
  int repeat = 2;          ///< runs of each case, two at least, whose results must have the same bits
  int sample = 0;          ///< so many cases of each op instead of its whole list; 0: the whole
};

/// An op of which not every ordinary case was looked at.
struct Sampled {
  std::string op;
  int cases = 0, all = 0;
};

/// An implementation that exists but cannot run here.
struct Absent {
  std::string op, implementation, reason;
};

struct Suite {
  std::uint64_t seed = 0;
  std::vector<Outcome> outcomes;  ///< in the order of ops and cases, whatever the jobs
  std::vector<Absent> absent;
  std::vector<Sampled> sampled;  ///< empty unless a sample was asked for
  double seconds = 0;

  int count(Status status) const;
  int checked() const { return count(Status::passed) + count(Status::failed); }
};

/// Called after each case with the number done and the number in all; from any thread, one at a time.
using Progress = std::function<void(int done, int all, const std::string& line)>;

/// How long an implementation may work on a case before it is told.
constexpr std::chrono::seconds kPatience{60};

/// Checks what is selected. `late` is told of what has worked on a case for kPatience. Throws Error
/// bad_argument for an unknown op, implementation, backend or malformed case line.
Suite check(const Selection& selection, const Progress& progress = {}, const Late& late = {});

}  // namespace isomer::lab
