#pragma once

#include "lab/batch/judged.hpp"
#include "lab/candidate/candidate.hpp"

#include <functional>
#include <string>
#include <vector>

namespace isomer::lab {

/// Many folders of candidates, judged in processes of their own, several at once.
struct BatchSettings {
  Backend backend = Backend::emulated;
  int jobs = 1;
  bool pictures = false;  ///< keeps where the outputs differ, which an HTML page shows
  double budget = 0;      ///< seconds after which no further folder is begun; 0: no end
  double limit = 0;       ///< seconds that one folder may take; 0: no end
  std::string
      results;  ///< a file with a line for each candidate as soon as it is judged; "-": standard output
  bool resume = false;  ///< what that file has already said is not judged again
  std::function<void(int done, int all, const std::string& folder)> progress;
};

struct BatchEnd {
  std::vector<Judged> judged;  ///< in the order of the folders
  std::size_t skipped = 0;     ///< folders that the results file had already
  std::size_t left = 0;        ///< folders that were not come to
  int signal = 0;              ///< that stopped the batch; 0: none did
};

/// Whatever is wrong with one folder, the others go on. After a stop, nothing of what it started is left: no
/// process, no folder of a build.
BatchEnd run_batch(const std::vector<CaseFolder>& folders, const BatchSettings& settings);

/// Every n-th folder, from the i-th on (1 ≤ i ≤ n), of a list that all shards see alike.
std::vector<CaseFolder> shard(std::vector<CaseFolder> folders, int i, int n);

}  // namespace isomer::lab
