#include "lab/check/compare.hpp"

#include "gpu/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

std::string place(const oracle::ExpectedTensor& expected, std::size_t flat) {
  std::string text = "]";
  for (std::size_t i = expected.shape.size(); i-- > 0;) {
    const auto size = static_cast<std::size_t>(expected.shape[i]);
    text = fmt::format("{}{}{}", i == 0 ? "" : ", ", flat % size, text);
    flat /= size;
  }
  return expected.name + "[" + text;
}

/// Whether the exact value, or one within the bound, rounds to infinity in that type.
bool may_overflow(DType type, double value, double bound) {
  return std::isinf(core::round_to(type, std::copysign(std::fabs(value) + bound, value)));
}

bool holds(const oracle::ExpectedTensor& expected, std::size_t i, double got) {
  const double want = expected.value[i];
  if (std::isnan(want)) return std::isnan(got);
  if (std::isnan(got)) return false;
  if (std::isinf(want)) return got == want;
  if (std::isinf(got))
    return std::signbit(got) == std::signbit(want) && may_overflow(expected.dtype, want, expected.bound[i]);
  return std::fabs(got - want) <= expected.bound[i];
}

bool is_among(const std::unordered_map<std::size_t, std::vector<double>>& instead, std::size_t i,
              double got) {
  const auto at = instead.find(i);
  return at != instead.end() && std::any_of(at->second.begin(), at->second.end(), [&](double other) {
           return other == got || (std::isnan(other) && std::isnan(got));
         });
}

}  // namespace

Allowance allowance_of(const core::Implementation& implementation) {
  const auto* on_gpu = dynamic_cast<const gpu::Implementation*>(&implementation);
  return {.division = !implementation.divides_exactly(),
          .order = implementation.device() != DeviceType::cpu,
          .short_sums = on_gpu != nullptr && on_gpu->needs().wgmma};
}

oracle::Variations asked_with(Allowance allowance) {
  return allowance.short_sums ? oracle::Variations({"sums=short"}) : oracle::Variations();
}

std::string compare(const oracle::ExpectedTensor& expected, const Tensor& tensor, Allowance allowance,
                    Outcome& outcome) {
  std::size_t wrong = 0, first = 0, written = 0;
  double first_got = 0;
  for (std::size_t i = 0; i < expected.value.size(); ++i) {
    if (!expected.written[i]) continue;
    ++written;
    if (!expected.unknown.empty() && expected.unknown[i] != 0) continue;
    const double got = oracle::element(tensor, i);
    const double want = expected.value[i];
    const double error = std::fabs(got - want);
    const bool finite = std::isfinite(got) && std::isfinite(want);
    if (finite) {
      outcome.max_abs = std::max(outcome.max_abs, error);
      if (want != 0) outcome.max_rel = std::max(outcome.max_rel, error / std::fabs(want));
    }
    if (holds(expected, i, got)) {
      const double ratio = finite && expected.bound[i] > 0 ? error / expected.bound[i] : 0;
      if (ratio > outcome.worst || outcome.tolerance == 0) {
        outcome.worst = std::max(outcome.worst, ratio);
        outcome.tolerance = expected.bound[i];
      }
      continue;
    }
    if (allowance.division && !expected.lenient.empty() && expected.lenient[i] > 0 &&
        error == expected.lenient[i]) {
      ++outcome.lenient;
      continue;
    }
    if (is_among(expected.nearby, i, got) || (allowance.order && is_among(expected.others, i, got))) continue;
    const double ratio = finite && expected.bound[i] > 0 ? error / expected.bound[i] : INFINITY;
    if (ratio > outcome.worst) {
      outcome.worst = ratio;
      outcome.tolerance = expected.bound[i];
    }
    if (wrong++ == 0) {
      first = i;
      first_got = got;
    }
  }
  if (wrong == 0) return {};
  const std::string bound = expected.bound[first] > 0 ? fmt::format(" ± {:.3g}", expected.bound[first]) : "";
  return fmt::format("{} is {:.9g}, expected {:.9g}{} ({} of {} elements wrong)", place(expected, first),
                     first_got, expected.value[first], bound, wrong, written);
}

}  // namespace isomer::lab
