#include "lab/evidence/variations/narrow_sums.hpp"

#include <fmt/format.h>
#include "lab/evidence/variations/changed_answers.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr double kMostShare = 0x1p-6;

bool sums(const Port& port) {
  return std::any_of(port.oracle->variations.begin(), port.oracle->variations.end(),
                     [](const oracle::Variation& each) { return each.name.starts_with("accumulat"); });
}

}  // namespace

std::string narrow_sums(const Port& port, const Numbers& numbers) {
  if (!sums(port)) return {};
  double largest = 0;
  std::size_t overflowed = 0, calls = 0;
  for (const Evidence& evidence : numbers.evidence) {
    const oracle::Expected best =
        varied(*evidence.given, *port.oracle, oracle::Variations(numbers.explanation.set));
    for (std::size_t t = 0; t < best.tensors.size(); ++t) {
      const oracle::ExpectedTensor& want = best.tensors[t];
      double error = 0, size = 0;
      bool finite = true, wrong = false;
      for (std::size_t i = 0; i < want.value.size(); ++i) {
        if (evidence.given->open[t][i] || !want.written[i] || !std::isfinite(want.value[i])) continue;
        const double got = evidence.outputs[t][i];
        wrong = wrong || !holds(want, i, got);
        // What a narrow type cannot hold is infinity, or NaN where two of them meet.
        finite = finite && std::isfinite(got);
        error += (got - want.value[i]) * (got - want.value[i]);
        size += want.value[i] * want.value[i];
      }
      if (!finite) {
        ++overflowed;
        continue;
      }
      if (size == 0 || !wrong) continue;
      ++calls;
      largest = std::max(largest, std::sqrt(error / size));
    }
  }
  if (calls == 0 || overflowed > calls || !(largest <= kMostShare)) return {};
  std::string text = fmt::format(
      "in every call the root mean square of the error is at most {:.2g} of the answer's, as if sums are "
      "kept in a narrower type",
      largest);
  if (overflowed > 0) text += fmt::format(", and {} of the calls overflow it", overflowed);
  return text;
}

}  // namespace isomer::lab
