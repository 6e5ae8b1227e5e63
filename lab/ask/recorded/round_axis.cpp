#include "lab/ask/recorded/round_axis.hpp"
#include "lab/ask/recorded/bound_parts.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

namespace isomer::lab {
namespace {

// Names of the numbers behind a call's values.
constexpr const char *kBeforeAxis = "before the axis", *kAlongAxis = "along the axis",
                     *kBehindAxis = "behind the axis";

bool is_axis(const std::string& name) { return name == "axis" || name == "dim"; }

/// The axes that a call says, in order, of a tensor of that rank; all of them: it says none, though its label
/// takes one. Nothing: it says none that are neighbours.
std::optional<std::pair<int, int>> axes_of(const RecordedCall& call, const LabelFunction* label,
                                           const std::vector<Value>& defaults, int rank) {
  const Value* axis = nullptr;
  for (const std::vector<Value>* list : {&defaults, &call.left_out, &call.before})
    for (const Value& value : *list)
      if (is_axis(value.name)) axis = &value;
  const bool takes_one = label != nullptr && std::any_of(label->parameters.begin(), label->parameters.end(),
                                                         [](const auto& each) { return is_axis(each.name); });
  if (axis == nullptr ? takes_one : axis->kind == Value::Kind::none) return std::pair(0, rank);
  if (axis == nullptr) return std::nullopt;
  std::vector<std::int64_t> axes;
  if (axis->kind == Value::Kind::integer) axes.push_back(axis->integer);
  for (const Value& item : axis->items)
    if (item.kind == Value::Kind::integer) axes.push_back(item.integer);
  if (axes.empty() || (axis->kind == Value::Kind::list && axes.size() != axis->items.size()))
    return std::nullopt;
  for (std::int64_t& each : axes) each += each < 0 ? rank : 0;
  std::sort(axes.begin(), axes.end());
  if (axes.front() < 0 || axes.back() >= rank ||
      axes.back() - axes.front() + 1 != static_cast<std::int64_t>(axes.size()))
    return std::nullopt;
  return std::pair(static_cast<int>(axes.front()), static_cast<int>(axes.back()) + 1);
}

/// Where one of the numbers lies among a call's values; as many as these are: it has none.
std::size_t place_of(const char* name, const Replayed& call) {
  std::size_t place = call.roles.size();
  while (place < call.values.size() && call.values[place].name != name) ++place;
  return place;
}

}  // namespace

void add_sizes_round_axis(const RecordedCall& call, const LabelFunction* label,
                          const std::vector<Value>& defaults, std::map<std::string, Value>& numbers) {
  const auto first = std::find_if(call.before.begin(), call.before.end(),
                                  [](const Value& value) { return value.is_tensor(); });
  if (first == call.before.end()) return;
  const Tensor& tensor = first->tensor;
  const auto axes = axes_of(call, label, defaults, tensor.rank);
  if (!axes) return;
  std::int64_t before = 1, along = 1, behind = 1;
  for (int d = 0; d < tensor.rank; ++d)
    (d < axes->first ? before : d < axes->second ? along : behind) *= tensor.size(d);
  for (const auto& [name, size] :
       {std::pair{kBeforeAxis, before}, {kAlongAxis, along}, {kBehindAxis, behind}})
    numbers.emplace(name, integer_value(name, size));
}

std::vector<int> take_sizes_round_axis(Form& form, const Replayed& call, const std::vector<int>& unsure) {
  static const Pattern before(
      "(?:n_?|num_?)?(?:outer|pre|left|before|leading)(?:_?(?:size|dim|n|count|numel))?"),
      behind("(?:n_?|num_?)?(?:inner|post|right|after|trailing)(?:_?(?:size|dim|n|count|numel|stride))?"),
      along(
          "channels?|c|n|k|classes|length|len|size|(?:axis|dim|reduce|reduction|softmax)_?(?:size|len|length|"
          "dim)?");
  const std::size_t first = place_of(kBeforeAxis, call);
  if (first == call.values.size()) return unsure;
  const auto name_of = [&](int p) {
    return lower_case(form.entry->parameters[static_cast<std::size_t>(p)].name);
  };
  if (std::none_of(unsure.begin(), unsure.end(),
                   [&](int p) { return before.is(name_of(p)) || behind.is(name_of(p)); }))
    return unsure;
  std::vector<int> left;
  for (const int p : unsure) {
    const std::string name = name_of(p);
    const char* which = before.is(name) ? kBeforeAxis : behind.is(name) ? kBehindAxis : kAlongAxis;
    if (which == kAlongAxis && !along.is(name))
      left.push_back(p);
    else
      form.passings[static_cast<std::size_t>(p)] = of_place(place_of(which, call));
  }
  return left;
}

std::optional<Form> in_order_round_axis(const Form& form, const Replayed& call,
                                        const std::vector<int>& unsure) {
  constexpr std::size_t kCount = 3;
  if (unsure.size() != kCount || unsure[1] != unsure[0] + 1 || unsure[2] != unsure[1] + 1)
    return std::nullopt;
  Form other = form;
  const char* const names[] = {kBeforeAxis, kAlongAxis, kBehindAxis};
  for (std::size_t i = 0; i < kCount; ++i) {
    const std::size_t place = place_of(names[i], call);
    if (place == call.values.size()) return std::nullopt;
    other.passings[static_cast<std::size_t>(unsure[i])] = of_place(place);
  }
  return other;
}

}  // namespace isomer::lab
