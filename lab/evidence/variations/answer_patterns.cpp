#include "lab/evidence/variations/answer_patterns.hpp"

#include "lab/evidence/variations/decoded_patterns.hpp"
#include "lab/evidence/variations/part_maxima.hpp"
#include "lab/evidence/variations/part_sums.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr double kMost = 0.995;  // of the elements that are compared

struct Count {
  std::size_t right = 0, right_before = 0, all = 0;
  bool explains() const {
    return all >= 64 && static_cast<double>(right) >= kMost * static_cast<double>(all) &&
           static_cast<double>(right_before) < 0.8 * static_cast<double>(all);
  }
};

/// Elements i and i ^ mask of each row in each other's place.
Count exchanged(const Numbers& numbers, std::size_t output, std::size_t mask) {
  Count count;
  for (const Evidence& evidence : numbers.evidence) {
    const oracle::ExpectedTensor& want = evidence.given->plain.tensors[output];
    const std::size_t row = want.shape.empty() ? 1 : static_cast<std::size_t>(want.shape.back());
    if (row == 0) continue;
    for (std::size_t i = 0; i < want.value.size(); ++i) {
      const std::size_t other = i / row * row + ((i % row) ^ mask);
      if (other >= want.value.size() || other / row != i / row) continue;
      if (evidence.given->open[output][i] || evidence.given->open[output][other] || !want.written[i] ||
          !want.written[other])
        continue;
      ++count.all;
      count.right += holds(want, other, evidence.outputs[output][i]);
      count.right_before += holds(want, i, evidence.outputs[output][i]);
    }
  }
  return count;
}

Finding neighbours(const Numbers& numbers, std::size_t output, std::size_t mask, const Count& count) {
  const std::string& name = numbers.evidence.front().given->plain.tensors[output].name;
  Finding finding;
  finding.code = Code::layout_convention;
  finding.argument = name;
  finding.decides = true;
  finding.evidence =
      mask == 1 ? fmt::format(
                      "neighbours are exchanged in {}: element 0 holds what is element 1's, and so on", name)
                : fmt::format(
                      "elements of each row of {} are in each other's place: element 0 holds what is "
                      "element {}'s, element {} what is element 0's, and so on",
                      name, mask, mask);
  finding.evidence += fmt::format(": so read {} of {} elements are right, as they are {}", count.right,
                                  count.all, count.right_before);
  finding.fix = fmt::format("store each element of {} at its own index", name);
  return finding;
}

/// Scales that are right beside elements that are too large, and never too small, wherever they are wrong,
/// while the first of each block is right: a reduction whose result only its first thread has.
std::optional<Finding> not_broadcast(const Port& port, const Numbers& numbers) {
  if (port.original == nullptr || !port.original->scaling.magnitudes) return std::nullopt;
  const std::size_t scales = port.original->scaling.output;
  std::size_t larger = 0, largest = 0, firsts = 0, blocks = 0;
  std::string name;
  for (const Evidence& evidence : numbers.evidence) {
    const auto& tensors = evidence.given->plain.tensors;
    if (tensors.size() != 2 || scales >= tensors.size()) return std::nullopt;
    const oracle::ExpectedTensor &s = tensors[scales], &y = tensors[1 - scales];
    if (s.value.empty() || y.value.size() % s.value.size() != 0) return std::nullopt;
    const std::size_t block = y.value.size() / s.value.size();
    name = y.name;
    for (std::size_t i = 0; i < s.value.size(); ++i)
      if (!evidence.given->open[scales][i] && !holds(s, i, evidence.outputs[scales][i])) return std::nullopt;
    for (std::size_t i = 0; i < y.value.size(); ++i) {
      if (evidence.given->open[1 - scales][i] || !std::isfinite(y.value[i])) continue;
      const double got = evidence.outputs[1 - scales][i];
      const bool right = holds(y, i, got);
      if (i % block == 0) {
        ++blocks;
        firsts += right;
      }
      if (right) continue;
      if (!(std::fabs(got) > std::fabs(y.value[i])) || std::signbit(got) != std::signbit(y.value[i]))
        return std::nullopt;
      ++larger;
      largest += std::fabs(got) >= port.original->scaling.largest;
    }
  }
  if (blocks < 4 || firsts != blocks || larger < 64 || largest < blocks) return std::nullopt;
  Finding finding;
  finding.code = Code::other_reduction;
  finding.argument = name;
  finding.evidence = fmt::format(
      "the scales are right, the first element of each of {} blocks is too, and {} others are too large, "
      "none too "
      "small, {} of them as large as can be: they are divided by the maximum of a part of their block, as by "
      "a "
      "reduction of which the first thread alone has the result",
      blocks, larger, largest);
  finding.fix =
      "give every thread the block's maximum before it divides: __shfl_xor_sync, or __shfl_sync from the "
      "first lane";
  return finding;
}

/// One output that is the op's times one number throughout, beside which the others are right.
std::optional<Finding> times_a_number(const Numbers& numbers) {
  constexpr double kRounding = 1.0 / 256;  // of what the output's type may make of it
  constexpr double kSmall = 1e-6;          // about the least that f16 has
  constexpr double kLeast = 1e-40;         // and the others
  std::size_t scaled = 0, compared = 0, output = 0;
  double factor = 0;
  for (const Evidence& evidence : numbers.evidence)
    for (std::size_t t = 0; t < evidence.given->plain.tensors.size(); ++t) {
      const oracle::ExpectedTensor& want = evidence.given->plain.tensors[t];
      for (std::size_t i = 0; i < want.value.size(); ++i) {
        const double got = evidence.outputs[t][i], wanted = want.value[i];
        if (evidence.given->open[t][i] || !want.written[i] || !std::isfinite(wanted)) continue;
        const bool right = holds(want, i, got);
        const double least = want.dtype == DType::f16 ? kSmall : kLeast;
        if (factor == 0 && !right && std::fabs(wanted) > 1e-3 && std::isfinite(got) &&
            std::fabs(got) > 1e3 * least) {
          factor = got / wanted;
          output = t;
        }
        if (right && (t != output || factor == 0)) continue;
        if (t != output ||
            !(std::fabs(got - factor * wanted) <= kRounding * std::fabs(factor * wanted) + least))
          return std::nullopt;
        ++compared;
        scaled += !right;
      }
    }
  constexpr std::size_t kEnough = 48;  // of scales there are few, and each has to fit
  if (factor == 0 || compared < kEnough || 2 * scaled < compared) return std::nullopt;
  const std::string& name = numbers.evidence.front().given->plain.tensors[output].name;
  const double power = std::round(std::log2(std::fabs(factor)));
  const bool of_two = std::fabs(std::fabs(factor) - std::exp2(power)) < kRounding / 4 * std::fabs(factor);
  Finding finding;
  finding.code = Code::missing_scale;
  finding.argument = name;
  finding.evidence = fmt::format("every element of {} is {} the op's, in all {} that were compared", name,
                                 of_two ? fmt::format("{}2^{:.0f} times", factor < 0 ? "-" : "", power)
                                        : fmt::format("{:.6g} times", factor),
                                 compared);
  finding.fix =
      of_two ? fmt::format("multiply by 2^{:.0f}: a factor of the format or of the scale is missing", -power)
             : std::string("compare the factors of the result with the op's");
  return finding;
}

/// Nothing wrong but the first, or the last, along one dimension of an output, in every call.
std::optional<Finding> at_an_end(const Numbers& numbers) {
  constexpr std::size_t kEnough = 12, kCalls = 3;
  const auto& tensors = numbers.evidence.front().given->plain.tensors;
  for (std::size_t t = 0; t < tensors.size(); ++t)
    for (std::size_t dim = 0; dim < tensors[t].shape.size(); ++dim)
      for (const bool last : {false, true}) {
        std::size_t at_end = 0, wrong = 0, calls = 0;
        bool elsewhere = false;
        for (const Evidence& evidence : numbers.evidence) {
          const std::size_t before = wrong;
          for (std::size_t of = 0; of < evidence.given->plain.tensors.size() && !elsewhere; ++of) {
            const oracle::ExpectedTensor& want = evidence.given->plain.tensors[of];
            std::size_t step = 1;
            for (std::size_t d = dim + 1; d < want.shape.size(); ++d)
              step *= static_cast<std::size_t>(want.shape[d]);
            const std::size_t size = dim < want.shape.size() ? static_cast<std::size_t>(want.shape[dim]) : 0;
            for (std::size_t i = 0; i < want.value.size() && !elsewhere; ++i) {
              if (evidence.given->open[of][i] || !want.written[i]) continue;
              const bool is_end = of == t && size > 1 && i / step % size == (last ? size - 1 : 0);
              const bool is_wrong = !holds(want, i, evidence.outputs[of][i]);
              elsewhere = is_wrong && !is_end;
              at_end += is_end;
              wrong += is_wrong;
            }
          }
          calls += wrong > before;
        }
        if (elsewhere || wrong < kEnough || calls < kCalls || 10 * wrong < 9 * at_end) continue;
        Finding finding;
        finding.code = Code::off_by_one;
        finding.argument = tensors[t].name;
        finding.decides = true;
        finding.evidence = fmt::format(
            "nothing is wrong but the {} along dimension {} of {}, in {} calls of different sizes: {} "
            "elements",
            last ? "last" : "first", dim, tensors[t].name, calls, wrong);
        finding.fix = fmt::format("compare the bounds of that dimension with {}'s size", tensors[t].name);
        return finding;
      }
  return std::nullopt;
}

}  // namespace

std::optional<Finding> pattern_of_answers(const Port& port, const Numbers& numbers) {
  if (numbers.evidence.empty()) return std::nullopt;
  for (std::size_t t = 0; t < numbers.evidence.front().given->plain.tensors.size(); ++t)
    for (const std::size_t mask : std::array<std::size_t, 8>{1, 2, 3, 4, 8, 16, 32, 64})
      if (const Count count = exchanged(numbers, t, mask); count.explains())
        return neighbours(numbers, t, mask, count);
  if (std::optional<Finding> found = times_a_number(numbers)) return found;
  if (std::optional<Finding> found = decoded_otherwise(port, numbers)) return found;
  if (std::optional<Finding> found = maximum_of_a_part(port, numbers)) return found;
  return not_broadcast(port, numbers);
}

std::optional<Finding> pattern_of_unexplained(const Port& port, const Numbers& numbers) {
  if (numbers.evidence.empty()) return std::nullopt;
  if (std::optional<Finding> found = at_an_end(numbers)) return found;
  if (std::optional<Finding> found = sum_of_a_part(port, numbers)) return found;
  return maximum_of_a_part(port, numbers);
}

}  // namespace isomer::lab
