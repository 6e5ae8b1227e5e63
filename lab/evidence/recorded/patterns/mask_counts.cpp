#include "lab/evidence/recorded/patterns/reductions.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

struct Share {
  const char* said;
  double (*of)(double counted, double all);
};
constexpr Share kShares[] = {
    {"it is divided by the length of the row instead of by how many elements count",
     [](double n, double all) { return n / all; }},
    {"it is divided by how many elements count instead of by the length of the row",
     [](double n, double all) { return all / n; }},
    {"it is not divided by how many elements count", [](double n, double) { return n; }},
    {"what is under the root is divided by n instead of by n - 1, where n elements count",
     [](double n, double) { return std::sqrt((n - 1) / n); }},
    {"what is under the root is divided by n - 1 instead of by n, where n elements count",
     [](double n, double) { return std::sqrt(n / (n - 1)); }},
    {"it is divided by n instead of by n - 1, where n elements count",
     [](double n, double) { return (n - 1) / n; }},
    {"it is divided by n - 1 instead of by n, where n elements count",
     [](double n, double) { return n / (n - 1); }},
};

/// How many ones each row has of what consists of zeros and ones, some of each; empty: it does not.
std::vector<double> ones_of_rows(const Value& value) {
  if (!value.is_tensor() || value.tensor.rank < 2 || value.tensor.empty()) return {};
  const std::vector<double> elements = oracle::elements(value.tensor);
  const auto width = static_cast<std::size_t>(value.tensor.size(-1));
  std::vector<double> counts(elements.size() / width);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i] != 0 && elements[i] != 1) return {};
    counts[i / width] += elements[i];
  }
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  return *least < *most ? counts : std::vector<double>();
}

}  // namespace

Finding factor_of_masks(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                        std::size_t output) {
  constexpr double kClose = 1e-3;
  constexpr std::size_t kFewest = 4;
  for (std::size_t role = 0; role < calls.front().call->before.size(); ++role)
    for (const Share& share : kShares) {
      std::size_t telling = 0;
      bool holds = true;
      for (std::size_t i = 0; i < calls.size() && holds; ++i) {
        if (!outcomes[i].answer.ok() || output >= calls[i].outputs.size()) return {};
        const std::vector<double> counts = ones_of_rows(calls[i].values[role]);
        const Tensor& tensor = calls[i].outputs[output].want;
        const std::vector<double> want = oracle::elements(tensor), &got = outcomes[i].got[output];
        holds = is_float(tensor.dtype) && !counts.empty() && counts.size() == want.size() &&
                got.size() == want.size();
        for (std::size_t r = 0; r < want.size() && holds; ++r) {
          const double by = share.of(counts[r], static_cast<double>(calls[i].values[role].tensor.size(-1)));
          if (!std::isfinite(by) || want[r] == 0) continue;
          holds = std::fabs(got[r] - by * want[r]) <= kClose * std::fabs(by * want[r]);
          telling += std::fabs(by - 1) > 4 * kClose;
        }
      }
      if (!holds || telling < kFewest) continue;
      Finding finding;
      finding.code = Code::missing_scale;
      finding.argument = calls.front().outputs[output].name;
      finding.evidence = fmt::format("{} has in each row the factor as if {}: by the ones in the rows of {}",
                                     finding.argument, share.said, calls.front().roles[role].name);
      finding.fix = "divide by as many as the original counts";
      return finding;
    }
  return {};
}

}  // namespace isomer::lab
