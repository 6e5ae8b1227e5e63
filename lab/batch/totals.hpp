#pragma once

#include "lab/batch/judged.hpp"

#include <map>
#include <string>
#include <vector>

namespace isomer::lab {

struct Count {
  std::size_t passed = 0, failed = 0, errors = 0;
  double seconds = 0;
  std::size_t all() const { return passed + failed + errors; }
};

/// Of an author's answers to tasks: the chance that one of k of them, drawn without choice, passes; the mean
/// over the tasks with at least k answers: 1 − C(n−c, k)/C(n, k) of n answers of which c pass.
struct PassAt {
  int k = 1;
  double share = 0;
  std::size_t tasks = 0;
};

struct Totals {
  Count all;
  std::map<std::string, std::size_t> causes;           ///< by code: how many candidates have such a finding
  std::map<std::string, Count> by_op, by_author;       ///< "" where none is known
  std::map<std::string, std::vector<PassAt>> pass_at;  ///< by author, for k of 1, 2, 5, 10, 100
};
Totals totals_of(const std::vector<Judged>& judged);

/// Two batches over the same candidates, by folder and name.
struct Comparison {
  struct Change {
    std::string folder, candidate, before, after;  ///< verdicts
    std::vector<std::string> gone, come;           ///< codes of findings
  };
  std::vector<Change> better, worse, other;  ///< other: the verdict is the same, its findings are not
  std::size_t same = 0, only_before = 0, only_after = 0;
};
Comparison compare(const std::vector<Judged>& before, const std::vector<Judged>& after);

}  // namespace isomer::lab
