#include "core/codec.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace isomer::lab {
namespace {

using What = Passing::What;

Tensor with_last_two_swapped(Tensor tensor) {
  const auto rank = static_cast<std::size_t>(tensor.rank);
  std::swap(tensor.shape[rank - 1], tensor.shape[rank - 2]);
  std::swap(tensor.strides[rank - 1], tensor.strides[rank - 2]);
  return tensor;
}

/// The transpose of the last two dimensions, compact.
void turn(Value& value) {
  value.tensor = with_last_two_swapped(value.tensor);
  value = compact_copy(value);
}

/// An answer in row-major order of the turned shape, in that of the shape.
std::vector<double> turned_back(const Tensor& shape, const std::vector<double>& got) {
  const auto rows = static_cast<std::size_t>(shape.size(-2)),
             columns = static_cast<std::size_t>(shape.size(-1));
  std::vector<double> back(got.size());
  for (std::size_t begin = 0; begin < got.size(); begin += rows * columns)
    for (std::size_t r = 0; r < rows; ++r)
      for (std::size_t c = 0; c < columns; ++c) back[begin + r * columns + c] = got[begin + c * rows + r];
  return back;
}

bool has_two(const Tensor& tensor) { return tensor.rank >= 2 && !tensor.empty(); }

std::string joined(const Replayed& replayed, const std::vector<std::size_t>& roles) {
  std::string names;
  for (const std::size_t role : roles) names += (names.empty() ? "" : ", ") + replayed.roles[role].name;
  return names;
}

/// What works along the wrong one of the last two axes is right where its tensors are turned.
void turned(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  std::vector<std::size_t> inputs, outputs;
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    if (value.is_tensor() && has_two(value.tensor))
      (replayed.roles[role].output ? outputs : inputs).push_back(role);
  }
  std::vector<std::vector<std::size_t>> chosen;
  for (const std::size_t role : inputs) chosen.push_back({role});
  if (inputs.size() > 1) chosen.push_back(inputs);
  if (inputs.empty() && !outputs.empty()) chosen.emplace_back();
  const bool any_output = std::any_of(replayed.outputs.begin(), replayed.outputs.end(),
                                      [](const Replayed::Output& each) { return has_two(each.want); });
  for (const std::vector<std::size_t>& each : chosen)
    for (const bool answers : {true, false}) {
      if (answers ? !any_output : each.empty()) continue;
      std::vector<std::size_t> all = each;
      if (answers) all.insert(all.end(), outputs.begin(), outputs.end());
      Adaptation adaptation;
      adaptation.before = [all](std::vector<Value>& values) {
        for (const std::size_t role : all) turn(values[role]);
      };
      if (answers)
        adaptation.after = [](const Replayed::Output& output, std::vector<double> got) {
          return has_two(output.want) ? turned_back(output.want, got) : got;
        };
      Finding finding;
      finding.code = Code::layout_convention;
      finding.argument = joined(replayed, each.empty() ? outputs : each);
      finding.evidence = fmt::format(
          "the answer is right if {} {} passed transposed in the last two dimensions{}: the candidate works "
          "along the other axis",
          finding.argument, each.size() > 1 ? "are" : "is",
          answers ? ", and the answer is transposed too" : "");
      finding.fix = fmt::format("work along the original's axis of {}", finding.argument);
      list.push_back({.form = approach.form, .adaptations = {adaptation}, .finding = std::move(finding)});
    }
}

/// Whole numbers of which each is 0 or 1, and both come.
bool is_mask_of_numbers(const Value& value) {
  if (!value.is_tensor() || value.boolean || value.tensor.empty() || is_float(value.tensor.dtype))
    return false;
  const std::vector<double> elements = oracle::elements(value.tensor);
  const auto is = [](double number) { return [number](double each) { return each == number; }; };
  const auto zeros = std::count_if(elements.begin(), elements.end(), is(0)),
             ones = std::count_if(elements.begin(), elements.end(), is(1));
  return zeros > 0 && ones > 0 && zeros + ones == static_cast<std::ptrdiff_t>(elements.size());
}

/// Masks and switches the other way round.
void inverted(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != What::role) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    const bool mask = value.is_tensor() && value.boolean;
    const bool numbers = is_mask_of_numbers(value);
    if (replayed.roles[role].output || (!mask && !numbers && value.kind != Value::Kind::boolean)) continue;
    Adaptation adaptation;
    adaptation.before = [role, mask, numbers](std::vector<Value>& values) {
      Value& each = values[role];
      if (numbers) {
        const std::vector<double> elements = oracle::elements(each.tensor);
        Value other = compact_copy(each);
        const auto size = static_cast<std::size_t>(size_of(each.tensor.dtype));
        for (std::size_t i = 0; i < elements.size(); ++i)
          core::encode(each.tensor.dtype, elements[i] == 0 ? 1 : 0,
                       static_cast<std::byte*>(other.storage.get()) + i * size);
        each = std::move(other);
        return;
      }
      if (!mask) {
        each.integer = each.integer == 0;
        return;
      }
      auto* bytes = static_cast<std::uint8_t*>(each.storage.get());
      for (std::size_t i = 0; i < each.storage_bytes; ++i) bytes[i] = bytes[i] == 0;
    };
    Finding finding;
    finding.code = Code::inverted_condition;
    finding.argument = replayed.roles[role].name;
    finding.evidence = fmt::format("the answer is right if {} is passed with {} exchanged", finding.argument,
                                   numbers ? "0 and 1" : "true and false");
    finding.fix = fmt::format("invert the condition on {}", finding.argument);
    list.push_back({.form = approach.form, .adaptations = {adaptation}, .finding = std::move(finding)});
  }
}

/// The results in another order.
void reordered(const Approach& approach, const Replayed& replayed, std::vector<Experiment>& list) {
  const std::vector<int>& returned = approach.form.returned;
  if (returned.size() < 2 || returned.size() > 4) return;
  std::vector<std::size_t> order(returned.size());
  std::iota(order.begin(), order.end(), 0u);
  while (std::next_permutation(order.begin(), order.end())) {
    Experiment experiment{.form = approach.form};
    std::string names;
    for (std::size_t i = 0; i < order.size(); ++i) {
      experiment.form.returned[i] = returned[order[i]];
      names +=
          (names.empty() ? "" : ", ") + replayed.roles[static_cast<std::size_t>(returned[order[i]])].name;
    }
    experiment.finding.code = Code::result_order;
    experiment.finding.evidence =
        fmt::format("the results are right if they are read as the original's ({})", names);
    experiment.finding.fix = "return the results in the original's order";
    list.push_back(std::move(experiment));
  }
}

}  // namespace

void add_turned_experiments(const Approach& approach, const Replayed& replayed,
                            std::vector<Experiment>& list) {
  reordered(approach, replayed, list);
  inverted(approach, replayed, list);
  turned(approach, replayed, list);
}

}  // namespace isomer::lab
