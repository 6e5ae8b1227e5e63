#include "lab/ask/recorded/round_axis.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <utility>

namespace isomer::lab {
namespace {

// Names of the numbers behind a call's values.
constexpr const char *kBeforeAxis = "before the axis", *kAlongAxis = "along the axis",
                     *kBehindAxis = "behind the axis";

}  // namespace

void add_sizes_round_axis(const RecordedCall& call, std::map<std::string, Value>& numbers) {
  const Value* axis = nullptr;
  for (const std::vector<Value>* list : {&call.left_out, &call.before})
    for (const Value& value : *list)
      if (value.kind == Value::Kind::integer && (value.name == "axis" || value.name == "dim")) axis = &value;
  const auto first = std::find_if(call.before.begin(), call.before.end(),
                                  [](const Value& value) { return value.is_tensor(); });
  if (axis == nullptr || first == call.before.end()) return;
  const Tensor& tensor = first->tensor;
  const std::int64_t at = axis->integer < 0 ? axis->integer + tensor.rank : axis->integer;
  if (at < 0 || at >= tensor.rank) return;
  std::int64_t before = 1, behind = 1;
  for (int d = 0; d < tensor.rank; ++d)
    if (d != at) (d < at ? before : behind) *= tensor.size(d);
  for (const auto& [name, size] : {std::pair{kBeforeAxis, before},
                                   {kAlongAxis, tensor.size(static_cast<int>(at))},
                                   {kBehindAxis, behind}})
    numbers.emplace(name, integer_value(name, size));
}

std::vector<int> take_sizes_round_axis(Form& form, const Replayed& call, const std::vector<int>& unsure) {
  static const Pattern before(
      "(?:n_?|num_?)?(?:outer|pre|left|before|leading)(?:_?(?:size|dim|n|count|numel))?"),
      behind("(?:n_?|num_?)?(?:inner|post|right|after|trailing)(?:_?(?:size|dim|n|count|numel|stride))?"),
      along(
          "channels?|c|n|k|classes|length|len|size|(?:axis|dim|reduce|reduction|softmax)_?(?:size|len|length|"
          "dim)?");
  const auto of_place = [](std::size_t place) {
    Passing passing;
    passing.what = Passing::What::computed;
    passing.computed = static_cast<int>(place);
    return passing;
  };
  const auto place_of = [&](const char* name) {
    std::size_t place = call.roles.size();
    while (place < call.values.size() && call.values[place].name != name) ++place;
    return place;
  };
  const std::size_t first = place_of(kBeforeAxis);
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
      form.passings[static_cast<std::size_t>(p)] = of_place(place_of(which));
  }
  return left;
}

}  // namespace isomer::lab
