#include "lab/ask/nearness.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::lab {

double share_right(const Given& given, const Trial& trial) {
  std::size_t right = 0, all = 0;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i) {
      const oracle::ExpectedTensor& want = given.plain.tensors[t];
      if (given.open[t][i] || !want.written[i]) continue;
      ++all;
      right += holds(want, i, trial.outputs[t][i]);
    }
  return all == 0 ? 0 : static_cast<double>(right) / static_cast<double>(all);
}

bool leaves_out(const Given& given, const Trial& trial) {
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i)
      if (given.plain.tensors[t].written[i] && trial.untouched[t][i] != 0) return true;
  return false;
}

bool writes_nothing(const Given& given, const Trial& trial) {
  if (!trial.ok()) return false;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i)
      if (given.plain.tensors[t].written[i] && trial.untouched[t][i] == 0) return false;
  return true;
}

double correlation(const Given& given, const Trial& trial) {
  double n = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i) {
      const double want = given.plain.tensors[t].value[i], got = trial.outputs[t][i];
      if (given.open[t][i] || !std::isfinite(want) || !std::isfinite(got)) continue;
      n += 1, x += want, y += got, xx += want * want, yy += got * got, xy += want * got;
    }
  const double spread = std::sqrt(std::max(0.0, (n * xx - x * x) * (n * yy - y * y)));
  return spread > 0 ? (n * xy - x * y) / spread : 0;
}

double worth(const Given& given, const Trial& trial) {
  if (!trial.ok()) return -2;
  std::size_t written = 0, all = 0;
  for (std::size_t t = 0; t < given.plain.tensors.size(); ++t)
    for (std::size_t i = 0; i < given.plain.tensors[t].value.size(); ++i) {
      if (!given.plain.tensors[t].written[i]) continue;
      ++all;
      written += trial.untouched[t][i] == 0;
    }
  const bool strays = std::any_of(trial.answer.seen.begin(), trial.answer.seen.end(), [](const Seen& seen) {
    return seen.kind.starts_with("out-of-bounds") || seen.kind == "race" || seen.kind == "index-overflow";
  });
  return share_right(given, trial) +
         (all == 0 ? 0 : 0.4 * static_cast<double>(written) / static_cast<double>(all)) - (strays ? 0.9 : 0);
}

bool strays(const Trial& trial) {
  return std::any_of(trial.answer.seen.begin(), trial.answer.seen.end(),
                     [](const Seen& seen) { return seen.kind.starts_with("out-of-bounds"); });
}

bool is_right_but_for_one_fault(const Port& port, const Given& given, const Trial& trial) {
  if (!trial.ok() || strays(trial) || leaves_out(given, trial) || port.oracle == nullptr) return false;
  constexpr std::size_t kFewest = 64;  // of few elements, chance
  return std::any_of(port.oracle->variations.begin(), port.oracle->variations.end(),
                     [&](const oracle::Variation& variation) {
                       oracle::Expected other(given.problem->call());
                       port.oracle->reference(given.problem->call(), oracle::Variations({variation.name}),
                                              other);
                       std::size_t right = 0, all = 0;
                       for (std::size_t t = 0; t < other.tensors.size(); ++t)
                         for (std::size_t i = 0; i < other.tensors[t].value.size(); ++i) {
                           const oracle::ExpectedTensor& want = other.tensors[t];
                           if (given.open[t][i] || !want.written[i] || !std::isfinite(want.value[i]))
                             continue;
                           ++all;
                           right += holds(want, i, trial.outputs[t][i]);
                         }
                       return all >= kFewest && 100 * right > 98 * all;
                     });
}

}  // namespace isomer::lab
