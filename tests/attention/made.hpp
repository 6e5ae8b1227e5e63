#pragma once

#include <isomer/attention.hpp>

#include "oracle/oracle.hpp"

#include <string>
#include <vector>

namespace isomer {

/// A case line made into a call that a test may change and run as often as it likes.
class Made {
 public:
  explicit Made(const std::string& line);
  AttentionArgs& args() { return args_; }
  AttentionOptions& options() { return options_; }
  oracle::Problem& problem() { return problem_; }

  /// Runs the call on a CPU queue of that many threads. The tensors of the case hold the result.
  Made& run(int threads = 2);
  std::vector<double> out() const { return oracle::elements(args_.out); }
  std::vector<double> lse() const { return oracle::elements(args_.lse); }

 private:
  oracle::Case case_;
  oracle::Problem problem_;
  AttentionArgs args_;
  AttentionOptions options_;
};

/// Largest |a − b|, elements that are equal (infinities, NaN) aside; inf where the sizes differ.
double distance(const std::vector<double>& a, const std::vector<double>& b);

/// Equal element by element, any NaN equal to any NaN.
bool same(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace isomer
