#include "core/codec.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

/// The dimension of heads: of that size, the last one only where no other has it.
int dimension_of(const Tensor& tensor, std::int64_t size) {
  for (int d = tensor.rank - 2; d >= 0; --d)
    if (tensor.size(d) == size) return d;
  return tensor.rank > 0 && tensor.size(-1) == size ? tensor.rank - 1 : -1;
}

/// Elements, row-major, with index p of the dimension taken from, or put back to (`back`), index
/// p % few · (many / few) + p / few: the query heads of one kv head few places apart instead of side by side.
std::vector<double> regrouped(const Tensor& tensor, const std::vector<double>& elements, int dim,
                              std::int64_t few, bool back) {
  const std::int64_t many = tensor.size(dim);
  std::int64_t behind = 1;
  for (int d = dim + 1; d < tensor.rank; ++d) behind *= tensor.size(d);
  std::vector<double> list(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto flat = static_cast<std::int64_t>(i);
    const std::int64_t place = flat / behind % many, head = place % few * (many / few) + place / few;
    const auto other = static_cast<std::size_t>(flat + (head - place) * behind);
    (back ? list[other] : list[i]) = back ? elements[i] : elements[other];
  }
  return list;
}

/// Where the elements were: a compact tensor would mend a candidate that takes it for one.
void lay(Value& value, const std::vector<double>& elements) {
  const Tensor& tensor = value.tensor;
  bool expanded = false;
  for (int d = 0; d < tensor.rank; ++d) expanded = expanded || (tensor.size(d) > 1 && tensor.stride(d) == 0);
  Value laid = expanded ? compact_copy(value) : deep_copy(value);
  const auto size = static_cast<std::int64_t>(size_of(tensor.dtype));
  for (std::size_t i = 0; i < elements.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i);
    std::int64_t place = 0;
    for (int d = tensor.rank - 1; d >= 0; --d) {
      place += rest % tensor.size(d) * laid.tensor.stride(d);
      rest /= tensor.size(d);
    }
    core::encode(tensor.dtype, elements[i], static_cast<std::byte*>(laid.tensor.data) + place * size);
  }
  value = std::move(laid);
}

}  // namespace

std::vector<Experiment> head_mappings(const Approach& approach, const Replayed& replayed) {
  std::vector<Experiment> list;
  const auto is_input = [&](std::size_t role) {
    const Value& value = replayed.values[role];
    return !replayed.roles[role].output && value.is_tensor() && is_float(value.tensor.dtype) &&
           !value.tensor.empty();
  };
  // Of a few numbers, as of a loss, one order of heads or another is right by chance.
  constexpr std::int64_t kFew = 8;
  std::int64_t elements = 0;
  for (const Replayed::Output& output : replayed.outputs) elements += output.want.numel();
  if (elements < kFew) return list;
  std::set<std::pair<std::int64_t, std::int64_t>> tried;
  for (std::size_t q = 0; q < replayed.roles.size(); ++q)
    for (std::size_t k = 0; k < replayed.roles.size(); ++k) {
      if (q == k || !is_input(q) || !is_input(k)) continue;
      const Tensor &of_q = replayed.values[q].tensor, &of_k = replayed.values[k].tensor;
      for (int d = 0; d + 1 < of_q.rank; ++d)
        for (int e = 0; e + 1 < of_k.rank; ++e) {
          const std::int64_t many = of_q.size(d), few = of_k.size(e);
          if (few < 2 || few >= many || many % few != 0) continue;
          if (dimension_of(of_q, many) != d || dimension_of(of_k, few) != e) continue;
          if (!tried.emplace(many, few).second) continue;
          Adaptation adaptation;
          adaptation.before = [&replayed, many, few](std::vector<Value>& values) {
            for (std::size_t r = 0; r < values.size() && r < replayed.roles.size(); ++r) {
              if (replayed.roles[r].output || !values[r].is_tensor() || values[r].tensor.empty()) continue;
              const int dim = dimension_of(values[r].tensor, many);
              if (dim >= 0 && is_float(values[r].tensor.dtype))
                lay(values[r],
                    regrouped(values[r].tensor, oracle::elements(values[r].tensor), dim, few, false));
            }
          };
          adaptation.after = [many, few](const Replayed::Output& output, std::vector<double> got) {
            const int dim = dimension_of(output.want, many);
            return dim < 0 ? got : regrouped(output.want, got, dim, few, true);
          };
          Finding finding;
          finding.code = Code::head_mapping;
          finding.argument = replayed.roles[k].name;
          finding.evidence = fmt::format(
              "head h of the {} of {} uses head h % {} of {}, not head h / {}: with the heads regrouped the "
              "answer is right",
              many, replayed.roles[q].name, few, finding.argument, many / few);
          finding.fix = fmt::format("let head h read head h / {} of {}", many / few, finding.argument);
          list.push_back({approach.form, {adaptation}, std::move(finding), {}});
        }
    }
  return list;
}

}  // namespace isomer::lab
