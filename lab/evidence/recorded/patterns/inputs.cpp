#include "lab/evidence/recorded/patterns/patterns.hpp"
#include "lab/evidence/recorded/patterns/products.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

/// Half of the mean squared step over the variance, in the order of `by`: 1 of noise, next to 0 of a
/// function.
double roughness(const Elements& numbers, const std::vector<std::size_t>& by) {
  double mean = 0, steps = 0, spread = 0;
  for (const std::size_t i : by) mean += numbers[i] / static_cast<double>(by.size());
  for (std::size_t i = 0; i < by.size(); ++i) {
    spread += (numbers[by[i]] - mean) * (numbers[by[i]] - mean);
    if (i > 0) steps += (numbers[by[i]] - numbers[by[i - 1]]) * (numbers[by[i]] - numbers[by[i - 1]]);
  }
  return spread > 0 ? steps / (2 * spread) : 1;
}

/// Elements of an input that stand where those of the answer do: all of a tensor of that size, and the halves
/// of each row of one that is twice as wide.
struct Beside {
  std::string said;
  Elements elements;
};
std::vector<Beside> beside(const Replayed& replayed, const Tensor& want) {
  std::vector<Beside> list;
  const auto count = static_cast<std::size_t>(want.numel());
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!value.is_tensor() || !is_float(value.tensor.dtype) || value.tensor.rank == 0) continue;
    const std::string& name = replayed.roles[r].name;
    const Elements all = oracle::elements(value.tensor);
    if (all.size() == count) list.push_back({name, all});
    const auto width = static_cast<std::size_t>(value.tensor.size(-1));
    if (all.size() != 2 * count || width % 2 != 0) continue;
    for (const std::size_t half : {0u, 1u}) {
      Beside part{fmt::format("the {} half of each row of {}", half == 0 ? "first" : "second", name), {}};
      for (std::size_t i = 0; i < count; ++i)
        part.elements.push_back(all[i / (width / 2) * width + half * (width / 2) + i % (width / 2)]);
      list.push_back(std::move(part));
    }
  }
  return list;
}

/// Errors that depend on one input's element and on nothing else: no rounding, another formula.
Finding other_function(const Replayed& replayed, const Replayed::Output& output, const Elements& want,
                       const Elements& got) {
  constexpr std::size_t kFewest = 48;
  constexpr std::size_t kMost = 20'000;
  constexpr double kSmooth = 0.1;
  if (!is_float(output.want.dtype) || want.size() < kFewest) return {};
  const std::vector<Beside> inputs = beside(replayed, output.want);
  const std::size_t step = std::max<std::size_t>(want.size() / kMost, 1);
  double typical = 0;
  for (const double each : want) typical += each * each / static_cast<double>(want.size());
  Finding best;
  double least = kSmooth;
  // Of an answer that is made of one input alone, so is every error.
  constexpr double kNoNoise = 0.01, kOfMore = 0.3;
  for (std::size_t x = 0; x < inputs.size(); ++x)
    // As it is, and as a share of what it may be multiplied by.
    for (std::size_t by = 0; by <= inputs.size(); ++by) {
      if (by == x) continue;
      const Elements* factor = by < inputs.size() ? &inputs[by].elements : nullptr;
      Elements error(want.size());
      std::vector<std::size_t> order;
      for (std::size_t i = 0; i < want.size(); i += step) {
        error[i] = (got[i] - want[i]) / (factor == nullptr ? 1 : (*factor)[i]);
        const bool lost = factor != nullptr && std::fabs((*factor)[i]) < 0.05;
        if (std::isfinite(error[i]) && std::isfinite(inputs[x].elements[i]) && !lost) order.push_back(i);
      }
      if (2 * order.size() * step < want.size()) continue;
      const auto value = [&](std::size_t i) { return inputs[x].elements[i]; };
      std::sort(order.begin(), order.end(),
                [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
      // Of equal values one: that they agree says nothing.
      order.erase(std::unique(order.begin(), order.end(),
                              [&](std::size_t a, std::size_t b) { return value(a) == value(b); }),
                  order.end());
      if (order.size() < kFewest) continue;
      const double rough = roughness(error, order);
      if (rough >= least) continue;
      least = rough;
      const std::size_t most = *std::max_element(
          order.begin(), order.end(),
          [&](std::size_t a, std::size_t b) { return std::fabs(error[a]) < std::fabs(error[b]); });
      const bool small = std::fabs(got[most] - want[most]) < 0.05 * std::sqrt(typical);
      // At the ends there are too few values to be near one another.
      const auto end = static_cast<std::ptrdiff_t>(order.size() / 16);
      const std::vector<std::size_t> inner(order.begin() + end, order.end() - end);
      const bool exact = roughness(error, inner) < kNoNoise && roughness(want, order) > kOfMore;
      best.code = small               ? Code::approximation
                  : !exact            ? Code::unexplained
                  : factor == nullptr ? Code::missing_term
                                      : Code::approximation;
      best.strength = small || exact ? Strength::observed : Strength::nearest;
      best.argument = output.name;
      best.evidence = fmt::format(
          "has an error that is a function of {}{} alone, without noise: it is largest at {:.3g}, where the "
          "answer is {:.6g} instead of {:.6g}",
          inputs[x].said, factor == nullptr ? "" : fmt::format(" times {}", inputs[by].said), value(most),
          got[most], want[most]);
      best.fix =
          best.code == Code::missing_term
              ? fmt::format(
                    "a term that depends on {} alone is missing, or added: look for a constant that is "
                    "added to what it is multiplied by",
                    inputs[x].said)
              : "compute the function by the original's formula; for GELU, for example, use the tanh form or "
                "the "
                "exact form as the original does";
    }
  return best;
}

/// Wrong in exactly the rows in which a whole number has one value, which an argument names: a label that is
/// to be left out, a token of padding.
Finding rows_of_a_value(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                        const std::vector<bool>& wrong) {
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!value.is_tensor() || is_float(value.tensor.dtype) || value.tensor.numel() < 2) continue;
    const Elements numbers = oracle::elements(value.tensor);
    if (wrong.size() % numbers.size() != 0 || begins_at_zero(replayed.roles[r].name, numbers)) continue;
    const std::size_t width = wrong.size() / numbers.size();
    std::optional<double> chosen;
    bool holds = true;
    std::vector<bool> row(numbers.size());
    for (std::size_t i = 0; i < wrong.size(); ++i)
      if (wrong[i]) row[i / width] = true;
    for (std::size_t i = 0; i < row.size() && holds; ++i)
      if (row[i]) {
        holds = !chosen || *chosen == numbers[i];
        chosen = numbers[i];
      }
    std::size_t count = 0;
    for (std::size_t i = 0; i < row.size() && holds && chosen; ++i) {
      holds = row[i] == (numbers[i] == *chosen);
      count += row[i];
    }
    if (!holds || !chosen || count == row.size()) continue;
    for (std::size_t s = 0; s < replayed.call->before.size(); ++s) {
      const Value& number = replayed.values[s];
      if (number.kind != Value::Kind::integer || static_cast<double>(number.integer) != *chosen) continue;
      // Another value of it is a question that the candidate does not hear.
      Replayed other = replayed;
      other.values[s].integer = number.integer - 1;
      const CallOutcome after = replay_once(approach, other);
      if (!after.answer.ok() || after.got != outcome.got) continue;
      Finding finding;
      finding.code = Code::ignores_argument;
      finding.argument = replayed.roles[s].name;
      finding.evidence = fmt::format(
          "is wrong in exactly the {} of {} rows in which {} is {}, the value of {}; with another {} nothing "
          "changes",
          count, row.size(), replayed.roles[r].name, number.integer, finding.argument, finding.argument);
      finding.fix = fmt::format("treat rows of {} as the original does", finding.argument);
      return finding;
    }
  }
  return {};
}

}  // namespace

Finding wrong_where_not_finite(const Replayed& replayed, std::size_t output, const std::vector<bool>& wrong) {
  struct Kind {
    const char* said;
    bool (*is)(double);
  };
  constexpr Kind kKinds[] = {{"NaN", [](double each) { return std::isnan(each); }},
                             {"infinite", [](double each) { return std::isinf(each); }},
                             {"NaN or infinite", [](double each) { return !std::isfinite(each); }}};
  for (const Beside& input : beside(replayed, replayed.outputs[output].want))
    for (const Kind& kind : kKinds) {
      std::size_t count = 0;
      bool same = true;
      for (std::size_t i = 0; i < wrong.size() && same; ++i) {
        same = wrong[i] == kind.is(input.elements[i]);
        count += wrong[i];
      }
      if (!same || count == 0 || count == wrong.size()) continue;
      Finding finding;
      finding.code = Code::nan_inf;
      finding.argument = replayed.outputs[output].name;
      finding.evidence =
          fmt::format("is wrong where {} is {}, in {} of {} elements, and right everywhere else", input.said,
                      kind.said, count, wrong.size());
      finding.fix =
          fmt::format("treat elements of {} that are {} as the original does", input.said, kind.said);
      return finding;
    }
  return {};
}

Finding pattern_of_inputs(const Approach& approach, const Replayed& replayed, const CallOutcome& outcome,
                          std::size_t output) {
  const Replayed::Output& of = replayed.outputs[output];
  const Elements want = oracle::elements(of.want);
  const Elements& got = outcome.got[output];
  if (got.size() != want.size() || want.empty()) return {};
  const std::vector<double> bounds = bounds_of(approach, of, want);
  std::vector<bool> wrong(want.size());
  for (std::size_t i = 0; i < want.size(); ++i) wrong[i] = !is_close(want[i], got[i], bounds[i]);
  Finding finding = rows_of_a_value(approach, replayed, outcome, wrong);
  if (finding.code == Code::none) finding = bounded_rows(replayed, output, got);
  if (finding.code == Code::none) finding = missing_term(replayed, output, got);
  if (finding.code == Code::none) finding = product_of_inputs(replayed, output, got, bounds);
  if (finding.code == Code::none) finding = wrong_at_named_index(replayed, output, wrong);
  if (finding.code == Code::none) finding = other_function(replayed, of, want, got);
  if (finding.code == Code::none || finding.code == Code::unexplained)
    if (Finding columns = factors_of_columns(
            {of.name, of.want, got, of.before, rtol_for(approach, of), approach.atol}, want, bounds);
        columns.code != Code::none)
      finding = std::move(columns);
  if (finding.code == Code::none || finding.code == Code::unexplained)
    if (Finding sign = wrong_by_sign(replayed, output, wrong); sign.code != Code::none)
      finding = std::move(sign);
  return finding;
}

}  // namespace isomer::lab
