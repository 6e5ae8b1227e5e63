#include "lab/evidence/recorded/patterns/functions.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;
constexpr std::int64_t kMostProducts = 1 << 24;

/// Two inputs that can be multiplied, the second as it is or turned.
struct Operands {
  std::size_t a = 0, b = 0;
  bool turned = false;
};

bool is_matrix(const Replayed& replayed, std::size_t role) {
  const Value& value = replayed.call->before[role];
  return value.is_tensor() && !value.tensor.empty() && is_float(value.tensor.dtype) && value.tensor.rank == 2;
}

bool fit(const Replayed& replayed, const Tensor& want, const Operands& of) {
  if (of.a == of.b || of.a >= replayed.call->before.size() || of.b >= replayed.call->before.size() ||
      !is_matrix(replayed, of.a) || !is_matrix(replayed, of.b) || want.rank != 2)
    return false;
  const Tensor &a = replayed.call->before[of.a].tensor, &b = replayed.call->before[of.b].tensor;
  const int k = of.turned ? 1 : 0;
  return a.size(0) == want.size(0) && b.size(1 - k) == want.size(1) && a.size(1) == b.size(k) &&
         want.numel() * a.size(1) <= kMostProducts;
}

Elements product_of(const Replayed& replayed, const Operands& of) {
  const Tensor &a = replayed.call->before[of.a].tensor, &b = replayed.call->before[of.b].tensor;
  const Elements x = oracle::elements(a), y = oracle::elements(b);
  const auto rows = static_cast<std::size_t>(a.size(0)), inner = static_cast<std::size_t>(a.size(1)),
             columns = static_cast<std::size_t>(b.size(of.turned ? 0 : 1));
  Elements sums(rows * columns, 0);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t k = 0; k < inner; ++k)
      for (std::size_t c = 0; c < columns; ++c)
        sums[r * columns + c] += x[r * inner + k] * (of.turned ? y[c * inner + k] : y[k * columns + c]);
  return sums;
}

/// Added to each row.
Elements plus_row(Elements list, const Elements& row, double sign) {
  for (std::size_t i = 0; i < list.size() && !row.empty(); ++i) list[i] += sign * row[i % row.size()];
  return list;
}

const Fitted* same_in(const std::vector<Fitted>& list, const std::vector<Fitted>& others) {
  for (const Fitted& each : list)
    if (std::any_of(others.begin(), others.end(),
                    [&](const Fitted& other) { return other.said == each.said; }))
      return &each;
  return nullptr;
}

/// What the answers of all calls are, as pairs with the products, and with the vector added to them or not.
class Epilogue {
 public:
  Epilogue(const Approach& approach, const std::vector<Replayed>& calls,
           const std::vector<CallOutcome>& outcomes, std::size_t output, const Operands& of, int bias)
      : approach_(approach), calls_(calls), outcomes_(outcomes), output_(output), bias_(bias) {
    for (const Replayed& call : calls) {
      products_.push_back(product_of(call, of));
      rows_.push_back(bias < 0 ? Elements()
                               : oracle::elements(call.call->before[static_cast<std::size_t>(bias)].tensor));
    }
  }

  Finding finding(const std::string& product) const {
    const std::vector<Fitted> original = fitting(pairs(true, true, false));
    if (original.empty()) return {};
    const std::string with =
        bias_ < 0
            ? product
            : fmt::format("{} + {}", product, calls_.front().roles[static_cast<std::size_t>(bias_)].name);
    Finding finding;
    finding.code = Code::approximation;
    finding.argument = calls_.front().outputs[output_].name;
    const auto say = [&](const std::string& is, const Fitted& was) {
      finding.evidence = fmt::format("{} is {}; the original is {}, with x = {} ({} calls)", finding.argument,
                                     is, was.said, with, calls_.size());
      finding.fix = fmt::format("compute {} of x = {}", was.said, with);
      return finding;
    };
    const std::vector<Fitted> own = fitting(pairs(false, true, false));
    // Two slopes that are one are a factor.
    if (!own.empty() && !own.front().slopes && same_in(own, original) == nullptr)
      return say(own.front().said, original.front());
    if (bias_ < 0) return {};
    const std::string& bias = calls_.front().roles[static_cast<std::size_t>(bias_)].name;
    const std::vector<Fitted> behind = fitting(pairs(false, false, true));
    if (const Fitted* both = same_in(original, behind); both != nullptr && both->said != "x")
      return say(fmt::format("{} with x = {}, and {} is added to that", both->said, product, bias), *both);
    return {};
  }

 private:
  /// Of the original's answer or the candidate's, over the products with the vector or without it; `less`:
  /// what the answer is without it.
  Pairs pairs(bool original, bool with, bool less) const {
    constexpr std::size_t kMost = 20'000;
    Pairs list;
    list.rtol = std::max(1e-4, 2 * rtol_for(approach_, calls_.front().outputs[output_]));
    if (size_of(calls_.front().outputs[output_].want.dtype) < 4) list.rtol = std::max(list.rtol, 2e-3);
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const Elements x = with ? plus_row(products_[i], rows_[i], 1) : products_[i];
      const Elements answer =
          original ? oracle::elements(calls_[i].outputs[output_].want) : outcomes_[i].got[output_];
      const Elements y = less ? plus_row(answer, rows_[i], -1) : answer;
      const std::size_t step = std::max<std::size_t>(x.size() * calls_.size() / kMost, 1);
      for (std::size_t e = 0; e < x.size() && e < y.size(); e += step) {
        list.x.push_back(x[e]);
        list.y.push_back(y[e]);
      }
    }
    return list;
  }

  const Approach& approach_;
  const std::vector<Replayed>& calls_;
  const std::vector<CallOutcome>& outcomes_;
  std::size_t output_;
  int bias_;
  std::vector<Elements> products_, rows_;
};

}  // namespace

Finding function_of_products(const Approach& approach, const std::vector<Replayed>& calls,
                             const std::vector<CallOutcome>& outcomes, std::size_t output) {
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (!outcomes[i].answer.ok() || output >= calls[i].outputs.size() ||
        outcomes[i].got[output].size() != static_cast<std::size_t>(calls[i].outputs[output].want.numel()) ||
        !is_float(calls[i].outputs[output].want.dtype))
      return {};
  // With a vector of zeros an answer that is right is also one to which the vector is added elsewhere.
  if (std::all_of(outcomes.begin(), outcomes.end(),
                  [&](const CallOutcome& each) { return each.wrong[output] == 0; }))
    return {};
  const std::size_t given = calls.front().call->before.size();
  for (std::size_t a = 0; a < given; ++a)
    for (std::size_t b = 0; b < given; ++b)
      for (const bool turned : {false, true}) {
        const Operands of{a, b, turned};
        const auto everywhere = [&](auto&& holds) { return std::all_of(calls.begin(), calls.end(), holds); };
        if (!everywhere([&](const Replayed& each) { return fit(each, each.outputs[output].want, of); }))
          continue;
        const std::string product = fmt::format("{} · {}{}", calls.front().roles[a].name,
                                                calls.front().roles[b].name, turned ? " turned" : "");
        for (int bias = -1; bias < static_cast<int>(given); ++bias) {
          if (bias >= 0 && !everywhere([&](const Replayed& each) {
                const Value& value = each.call->before[static_cast<std::size_t>(bias)];
                return value.is_tensor() && is_float(value.tensor.dtype) &&
                       value.tensor.numel() == each.outputs[output].want.size(-1);
              }))
            continue;
          Finding finding = Epilogue(approach, calls, outcomes, output, of, bias).finding(product);
          if (finding.code != Code::none) return finding;
        }
      }
  return {};
}

}  // namespace isomer::lab
