#pragma once

#include "lab/check/coverage.hpp"
#include "lab/check/suite.hpp"

#include <string>

namespace isomer::lab {

/// The table of `isomer check`: a row per op and implementation, then each failure with its case line.
std::string check_table(const Suite& suite);

/// The JSON of `isomer check`, version 1; with "coverage" where one is given.
std::string check_json(const Suite& suite, const Coverage* coverage);

/// JUnit: a suite per op, a test case per case and implementation.
std::string check_junit(const Suite& suite);

std::string coverage_table(const Coverage& coverage);

}  // namespace isomer::lab
