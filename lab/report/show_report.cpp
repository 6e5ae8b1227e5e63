#include "lab/report/show_report.hpp"

#include "core/sentence.hpp"
#include "lab/diff/argument_words.hpp"
#include "lab/diff/time_table.hpp"
#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

using Named = ShownKernel::Named;

Named geometry(const Launch& launch) {
  Named all;
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) all.emplace_back(name, value);
  };
  const auto number = [&](const char* name, const auto& value) {
    if (value) all.emplace_back(name, std::to_string(*value));
  };
  add("grid", triple_text(launch.grid));
  add("block", triple_text(launch.block));
  add("cluster", triple_text(launch.cluster));
  number("shared_dynamic", launch.shared_dynamic);
  number("shared_static", launch.shared_static);
  number("registers", launch.registers);
  number("local_bytes", launch.local_bytes);
  if (!launch.code_hash.empty()) add("machine code", launch.code_hash.substr(0, 16));
  return all;
}

const std::string* value_of(const Named& list, const std::string& name) {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const auto& each) { return each.first == name; });
  return found == list.end() ? nullptr : &found->second;
}

/// What attention's launchers work out of their arguments, and people compare: whether lengths vary, and how
/// many rows there are in all.
void add_computed(Named& parameters) {
  const auto insert_behind = [&](const std::string& name, const std::string& computed, std::string value) {
    const auto at = std::find_if(parameters.begin(), parameters.end(),
                                 [&](const auto& each) { return each.first == name; });
    if (value_of(parameters, computed) == nullptr) parameters.insert(at + 1, {computed, std::move(value)});
  };
  for (const std::string side : {"q", "k"}) {
    const std::string* offsets = value_of(parameters, "cu_seqlens_" + side);
    if (offsets == nullptr) continue;
    const bool varies = *offsets != "null";
    insert_behind("cu_seqlens_" + side, "is_varlen_" + side, varies ? "true" : "false");
    const std::string *batch = value_of(parameters, "b"), *rows = value_of(parameters, "seqlen_" + side);
    std::uint64_t count = 0, each = 0;
    const auto number = [](const std::string* text, std::uint64_t& into) {
      return text != nullptr &&
             std::from_chars(text->data(), text->data() + text->size(), into).ec == std::errc();
    };
    if (!varies && number(batch, count) && number(rows, each))
      insert_behind("seqlen_" + side, "total_" + side, std::to_string(count * each));
  }
}

/// Names of A in their order, then those that B alone has.
std::vector<std::string> names_of(const Named* a, const Named* b) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const Named* list : {a, b})
    if (list != nullptr)
      for (const auto& [name, value] : *list)
        if (seen.insert(name).second) names.push_back(name);
  return names;
}

std::string section(const std::string& title, const Named* a, const Named* b, bool two) {
  const std::vector<std::string> names = names_of(a, b);
  if (names.empty()) return {};
  std::string text = title + "\n";
  Table table(two ? "llll" : "ll");
  const auto cell = [](const Named* list, const std::string& name) {
    const std::string* value = list == nullptr ? nullptr : value_of(*list, name);
    return value == nullptr ? std::string("–") : short_name(*value);
  };
  if (two) table.row({"  ", "A", "B", ""});
  for (const std::string& name : names) {
    const std::string left = cell(a, name), right = cell(b, name);
    const std::string *in_a = a == nullptr ? nullptr : value_of(*a, name),
                      *in_b = b == nullptr ? nullptr : value_of(*b, name);
    const bool same = in_a != nullptr && in_b != nullptr ? *in_a == *in_b : in_a == in_b;
    if (two)
      table.row({"  " + name, left, right, same ? "" : Terminal::red("≠")});
    else
      table.row({"  " + name, left});
  }
  return text + table.text();
}

std::string one(const ShownKernel* a, const ShownKernel* b, bool two, const Messages& messages) {
  const ShownKernel& any = a != nullptr ? *a : *b;
  std::string text = "\n" + Terminal::bold(short_name(any.family));
  std::string counts;
  for (const ShownKernel* each : {a, b})
    if (each != nullptr) counts += (counts.empty() ? "" : " / ") + std::to_string(each->launches);
  text += "  " + Terminal::dim(messages.say("column_launches") + " " + counts) + "\n";
  const auto part = [&](const char* id, Named ShownKernel::*member) {
    text += section(messages.say(id), a == nullptr ? nullptr : &(a->*member),
                    b == nullptr ? nullptr : &(b->*member), two);
  };
  part("show_template", &ShownKernel::compiled);
  part("show_constants", &ShownKernel::constants);
  part("show_launch", &ShownKernel::launch);
  part("show_parameters", &ShownKernel::parameters);
  return text;
}

nlohmann::ordered_json json_of(const std::vector<ShownKernel>& kernels) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ShownKernel& kernel : kernels) {
    const auto object = [](const Named& named) {
      nlohmann::ordered_json values = nlohmann::ordered_json::object();
      for (const auto& [name, value] : named) values[name] = value;
      return values;
    };
    list.push_back({{"name", kernel.name},
                    {"launches", kernel.launches},
                    {"template", object(kernel.compiled)},
                    {"constants", object(kernel.constants)},
                    {"launch", object(kernel.launch)},
                    {"parameters", object(kernel.parameters)}});
  }
  return list;
}

}  // namespace

std::vector<ShownKernel> shown_kernels(const GroupedCapture& capture, const ParameterLayouts& layouts) {
  std::vector<ShownKernel> kernels;
  for (const LaunchGroup& group : capture.groups) {
    ShownKernel kernel;
    kernel.name = group.name.text;
    kernel.family = group.name.family;
    kernel.launches = group.count;
    kernel.compiled = group.name.parameters;
    for (const auto& [name, value] : group.first.variant) kernel.compiled.emplace_back(name, value);
    kernel.constants = group.name.derived;
    kernel.launch = geometry(group.first);
    for (const auto& [name, value] : group.first.parameters) kernel.parameters.emplace_back(name, value);
    for (auto& [name, value] : argument_values(group, layouts))
      kernel.parameters.emplace_back(std::move(name), std::move(value));
    add_computed(kernel.parameters);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string show_text(const std::vector<ShownKernel>& a, const std::vector<ShownKernel>* b,
                      const Messages& messages) {
  std::string text;
  if (b == nullptr) {
    for (const ShownKernel& kernel : a) text += one(&kernel, nullptr, false, messages);
    return text;
  }
  // The n-th of a family beside the n-th of it.
  std::map<std::string, std::vector<const ShownKernel*>> others;
  for (const ShownKernel& kernel : *b) others[kernel.family].push_back(&kernel);
  std::map<std::string, std::size_t> taken;
  for (const ShownKernel& kernel : a) {
    const auto found = others.find(kernel.family);
    std::size_t& next = taken[kernel.family];
    const bool is_there = found != others.end() && next < found->second.size();
    text += one(&kernel, is_there ? found->second[next++] : nullptr, true, messages);
  }
  for (const auto& [family, list] : others)
    for (std::size_t i = taken[family]; i < list.size(); ++i) text += one(nullptr, list[i], true, messages);
  return text;
}

std::string show_json(const std::vector<ShownKernel>& a, const std::vector<ShownKernel>* b) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["a"] = json_of(a);
  if (b != nullptr) json["b"] = json_of(*b);
  return json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace isomer::lab
