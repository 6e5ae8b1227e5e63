#include "lab/judge/recorded_groups.hpp"

#include "lab/ask/names/shape_comments.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {

std::vector<std::vector<Replayed>> by_signature(std::vector<Replayed> calls, bool by_dtype) {
  std::map<std::string, std::size_t> known;
  std::vector<std::vector<Replayed>> groups;
  for (Replayed& replayed : calls) {
    std::string signature = replayed.call->function;
    for (std::size_t i = 0; i < replayed.call->before.size(); ++i) {
      const bool keyword = i < replayed.call->keyword.size() && replayed.call->keyword[i];
      signature += fmt::format(";{}{}", static_cast<int>(replayed.values[i].kind),
                               keyword ? "=" + replayed.roles[i].name : std::string());
      if (by_dtype && replayed.values[i].is_tensor()) signature += name_of(replayed.values[i].tensor.dtype);
    }
    // An option decides what comes back: who asks for less is given less.
    for (const Replayed::Output& output : replayed.outputs)
      if (output.returned >= 0) signature += fmt::format(";returns {}", output.returned);
    const auto [at, fresh] = known.emplace(signature, groups.size());
    if (fresh) groups.emplace_back();
    groups[at->second].push_back(std::move(replayed));
  }
  return groups;
}

NamedSizes with_strides_of_label(NamedSizes sizes, const Facts* facts, const std::string& function) {
  const LabelFunction* of_label = facts == nullptr ? nullptr : facts->function(function);
  if (of_label == nullptr) return sizes;
  for (const LabelStride& each : of_label->strides) {
    NamedSize size;
    size.name = each.name;
    size.tensor = each.tensor;
    size.dim = each.dim;
    size.stride = true;
    sizes.push_back(std::move(size));
  }
  return sizes;
}

NamedSizes with_tensors_of_calls(const NamedSizes& sizes, const Entry& entry, const Replayed& call) {
  std::vector<std::string> parameters;
  for (const Parameter& each : entry.parameters) parameters.push_back(each.name);
  return with_tensors_of_shapes(sizes, parameters, [&](int rank) {
    const Value* first = nullptr;
    std::string name;
    for (std::size_t r = 0; r < call.call->before.size() && r < call.values.size(); ++r) {
      const Value& value = call.values[r];
      if (!value.is_tensor() || value.tensor.rank != rank) continue;
      // Of several that are not alike nobody says which is meant.
      if (first != nullptr && first->tensor.shape != value.tensor.shape) return std::string();
      if (first == nullptr) name = call.roles[r].name;
      if (first == nullptr) first = &value;
    }
    return name;
  });
}

ResultCounts::ResultCounts(const std::vector<Replayed>& calls) {
  for (const Replayed& call : calls) {
    std::map<std::string, double> numbers;
    const auto add = [&](const std::string& name, const Value& value) {
      if (value.kind == Value::Kind::boolean || value.kind == Value::Kind::integer)
        numbers[name] = static_cast<double>(value.integer);
    };
    for (std::size_t r = 0; r < call.roles.size(); ++r) add(call.roles[r].name, call.values[r]);
    for (const Value& value : call.left_out) add(value.name, value);
    // Memory that a caller passes for a result makes no more of them.
    const auto returned = std::count_if(call.outputs.begin(), call.outputs.end(),
                                        [](const Replayed::Output& each) { return each.returned >= 0; });
    list_.emplace_back(std::move(numbers), static_cast<std::size_t>(returned));
  }
}

bool ResultCounts::depend_on(const std::string& name) const {
  for (const auto& [numbers, count] : list_)
    for (const auto& [others, other] : list_) {
      const auto a = numbers.find(name), b = others.find(name);
      if (count != other && a != numbers.end() && b != others.end() && a->second != b->second) return true;
    }
  return false;
}

}  // namespace isomer::lab
