#pragma once

#include "lab/check/suite.hpp"

#include <string>
#include <vector>

namespace isomer::cli {

struct CheckOptions {
  lab::Selection selection;
  std::vector<std::string> what, paths;
  std::vector<std::string> backends;
  std::string junit, html, markdown, entry;
  std::string jsonl, resume, shard, budget, limit, sign;
  std::string isolation = "best";
  bool json = false, coverage = false, verify_fixes = false, codes = false;
};

/// `isomer check PATH…`; gives the exit code.
int check_candidates(CheckOptions& options);

}  // namespace isomer::cli
