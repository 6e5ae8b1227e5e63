#include "lab/evidence/variations/key_order.hpp"

#include "lab/ask/nearness.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace isomer::lab {
namespace {

/// Where in the memory of a tensor [batch, sequence, heads, dim] a row of one head begins.
std::byte* row_of(const Tensor& tensor, std::int64_t b, std::int64_t i, std::int64_t h) {
  const std::int64_t at = b * tensor.stride(0) + i * tensor.stride(1) + h * tensor.stride(2);
  return static_cast<std::byte*>(tensor.data) + at * size_of(tensor.dtype);
}

void copy_row(const Tensor& from, const std::byte* source, const Tensor& to, std::byte* target) {
  const auto size = static_cast<std::size_t>(size_of(from.dtype));
  for (std::int64_t d = 0; d < from.size(3); ++d)
    std::memcpy(target + d * to.stride(3) * static_cast<std::int64_t>(size),
                source + d * from.stride(3) * static_cast<std::int64_t>(size), size);
}

/// Every row of the tensor becomes what the first batch entry's first head has at the place that `order`
/// says.
void spread(const Port& port, int role, const std::vector<std::size_t>& order, Value& value) {
  const Value before = deep_copy(value);
  const Tensor from = port.by_contract(static_cast<std::size_t>(role), before.tensor),
               to = port.by_contract(static_cast<std::size_t>(role), value.tensor);
  for (std::int64_t b = 0; b < to.size(0); ++b)
    for (std::int64_t i = 0; i < to.size(1); ++i)
      for (std::int64_t h = 0; h < to.size(2); ++h)
        copy_row(from, row_of(from, 0, static_cast<std::int64_t>(order[static_cast<std::size_t>(i)]), 0), to,
                 row_of(to, b, i, h));
}

/// The wrong call with the most keys that all queries see; null where there is none.
std::shared_ptr<const Given> longest_wrong(const Port& port, const Numbers& numbers) {
  const int k = port.role_of_argument("k");
  std::shared_ptr<const Given> best;
  std::int64_t most = 0;
  for (const Evidence& evidence : numbers.evidence) {
    const std::string& line = evidence.given->line;
    if (line.find("causal") != std::string::npos || line.find("regime=") != std::string::npos) continue;
    const oracle::ExpectedTensor& want = evidence.given->plain.tensors.front();
    bool wrong = false;
    for (std::size_t i = 0; i < want.value.size() && !wrong; ++i)
      wrong = !holds(want, i, evidence.outputs.front()[i]);
    const Value& keys = evidence.given->values[static_cast<std::size_t>(k)];
    if (!wrong || !keys.is_tensor()) continue;
    const std::int64_t length = port.by_contract(static_cast<std::size_t>(k), keys.tensor).size(1);
    if (length > most) most = length, best = evidence.given;
  }
  return best;
}

}  // namespace

std::optional<Finding> order_of_keys(const Candidate& candidate, const Called& called,
                                     const CallSettings& settings, const Numbers& numbers) {
  const Port& port = *called.port;
  const int q = port.role_of_argument("q"), k = port.role_of_argument("k"), v = port.role_of_argument("v");
  if (port.op != "attention" || q < 0 || k < 0 || v < 0 || port.role_of_argument("seqused_k") >= 0 ||
      numbers.evidence.empty())
    return std::nullopt;
  const std::shared_ptr<const Given> wrong = longest_wrong(port, numbers);
  constexpr std::int64_t kFewest = 33;  // of fewer, one tile holds all
  if (wrong == nullptr) return std::nullopt;
  const auto of = [&](int role) {
    const auto at = static_cast<std::size_t>(role);
    return port.by_contract(at, wrong->values[at].tensor);
  };
  const Tensor query = of(q), keys = of(k);
  if (query.rank != 4 || keys.rank != 4 || keys.size(1) < kFewest) return std::nullopt;
  std::vector<double> scores(static_cast<std::size_t>(keys.size(1)));
  for (std::size_t j = 0; j < scores.size(); ++j)
    for (std::int64_t d = 0; d < keys.size(3); ++d)
      scores[j] +=
          oracle::read(query, 0, 0, 0, d) * oracle::read(keys, 0, static_cast<std::int64_t>(j), 0, d);
  std::vector<std::size_t> descending(scores.size());
  std::iota(descending.begin(), descending.end(), std::size_t{0});
  std::stable_sort(descending.begin(), descending.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  const std::vector<std::size_t> ascending(descending.rbegin(), descending.rend()),
      first(static_cast<std::size_t>(query.size(1)), 0);
  const auto right_with = [&](const std::vector<std::size_t>& order) {
    std::vector<Value> values;
    for (const Value& each : wrong->values) values.push_back(each.is_tensor() ? deep_copy(each) : each);
    spread(port, q, first, values[static_cast<std::size_t>(q)]);
    spread(port, k, order, values[static_cast<std::size_t>(k)]);
    spread(port, v, order, values[static_cast<std::size_t>(v)]);
    try {
      const std::shared_ptr<const Given> given = given_by_values(port, wrong->line, values);
      const Trial trial = try_call(candidate, called.form, port, *given, settings);
      return trial.ok() ? share_right(*given, trial) : -1;
    } catch (const Error&) {  // the op does not take it
      return -1.0;
    }
  };
  constexpr double kRight = 0.98, kWrong = 0.5;
  const double falling = right_with(descending);
  if (falling < kRight) return std::nullopt;
  const double rising = right_with(ascending);
  if (rising < 0 || rising > kWrong) return std::nullopt;
  Finding finding;
  finding.code = Code::missing_rescale;
  finding.argument = wrong->plain.tensors.front().name;
  finding.evidence = fmt::format(
      "'{}' with the same keys and values for all heads: where the key with the largest score comes first "
      "{:.0f} % "
      "of the answer is right, and where it comes last {:.0f} %, though their order has no influence on "
      "attention: what was summed under a smaller maximum is not rescaled to the larger one",
      wrong->line, 100 * falling, 100 * rising);
  finding.fix =
      "multiply the sum and the accumulator by e^(old maximum - new maximum) where the maximum grows";
  return finding;
}

}  // namespace isomer::lab
