#pragma once

#include "lab/judge/diagnose.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {

/// "rounding-mode", "dtype-refused K": what is said against the candidate, in the order of the report; with
/// whoever is meant before it where that is test or instruction.
inline std::vector<std::string> said_of(const Diagnosis& diagnosis, Subject subject = Subject::candidate) {
  std::vector<std::string> all;
  for (const Finding& each : diagnosis.findings) {
    EXPECT_FALSE(each.evidence.empty()) << each.code;
    EXPECT_FALSE(each.fix.empty()) << each.code;
    if (each.subject == subject) all.push_back(said_against(each));
  }
  return all;
}

/// The candidates of a folder below examples/ports, examined with no cache but the test's own.
inline std::vector<Diagnosis> examined(const std::string& folder) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  return diagnose_folder(find_cases(std::filesystem::path(ISOMER_PORTS) / folder).at(0));
}

using Said = std::vector<std::string>;

}  // namespace isomer::lab
