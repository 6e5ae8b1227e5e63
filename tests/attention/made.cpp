#include "made.hpp"

#include <cmath>
#include <limits>

namespace isomer {

Made::Made(const std::string& line)
    : case_(oracle::parse_case("attention " + line + " seed=11")), problem_(case_) {
  oracle::find_oracle("attention")->make(case_, problem_);
  args_ = problem_.args<AttentionArgs>();
  options_ = problem_.options<AttentionOptions>();
}

Made& Made::run(int threads) {
  attention(Queue::cpu({.executor = Executor::with_threads(threads)}), args_, options_);
  return *this;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double difference = std::fabs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}

bool same(const std::vector<double>& a, const std::vector<double>& b) { return distance(a, b) == 0; }

}  // namespace isomer
