#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <cmath>

namespace isomer::lab {

Finding mixed_otherwise(const Compared& c, const std::vector<double>& want) {
  constexpr std::size_t kFewest = 4;
  if (!c.before.defined() || !is_float(c.want.dtype) || want.size() < kFewest) return {};
  const std::vector<double> before = oracle::elements(c.before);
  if (before.size() != want.size()) return {};
  // got = a · want + b · before
  double ww = 0, wb = 0, bb = 0, gw = 0, gb = 0, gg = 0, errors = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (!std::isfinite(want[i]) || !std::isfinite(before[i]) || !std::isfinite(c.got[i])) return {};
    ww += want[i] * want[i];
    wb += want[i] * before[i];
    bb += before[i] * before[i];
    gw += c.got[i] * want[i];
    gb += c.got[i] * before[i];
    gg += c.got[i] * c.got[i];
    errors += (c.got[i] - want[i]) * (c.got[i] - want[i]);
  }
  const double determinant = ww * bb - wb * wb;
  if (!(determinant > 1e-9 * ww * bb)) return {};
  const double a = (gw * bb - gb * wb) / determinant, b = (gb * ww - gw * wb) / determinant;
  double rest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) rest += std::pow(c.got[i] - a * want[i] - b * before[i], 2);
  constexpr double kRest = 1e-3;
  if (rest > kRest * kRest * errors || std::fabs(b) < 1e-4 || std::fabs(a) < 1e-3) return {};
  Finding finding;
  finding.code = Code::missing_scale;
  finding.argument = c.name;
  if (std::fabs(a + b - 1) < 1e-3) {
    finding.evidence = fmt::format(
        "is {:.4g} times the reference plus {:.4g} times what it held before the call: what is new has "
        "{:.4g} "
        "times the weight that it has in the original{}",
        a, b, a,
        a > 0 ? fmt::format(", as if the weights {:.4g} and {:.4g} are exchanged", a / (1 + a), 1 / (1 + a))
              : "");
    finding.fix = "weigh what was there and what is new as the original does";
  } else {
    finding.evidence = fmt::format(
        "is {:.4g} times the reference plus {:.4g} times what it held before the call: what is mixed with it "
        "is "
        "{:.4g} times the original's",
        a, b, a);
    finding.fix = "scale what is mixed in as the original does: divide by n, or by n - 1";
  }
  return finding;
}

}  // namespace isomer::lab
