#include "lab/evidence/recorded/patterns/reductions.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace isomer::lab {
namespace {

constexpr double kCountClose = 1e-3;

/// The one factor between an answer and the reference's; none where there is no such factor.
std::optional<double> factor_of(const std::vector<double>& want, const std::vector<double>& got) {
  double product = 0, squares = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    product += want[i] * got[i];
    squares += want[i] * want[i];
  }
  if (!std::isfinite(product) || !std::isfinite(squares) || squares == 0 || product <= 0) return std::nullopt;
  const double factor = product / squares,
               typical = factor * std::sqrt(squares / static_cast<double>(want.size()));
  for (std::size_t i = 0; i < want.size(); ++i)
    if (std::fabs(got[i] - factor * want[i]) > kCountClose * typical) return std::nullopt;
  return factor;
}

/// A number that a mean may be divided by, of each call.
struct Count {
  std::string said;
  std::vector<double> of;
};

class Counts {
 public:
  Counts(const std::vector<Replayed>& calls) : calls_(calls) {
    for (std::size_t r = 0; r < calls.front().call->before.size(); ++r) {
      const Value& value = calls.front().values[r];
      if (!value.is_tensor()) continue;
      const std::string& name = calls.front().roles[r].name;
      add(fmt::format("the number of elements of {}", name),
          [r](const Replayed& call) { return static_cast<double>(call.values[r].tensor.numel()); });
      for (int d = 0; d < value.tensor.rank; ++d)
        add(fmt::format("the size of {} in dimension {}", name, d), [r, d](const Replayed& call) {
          const Tensor& tensor = call.values[r].tensor;
          return d < tensor.rank ? static_cast<double>(tensor.size(d)) : NAN;
        });
      if (value.boolean)
        add(fmt::format("the number of elements of {} that are true", name), [r](const Replayed& call) {
          const std::vector<double> all = oracle::elements(call.values[r].tensor);
          return static_cast<double>(all.size()) -
                 static_cast<double>(std::count(all.begin(), all.end(), 0.0));
        });
      if (!is_float(value.tensor.dtype) && !value.boolean) without(r, name);
      if (is_float(value.tensor.dtype) && value.tensor.rank == 1 && !calls.front().roles[r].output)
        sums_of(r, name);
    }
    add("one", [](const Replayed&) { return 1.0; });
  }

  const std::vector<Count>& all() const { return list_; }

 private:
  template <class Of>
  void add(std::string said, Of&& of) {
    Count count{std::move(said), {}};
    for (const Replayed& call : calls_) count.of.push_back(of(call));
    list_.push_back(std::move(count));
  }

  /// Elements that are not what another argument names: labels that are not to be ignored.
  void without(std::size_t r, const std::string& name) {
    const auto by = [&](const std::string& which, std::int64_t value) {
      add(fmt::format("the number of elements of {} that are not {} ({})", name, which, value),
          [&](const Replayed& call) {
            const std::vector<double> all = oracle::elements(call.values[r].tensor);
            return static_cast<double>(all.size()) -
                   static_cast<double>(std::count(all.begin(), all.end(), static_cast<double>(value)));
          });
    };
    for (std::size_t s = 0; s < calls_.front().call->before.size(); ++s)
      if (const Value& value = calls_.front().values[s]; value.kind == Value::Kind::integer)
        by(calls_.front().roles[s].name, value.integer);
    for (const Value& value : calls_.front().left_out)
      if (value.kind == Value::Kind::integer) by(value.name, value.integer);
  }

  /// What weights come to, all of them or those that labels name, without or with one for each other label.
  void sums_of(std::size_t r, const std::string& name) {
    add(fmt::format("the sum of {}", name), [r](const Replayed& call) {
      double sum = 0;
      for (const double each : oracle::elements(call.values[r].tensor)) sum += each;
      return sum;
    });
    for (std::size_t s = 0; s < calls_.front().call->before.size(); ++s) {
      const Value& labels = calls_.front().values[s];
      if (!labels.is_tensor() || labels.boolean || is_float(labels.tensor.dtype)) continue;
      for (const bool others : {false, true})
        add(fmt::format("the sum of {} at {}{}", name, calls_.front().roles[s].name,
                        others ? " and one for each that names none" : ""),
            [&](const Replayed& call) {
              const std::vector<double> weights = oracle::elements(call.values[r].tensor);
              double sum = 0;
              for (const double each : oracle::elements(call.values[s].tensor)) {
                const bool inside = each >= 0 && each < static_cast<double>(weights.size());
                sum += inside ? weights[static_cast<std::size_t>(each)] : others ? 1 : 0;
              }
              return sum;
            });
    }
  }

  const std::vector<Replayed>& calls_;
  std::vector<Count> list_;
};

/// A number for each call, which is the same times the reference's in all of them.
Finding same_factor(const std::vector<Replayed>& calls, const std::vector<double>& factors,
                    std::size_t output) {
  if (calls.size() < 2 || std::any_of(calls.begin(), calls.end(), [&](const Replayed& each) {
        return each.outputs[output].want.numel() != 1;
      }))
    return {};
  for (const double each : factors)
    if (std::fabs(each - factors.front()) > 1e-4 * factors.front()) return {};
  Finding finding;
  finding.code = Code::missing_scale;
  finding.argument = calls.front().outputs[output].name;
  finding.evidence = fmt::format("{} is {:.6g} times the reference in all {} calls", finding.argument,
                                 factors.front(), calls.size());
  finding.fix = fmt::format("multiply by {:.6g}", 1 / factors.front());
  return finding;
}

}  // namespace

Finding factor_of_counts(const std::vector<Replayed>& calls, const std::vector<CallOutcome>& outcomes,
                         std::size_t output) {
  std::vector<double> factors;
  bool wrong = false;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    if (!outcomes[i].answer.ok() || output >= calls[i].outputs.size() || calls[i].empty ||
        !is_float(calls[i].outputs[output].want.dtype))
      return {};
    for (const Value& value : calls[i].values)
      if (value.is_tensor() && value.tensor.empty()) return {};
    const std::vector<double> want = oracle::elements(calls[i].outputs[output].want);
    if (want.empty() || want.size() != outcomes[i].got[output].size()) return {};
    const std::optional<double> factor = factor_of(want, outcomes[i].got[output]);
    if (!factor) return {};
    factors.push_back(*factor);
    wrong = wrong || (outcomes[i].wrong[output] > 0 && std::fabs(*factor - 1) > 4 * kCountClose);
  }
  if (!wrong) return {};
  const Counts counts(calls);
  for (const Count& right : counts.all())
    for (const Count& other : counts.all()) {
      bool holds = true;
      for (std::size_t i = 0; i < factors.size() && holds; ++i)
        holds = std::fabs(factors[i] * other.of[i] - right.of[i]) <= kCountClose * right.of[i];
      if (!holds) continue;
      Finding finding;
      finding.code = Code::missing_scale;
      finding.argument = calls.front().outputs[output].name;
      finding.evidence = fmt::format(
          "{} is {:.4g} times the reference, as if it is divided by {}; the original divides by {}",
          finding.argument, factors.front(), other.said, right.said);
      finding.fix = fmt::format("divide by {}", right.said);
      return finding;
    }
  return same_factor(calls, factors, output);
}

}  // namespace isomer::lab
