#include "lab/ask/recorded/list_arguments.hpp"

#include "lab/ask/names/alike.hpp"
#include "lab/ask/names/bare.hpp"
#include "lab/ask/recorded/bound_parts.hpp"
#include "lab/text/lower_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace isomer::lab {
namespace {

bool holds_numbers(const Value& value) {
  return value.kind == Value::Kind::list && !value.items.empty() &&
         std::all_of(value.items.begin(), value.items.end(),
                     [](const Value& item) { return item.kind == Value::Kind::integer; });
}

bool holds_lists(const Value& value) {
  return value.kind == Value::Kind::list && !value.items.empty() &&
         std::all_of(value.items.begin(), value.items.end(), &holds_numbers);
}

std::string length_of(const std::string& list) { return "len(" + list + ")"; }

/// Of a list of lists how long each is, where all are as long.
std::map<std::string, Value> parts_of(const Value& argument) {
  std::map<std::string, Value> parts;
  const auto add_length = [&](std::size_t length) {
    const std::string name = length_of(argument.name);
    parts.emplace(name, integer_value(name, static_cast<std::int64_t>(length)));
  };
  if (holds_numbers(argument)) add_length(argument.items.size());
  if (!holds_lists(argument)) return parts;
  bool alike = true;
  for (std::size_t i = 0; i < argument.items.size(); ++i) {
    Value item = argument.items[i];
    item.name = fmt::format("{}[{}]", argument.name, i);
    alike = alike && item.items.size() == argument.items.front().items.size();
    parts.emplace(item.name, std::move(item));
  }
  if (alike) add_length(argument.items.front().items.size());
  return parts;
}

bool takes_array(const Parameter& p) {
  return p.kind == Parameter::Kind::pointer && p.is_const &&
         (p.element == DType::i32 || p.element == DType::i64);
}

/// `ndims, num_dims, dims_len` of `dims`.
bool counts(const std::string& parameter, const std::string& list) {
  const std::string name = lower_case(parameter), of = lower_case(list);
  const auto is = [&](const std::string& each) { return name == each; };
  return is("n" + of) || is("n_" + of) || is("num_" + of) || is("len_" + of) || is(of + "_len") ||
         is(of + "_length") || is(of + "_count") || is(of + "_n") || is("num_" + of + "s") ||
         is("n_" + of + "s") || is("n" + of + "s");
}

}  // namespace

void add_list_parts(std::vector<Replayed>& calls) {
  std::vector<std::map<std::string, Value>> parts;
  std::map<std::string, std::set<std::string>> names;  // of a function
  for (const Replayed& call : calls) {
    parts.emplace_back();
    for (std::size_t r = 0; r < call.call->before.size(); ++r)
      for (auto& [name, part] : parts_of(call.values[r])) parts.back().emplace(name, std::move(part));
    for (const auto& [name, part] : parts.back()) names[call.call->function].insert(name);
  }
  for (std::size_t i = 0; i < calls.size(); ++i)
    for (const std::string& name : names[calls[i].call->function]) {
      Value none;
      none.name = name;
      const auto part = parts[i].find(name);
      calls[i].values.push_back(part == parts[i].end() ? none : part->second);
    }
}

std::vector<Passing> passed_lists(const Entry& entry, const Replayed& call) {
  std::vector<Passing> passings(entry.parameters.size());
  if (entry.form == Entry::Form::kernel) return passings;  // which reads none of the host's memory
  const auto place_of = [&](const std::string& name) {
    std::size_t place = call.roles.size();
    while (place < call.values.size() && call.values[place].name != name) ++place;
    return place;
  };
  for (std::size_t r = 0; r < call.call->before.size(); ++r) {
    const std::string& list = call.roles[r].name;
    const std::size_t first = place_of(list + "[0]"), length = place_of(length_of(list));
    bool taken = false;
    if (holds_numbers(call.values[r]))
      for (std::size_t p = 0; p < passings.size() && !taken; ++p)
        if (takes_array(entry.parameters[p]) && bare(entry.parameters[p].name) == bare(list)) {
          passings[p].what = Passing::What::role;
          passings[p].role = static_cast<int>(r);
          taken = true;
        }
    // `dims_a, dims_b` of two lists, in their order, whatever this call has.
    if (first < call.values.size() && call.values[first].kind != Value::Kind::integer) {
      std::size_t place = first;
      for (std::size_t p = 0; p < passings.size(); ++p)
        if (takes_array(entry.parameters[p]) && likeness_of_names(entry.parameters[p].name, list) > 0 &&
            place < call.values.size() &&
            call.values[place].name == fmt::format("{}[{}]", list, place - first)) {
          passings[p] = of_place(place++);
          taken = true;
        }
    }
    for (std::size_t p = 0; p < passings.size() && taken && length < call.values.size(); ++p)
      if (entry.parameters[p].kind == Parameter::Kind::integer && counts(entry.parameters[p].name, list))
        passings[p] = of_place(length);
  }
  return passings;
}

}  // namespace isomer::lab
