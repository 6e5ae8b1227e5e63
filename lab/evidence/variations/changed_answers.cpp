#include "lab/evidence/variations/changed_answers.hpp"

#include "core/codec.hpp"
#include "lab/evidence/variations/measured_guards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace isomer::lab {
namespace {

constexpr std::string_view kFactor = "factor=", kTransposed = "transposed=";
/// Ratios this near to one factor have it; other faults beside it may touch a tenth of the elements.
constexpr double kNear = 0x1p-5, kShare = 0.9;
constexpr std::size_t kFewestRatios = 50;
/// Of an exact f32, where the factor is one: two roundings, and what is left off its decimals.
constexpr double kNearInF32 = 4e-6;

std::vector<double> ratios_of(const std::vector<Evidence>& evidence, std::size_t output) {
  std::vector<double> ratios;
  for (const Evidence& each : evidence) {
    const oracle::ExpectedTensor& want = each.given->plain.tensors[output];
    for (std::size_t i = 0; i < want.value.size(); ++i) {
      const double got = each.outputs[output][i], value = want.value[i];
      // What its type or its bound makes of small values is no ratio.
      const bool told = std::isfinite(value) && std::isfinite(got) && std::fabs(value) > 64 * want.bound[i];
      if (told && value != 0 && want.written[i] && !each.given->open[output][i])
        ratios.push_back(got / value);
    }
  }
  return ratios;
}

/// The shape as rows and columns; {1, n} where it has no two dimensions.
std::pair<std::size_t, std::size_t> matrix(const oracle::ExpectedTensor& tensor) {
  if (tensor.shape.size() < 2 || tensor.value.empty()) return {1, tensor.value.size()};
  const auto columns = static_cast<std::size_t>(tensor.shape.back());
  return {tensor.value.size() / columns, columns};
}

void transpose(oracle::ExpectedTensor& tensor) {
  const oracle::ExpectedTensor before = tensor;
  const auto [rows, columns] = matrix(tensor);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < columns; ++j) {
      const std::size_t from = i * columns + j, to = j * rows + i;
      tensor.value[to] = before.value[from];
      tensor.bound[to] = before.bound[from];
      tensor.written[to] = before.written[from];
      if (!tensor.lenient.empty()) tensor.lenient[to] = before.lenient[from];
    }
  tensor.others.clear();
  tensor.nearby.clear();
  tensor.unknown.clear();
}

std::string factor_of(const std::vector<Evidence>& evidence, std::size_t output) {
  std::vector<double> ratios = ratios_of(evidence, output);
  if (ratios.size() < kFewestRatios) return {};
  const auto middle = ratios.begin() + static_cast<std::ptrdiff_t>(ratios.size() / 2);
  std::nth_element(ratios.begin(), middle, ratios.end());
  const double ratio = *middle, size = std::fabs(ratio);
  if (!(size > 0) || !std::isfinite(ratio) || std::fabs(ratio - 1) < kNear) return {};
  const oracle::ExpectedTensor& first = evidence.front().given->plain.tensors[output];
  const bool exact = first.dtype == DType::f32 && !first.bound.empty() && first.bound.front() == 0;
  const auto alike = std::count_if(ratios.begin(), ratios.end(),
                                   [&](double each) { return std::fabs(each / ratio - 1) < kNearInF32 / 2; });
  if (exact && 2 * alike > static_cast<std::ptrdiff_t>(ratios.size()))
    return (ratio < 0 ? "-" : "") +
           simplest_between(size * (1 - kNearInF32 / 4), size * (1 + kNearInF32 / 4));
  const auto near = std::count_if(ratios.begin(), ratios.end(),
                                  [&](double each) { return std::fabs(each / ratio - 1) < kNear; });
  if (static_cast<double>(near) < kShare * static_cast<double>(ratios.size())) return {};
  // A power of two, as of exponents that are off, or what people write in decimals.
  const double power = std::exp2(std::round(std::log2(size)));
  return (ratio < 0 ? "-" : "") + (std::fabs(power / size - 1) < 1e-3
                                       ? fmt::format("{:.9g}", power)
                                       : simplest_between(size * 0.999, size * 1.001));
}

/// Whether the output is more right with its rows and columns exchanged than as it is.
bool is_transposed(const std::vector<Evidence>& evidence, std::size_t output) {
  std::size_t plain = 0, turned = 0, all = 0;
  for (const Evidence& each : evidence) {
    const oracle::ExpectedTensor& want = each.given->plain.tensors[output];
    const auto [rows, columns] = matrix(want);
    if (rows < 2 || columns < 2) continue;
    oracle::ExpectedTensor other = want;
    transpose(other);
    for (std::size_t i = 0; i < want.value.size(); ++i) {
      if (each.given->open[output][i] || !want.written[i] || want.value[i] == other.value[i]) continue;
      ++all;
      plain += holds(want, i, each.outputs[output][i]);
      turned += holds(other, i, each.outputs[output][i]);
    }
  }
  return all >= kFewestRatios && 10 * turned > 6 * all && 2 * plain < all;
}

}  // namespace

std::vector<oracle::Variation> measured_changes(const Port& port, const std::vector<Evidence>& evidence) {
  std::vector<oracle::Variation> list;
  if (evidence.empty()) return list;
  for (std::size_t t = 0; t < evidence.front().given->plain.tensors.size(); ++t) {
    const std::string& output = evidence.front().given->plain.tensors[t].name;
    if (const std::string factor = factor_of(evidence, t); !factor.empty())
      list.push_back({fmt::format("{}{}*{}", kFactor, output, factor),
                      fmt::format("every element of {} is {} times what it should be", output, factor)});
    const bool known =
        std::any_of(port.oracle->variations.begin(), port.oracle->variations.end(),
                    [&](const oracle::Variation& each) { return each.name == output + "=transposed"; });
    if (!known && is_transposed(evidence, t))
      list.push_back({std::string(kTransposed) + output,
                      fmt::format("{} is stored with rows and columns exchanged", output)});
  }
  return list;
}

void apply_changes(const oracle::Variations& variations, oracle::Expected& expected) {
  for (const std::string& name : variations.names()) {
    if (name.starts_with(kTransposed)) transpose(expected[name.substr(kTransposed.size())]);
    if (!name.starts_with(kFactor)) continue;
    const std::size_t star = name.find('*');
    const double factor = std::strtod(name.c_str() + star + 1, nullptr);
    oracle::ExpectedTensor& tensor = expected[name.substr(kFactor.size(), star - kFactor.size())];
    for (std::size_t i = 0; i < tensor.value.size(); ++i) {
      if (!tensor.written[i]) continue;
      tensor.value[i] *= factor;
      tensor.bound[i] *= std::fabs(factor);
      if (tensor.dtype == DType::f32 && std::isfinite(tensor.value[i]))
        tensor.bound[i] = std::max(tensor.bound[i], kNearInF32 * std::fabs(tensor.value[i]));
    }
  }
}

oracle::Expected varied(const Given& given, const oracle::Oracle& oracle,
                        const oracle::Variations& variations) {
  oracle::Expected expected(given.problem->call());
  oracle.reference(given.problem->call(), variations, expected);
  apply_changes(variations, expected);
  return expected;
}

}  // namespace isomer::lab
