#include "lab/evidence/recorded/probes/probes.hpp"

#include "core/codec.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace isomer::lab {
namespace {

using What = Passing::What;
constexpr std::int64_t kSpace = 3;  ///< elements, or rows, that lie between those of a view

/// The values in a view whose first `strides` strides are others than a compact tensor's. Between them lies
/// NaN, or in whole numbers the tensor's own values: an index that is read there is one all the same.
Value spread(const Value& value, int strides) {
  const Tensor& tensor = value.tensor;
  std::vector<std::int64_t> shape(tensor.shape.begin(), tensor.shape.begin() + tensor.rank);
  const bool each = strides == tensor.rank;
  if (each)
    shape.push_back(2);
  else
    shape[static_cast<std::size_t>(strides)] += kSpace;
  Value wide = tensor_value(value.name, tensor.dtype, shape);
  wide.boolean = value.boolean;
  const std::vector<double> elements = oracle::elements(tensor);
  const auto size = static_cast<std::size_t>(size_of(tensor.dtype));
  auto* bytes = static_cast<std::byte*>(wide.storage.get());
  for (std::size_t i = 0; i < static_cast<std::size_t>(wide.tensor.numel()); ++i)
    core::encode(tensor.dtype,
                 is_float(tensor.dtype) ? std::numeric_limits<double>::quiet_NaN()
                                        : elements[elements.size() - 1 - i % elements.size()],
                 bytes + i * size);
  for (int d = 0; d < tensor.rank; ++d)
    wide.tensor.shape[static_cast<std::size_t>(d)] = tensor.shape[static_cast<std::size_t>(d)];
  if (each) --wide.tensor.rank;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    auto rest = static_cast<std::int64_t>(i), at = std::int64_t{0};
    for (int d = tensor.rank - 1; d >= 0; --d) {
      at += rest % tensor.size(d) * wide.tensor.stride(d);
      rest /= tensor.size(d);
    }
    core::encode(tensor.dtype, elements[i], bytes + static_cast<std::size_t>(at) * size);
  }
  return wide;
}

/// How many strides of an argument, from the first on, the label takes and the candidate is given: raw memory
/// has no others.
int strided(const Approach& approach, const Replayed& replayed, std::size_t role) {
  const std::vector<int>& list = replayed.call->strided;
  const int of_label = role < list.size() ? list[role] : 0;
  std::vector<bool> given;
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != What::stride || passing.role != static_cast<int>(role)) continue;
    const int dim = passing.dim < 0 ? passing.dim + replayed.values[role].tensor.rank : passing.dim;
    if (dim < 0) continue;  // of another argument, or of fewer dimensions
    if (dim >= static_cast<int>(given.size())) given.resize(static_cast<std::size_t>(dim) + 1);
    given[static_cast<std::size_t>(dim)] = true;
  }
  if (given.empty()) return of_label;
  const auto end = std::find(given.begin(), given.end(), false);
  return std::min(of_label, static_cast<int>(end - given.begin()));
}

/// Arguments that are given as they are, and of which the label takes other strides too.
std::vector<std::size_t> open_roles(const Approach& approach, const Replayed& replayed) {
  std::vector<std::size_t> list;
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != What::role || passing.compact || passing.cast != DType::none || passing.drop != 0 ||
        !passing.axes.empty())
      continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    if (strided(approach, replayed, role) > 0 && value.is_tensor() && value.tensor.is_contiguous() &&
        !value.tensor.empty())
      list.push_back(role);
  }
  return list;
}

/// Elements that are others than before by more than the tolerance.
std::size_t astray(const Approach& approach, const Replayed& replayed, const CallOutcome& before,
                   const CallOutcome& after) {
  std::size_t count = 0;
  for (std::size_t t = 0; t < replayed.outputs.size(); ++t) {
    if (before.got[t].empty() || after.got[t].size() != before.got[t].size()) continue;
    const std::vector<double> bounds = bounds_of(replayed.outputs[t].want, before.got[t],
                                                 rtol_for(approach, replayed.outputs[t]), approach.atol);
    for (std::size_t i = 0; i < bounds.size(); ++i)
      count += !is_close(before.got[t][i], after.got[t][i], bounds[i]);
  }
  return count;
}

std::size_t total(const std::vector<std::size_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace

void probe_views(const Approach& approach, const std::vector<Replayed>& calls,
                 const std::vector<CallOutcome>& outcomes, std::vector<Finding>& findings) {
  // The smallest right call, else the smallest that came back: a wrong answer may be another each time.
  std::size_t at = calls.size();
  const auto cost = [&](std::size_t i) { return std::pair(!outcomes[i].right(), outcomes[i].elements); };
  for (std::size_t i = 0; i < calls.size(); ++i)
    if (outcomes[i].answer.ok() && outcomes[i].elements > 0 && !open_roles(approach, calls[i]).empty() &&
        (at == calls.size() || cost(i) < cost(at)))
      at = i;
  if (at == calls.size()) return;
  const CallOutcome& plain = outcomes[at];
  if (!plain.right() && astray(approach, calls[at], plain, replay_once(approach, calls[at])) > 0) return;
  const auto called_with = [&](const std::vector<std::size_t>& roles) {
    Replayed other = calls[at];
    for (const std::size_t role : roles)
      other.values[role] = spread(calls[at].values[role], strided(approach, calls[at], role));
    return replay_once(approach, other);
  };
  const std::vector<std::size_t> roles = open_roles(approach, calls[at]);
  // Where all at once are taken, each is; a refusal says nothing of the others.
  if (const CallOutcome all = called_with(roles);
      all.answer.ok() && astray(approach, calls[at], plain, all) == 0)
    return;
  for (const std::size_t role : roles) {
    const std::string& name = calls[at].roles[role].name;
    const bool told = std::any_of(findings.begin(), findings.end(), [&](const Finding& each) {
      return each.code == Code::assumes_contiguous && each.argument.find(name) != std::string::npos;
    });
    if (told) continue;
    const CallOutcome outcome = called_with({role});
    const std::size_t wrong = outcome.answer.ok() ? astray(approach, calls[at], plain, outcome) : 0;
    if (wrong == 0) continue;
    // What is wrong without is right with a view: it goes another way.
    if (total(outcome.wrong) + wrong <= total(plain.wrong)) continue;
    const Value view = spread(calls[at].values[role], strided(approach, calls[at], role));
    Finding finding;
    finding.code = Code::assumes_contiguous;
    finding.argument = name;
    finding.evidence = fmt::format(
        "'{}': with the same values in a view, {} as {}, {} of {} elements change; the original's answer "
        "does not",
        calls[at].line, name, view.tensor.describe(), wrong, plain.elements);
    finding.fix = "address the tensor by its strides";
    finding.made = true;
    add_once(findings, std::move(finding));
  }
}

}  // namespace isomer::lab
