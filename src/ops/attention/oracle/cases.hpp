#pragma once

#include "oracle/problem.hpp"
#include "oracle/values.hpp"

#include <string>
#include <vector>

/// The parts of attention's case list.
namespace isomer::ops::attention {

const oracle::CaseSchema& schema();
std::vector<oracle::Case> cases();
/// A case for each program that plans of large devices reach and that no other case needs.
std::vector<oracle::Case> cases_of_programs();
std::vector<oracle::Case> bench_cases();
void make(const oracle::Case& c, oracle::Problem& problem);

/// Rows of the feature table, as coverage counts them, and which of them a case has.
const std::vector<std::string>& feature_names();
std::vector<std::string> features(const oracle::Case& c);
/// Why two features never meet in one valid case; "" where they may.
std::string cannot_meet(const std::string& a, const std::string& b);
/// Turns a feature on, with what it needs. `variant` picks among its forms.
void enable(oracle::Case& c, const std::string& feature, int variant);

/// A regime for one input: with values chosen so that no softmax degenerates and no f32 product overflows.
struct Values {
  oracle::Regime regime;
  double scale;
};
Values values_of(const oracle::Case& c, char tensor, DType type);

/// Lengths of the batch entries of a case, each vector with b elements.
struct Lengths {
  std::vector<std::int64_t> q;       ///< queries given
  std::vector<std::int64_t> q_used;  ///< of them in use
  std::vector<std::int64_t> given;   ///< slots that the entry has
  std::vector<std::int64_t> used;    ///< of them in use, left padding and new keys among them
  std::vector<std::int64_t> added;   ///< new keys
  std::vector<std::int64_t> pad;     ///< left padding
};
Lengths lengths_of(const oracle::Case& c, oracle::Random& random);

}  // namespace isomer::ops::attention
