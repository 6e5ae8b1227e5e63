#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

/// What the error may be a multiple of, laid as the answer.
struct Term {
  std::string said;
  Elements elements;
};

/// Nothing but one; every float input of the answer's size or of a row's; products of one of each.
std::vector<Term> terms(const Replayed& replayed, const Tensor& want, std::size_t width) {
  const auto count = static_cast<std::size_t>(want.numel());
  std::vector<Term> whole, rows;
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!value.is_tensor() || !is_float(value.tensor.dtype)) continue;
    const Elements all = oracle::elements(value.tensor);
    // Weights of heads have rows of their own, which the answer's go through in turn.
    if (all.empty() || count % all.size() != 0 || all.size() % width != 0) continue;
    Term term{replayed.roles[r].name, Elements(count)};
    for (std::size_t i = 0; i < count; ++i) term.elements[i] = all[i % all.size()];
    (all.size() == count ? whole : rows).push_back(std::move(term));
  }
  std::vector<Term> list = {{"", Elements(count, 1)}};
  list.insert(list.end(), rows.begin(), rows.end());
  list.insert(list.end(), whole.begin(), whole.end());
  for (const Term& a : whole)
    for (const Term& b : rows) {
      Term product{fmt::format("{} · {}", a.said, b.said), Elements(count)};
      for (std::size_t i = 0; i < count; ++i) product.elements[i] = a.elements[i] * b.elements[i];
      list.push_back(std::move(product));
    }
  return list;
}

/// The factor of each row with which the term is the row's error; none where it is not.
std::optional<Elements> factors(const Elements& error, const Elements& term, std::size_t width) {
  constexpr double kRest = 0.02;
  Elements list;
  for (std::size_t row = 0; row < error.size(); row += width) {
    double product = 0, squares = 0, errors = 0, rest = 0;
    for (std::size_t i = row; i < row + width; ++i) {
      product += error[i] * term[i];
      squares += term[i] * term[i];
      errors += error[i] * error[i];
    }
    if (!std::isfinite(product) || !std::isfinite(squares) || squares == 0 || errors == 0)
      return std::nullopt;
    const double factor = product / squares;
    for (std::size_t i = row; i < row + width; ++i)
      rest += (error[i] - factor * term[i]) * (error[i] - factor * term[i]);
    if (rest > kRest * kRest * errors) return std::nullopt;
    list.push_back(factor);
  }
  return list;
}

/// The input of one element that is that number, with its sign; empty: none.
std::string single_of(const Replayed& replayed, double number) {
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    double is = NAN;
    if (value.is_tensor() && value.tensor.numel() == 1 && is_float(value.tensor.dtype))
      is = oracle::elements(value.tensor).front();
    if (value.kind == Value::Kind::real) is = value.real;
    if (is != 0 && std::fabs(std::fabs(is) - std::fabs(number)) < 1e-4 * std::fabs(is))
      return (is * number < 0 ? "-" : "") + replayed.roles[r].name;
  }
  return {};
}

}  // namespace

Finding missing_term(const Replayed& replayed, std::size_t output, const std::vector<double>& got) {
  constexpr std::size_t kNarrowest = 8;
  const Tensor& want = replayed.outputs[output].want;
  const Elements right = oracle::elements(want);
  if (want.rank < 1 || !is_float(want.dtype) || got.size() != right.size()) return {};
  const auto width = static_cast<std::size_t>(want.size(-1));
  if (width < kNarrowest || right.empty()) return {};
  Elements error(right.size());
  for (std::size_t i = 0; i < right.size(); ++i) error[i] = got[i] - right[i];
  for (const Term& term : terms(replayed, want, width)) {
    const std::optional<Elements> found = factors(error, term.elements, width);
    if (!found) continue;
    const auto [least, most] = std::minmax_element(found->begin(), found->end());
    const bool same = *most - *least < 0.01 * std::fabs(*most);
    std::string of = term.said.empty() ? std::string() : " times " + term.said;
    if (const std::string alone = same && term.said.empty() ? single_of(replayed, *least) : "";
        !alone.empty())
      of = ", which is " + alone;
    Finding finding;
    finding.code = Code::missing_term;
    finding.argument = replayed.outputs[output].name;
    finding.evidence =
        same ? fmt::format("is the reference plus {:.4g}{}", *least, of)
             : fmt::format("is the reference plus, in each row, a number{}, from {:.4g} to {:.4g}", of,
                           *least, *most);
    finding.fix = term.said.empty() ? "add or subtract the same number for each row as the original: a mean, "
                                      "a maximum, or a logarithm of a sum"
                                    : fmt::format(
                                          "check where {} enters the original's sum: a term with it is "
                                          "missing, or has another factor",
                                          term.said);
    return finding;
  }
  return {};
}

}  // namespace isomer::lab
