#include "lab/ask/conventional_forms.hpp"

#include <utility>

namespace isomer::lab {
namespace {

using What = Passing::What;

/// A matrix or more as it is passed, the last two axes exchanged.
bool turn(const Form& form, std::size_t at, const Given& given, Form& turned) {
  const Passing& passing = form.passings[at];
  if (passing.what != What::role || !passing.axes.empty() || passing.drop != 0) return false;
  const Value& value = given.values[static_cast<std::size_t>(passing.role)];
  if (!value.is_tensor() || value.tensor.rank < 2) return false;
  std::vector<int> axes;
  for (int i = 0; i < value.tensor.rank; ++i) axes.push_back(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  turned.passings[at].axes = std::move(axes);
  turned.passings[at].compact = true;
  return true;
}

/// A matrix or more of the same shape, that lies column by column; columns begin at multiples of `multiple`.
bool lay_in_columns(const Form& form, std::size_t at, const Given& given, int multiple, Form& laid) {
  const Passing& passing = form.passings[at];
  if (passing.what != What::role || !passing.axes.empty() || passing.drop != 0) return false;
  const Value& value = given.values[static_cast<std::size_t>(passing.role)];
  if (!value.is_tensor() || value.tensor.rank < 2) return false;
  laid.passings[at].columns = multiple;
  laid.passings[at].compact = true;
  return true;
}

}  // namespace

std::vector<Convention> conventional_forms(const Form& form, const Port& port, const Given& given) {
  std::vector<Convention> list;
  const auto name_of = [&](std::size_t at) {
    return at < form.entry->parameters.size() && !form.entry->parameters[at].name.empty()
               ? form.entry->parameters[at].name
               : port.roles[static_cast<std::size_t>(form.passings[at].role)].name;
  };
  const auto each_wanted = [&](const auto& wanted, const char* said, const auto& change) {
    Form changed = form;
    std::string names;
    for (std::size_t i = 0; i < form.passings.size(); ++i) {
      if (form.passings[i].what != What::role) continue;
      const Port::Role& role = port.roles[static_cast<std::size_t>(form.passings[i].role)];
      if (wanted(role) && change(i, changed)) names += (names.empty() ? "" : ", ") + name_of(i);
    }
    if (!names.empty()) list.push_back({std::move(changed), names, said});
  };
  const auto turned = [&](std::size_t i, Form& changed) { return turn(form, i, given, changed); };
  const auto together = [&](const auto& wanted, const char* said) { each_wanted(wanted, said, turned); };
  // Of a tensor, which carries its shape, memory alone is another; of memory, the two are one.
  const auto in_columns = [&](int multiple) {
    return [&, multiple](std::size_t i, Form& changed) {
      const bool tensor =
          i < form.entry->parameters.size() && form.entry->parameters[i].kind != Parameter::Kind::pointer;
      return (tensor || multiple > 1) && lay_in_columns(form, i, given, multiple, changed);
    };
  };
  together([](const Port::Role& role) { return role.tensor && role.argument.starts_with("lse"); },
           "log-sum-exps lie [heads, tokens]");
  const auto is_scale = [](const Port::Role& role) {
    return role.tensor && (role.argument == "s" || role.argument.ends_with("_s") ||
                           role.argument.find("scale") != std::string::npos);
  };
  const auto is_input = [](const Port::Role& role) { return role.tensor && !role.output; };
  each_wanted(is_scale, "scales lie column by column", in_columns(1));
  each_wanted(is_input, "every input lies column by column", in_columns(1));
  together(is_scale, "scales lie column by column");
  together(is_input, "every input lies column by column");
  constexpr int kOfTma = 4;  // of f32, the 16 bytes that bulk copies begin at
  each_wanted(is_scale, "scales lie column by column, each column beginning at a multiple of 16 bytes",
              in_columns(kOfTma));
  for (std::size_t i = 0; i < form.passings.size(); ++i) {
    Form turned = form;
    if (turn(form, i, given, turned))
      list.push_back({std::move(turned), name_of(i), "it is taken transposed"});
  }
  return list;
}

}  // namespace isomer::lab
