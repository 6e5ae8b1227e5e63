#include "lab/report/kernels_report.hpp"

#include "lab/report/terminal.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <map>
#include <set>

namespace isomer::lab {
namespace {

/// Of the kernels of one family, the parameters in which they differ are what tells them apart.
using Distinct = std::map<std::string, std::map<std::string, std::set<std::string>>>;

Distinct distinct_values(const std::vector<BinaryKernel>& kernels) {
  Distinct all;
  for (const BinaryKernel& kernel : kernels)
    for (const auto& [name, value] : kernel.parsed->parameters)
      all[kernel.parsed->family][name].insert(value);
  return all;
}

std::string settings(const BinaryKernel& kernel, const Distinct& distinct) {
  std::string text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  };
  for (const auto& [name, value] : kernel.parsed->derived)
    if (name != "wrapper") add(name, value);
  const bool derived = !text.empty();
  const auto& family = distinct.find(kernel.parsed->family);
  for (const auto& [name, value] : kernel.parsed->parameters) {
    // A type's own text may be longer than all the rest.
    if (value.size() > 40) continue;
    if (!derived || (family != distinct.end() && family->second.at(name).size() > 1)) add(name, value);
  }
  return text;
}

std::string number(bool known, std::uint32_t value) { return known ? std::to_string(value) : "–"; }

nlohmann::ordered_json maybe(bool known, std::uint32_t value) {
  if (!known) return nullptr;
  return value;
}

nlohmann::ordered_json maybe(const std::string& text) {
  if (text.empty()) return nullptr;
  return text;
}

}  // namespace

std::string kernels_table(const std::vector<BinaryKernel>& kernels) {
  const Distinct distinct = distinct_values(kernels);
  Table table("llrrrrll");
  table.row({"kernel", "arch", "registers", "shared", "local", "threads", "code", "parameters"});
  table.rule();
  for (const BinaryKernel& kernel : kernels) {
    const bool known = kernel.resources_known;
    const std::string local = number(known, kernel.spill_bytes);
    table.row({kernel.parsed->family, kernel.arch, number(known, kernel.registers),
               number(known, kernel.shared_bytes),
               known && kernel.spill_bytes > 0 ? Terminal::yellow(local) : local,
               number(kernel.max_threads > 0, kernel.max_threads), kernel.code_hash.substr(0, 12),
               settings(kernel, distinct)});
  }
  std::string text = table.text();
  text += Terminal::dim(
              "registers and bytes of local memory (spills and arrays) per thread, bytes of static shared "
              "memory and maximum threads per block") +
          "\n";
  std::set<std::string> notes;
  for (const BinaryKernel& kernel : kernels)
    if (!kernel.compiler.empty())
      notes.insert(fmt::format("{}: {}{}{}", kernel.arch, kernel.compiler, kernel.options.empty() ? "" : " ",
                               kernel.options));
  for (const std::string& note : notes) text += Terminal::dim(note) + "\n";
  text += fmt::format("{} kernel{}\n", kernels.size(), kernels.size() == 1 ? "" : "s");
  return text;
}

void kernels_json(const std::vector<BinaryKernel>& kernels,
                  const std::function<void(std::string_view)>& write) {
  // A library has a hundred thousand kernels: each is written before the next is made.
  write("{\n \"version\": 1,\n \"kernels\": [");
  for (const BinaryKernel& kernel : kernels) {
    nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
    nlohmann::ordered_json derived = nlohmann::ordered_json::object();
    for (const auto& [name, value] : kernel.parsed->parameters) parameters[name] = value;
    for (const auto& [name, value] : kernel.parsed->derived) derived[name] = value;
    nlohmann::ordered_json arguments = nlohmann::ordered_json::array();
    for (const BinaryKernel::Parameter& each : kernel.parameters)
      arguments.push_back({{"offset", each.offset}, {"size", each.size}});
    const bool known = kernel.resources_known;
    const nlohmann::ordered_json json = {{"name", kernel.name},
                                         {"demangled", kernel.parsed->text},
                                         {"family", kernel.parsed->family},
                                         {"arity", kernel.parsed->arity},
                                         {"parameters", std::move(parameters)},
                                         {"derived", std::move(derived)},
                                         {"arch", kernel.arch},
                                         {"registers", maybe(known, kernel.registers)},
                                         {"shared_bytes", maybe(known, kernel.shared_bytes)},
                                         {"spill_bytes", maybe(known, kernel.spill_bytes)},
                                         {"stack_bytes", maybe(known, kernel.stack_bytes)},
                                         {"max_threads", maybe(kernel.max_threads > 0, kernel.max_threads)},
                                         {"arguments", std::move(arguments)},
                                         {"code_hash", maybe(kernel.code_hash)},
                                         {"code_bytes", kernel.code_bytes},
                                         {"instructions", instructions_of(kernel)},
                                         {"compiler", maybe(kernel.compiler)},
                                         {"options", maybe(kernel.options)}};
    write(&kernel == kernels.data() ? "\n" : ",\n");
    write(json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  write("\n ]\n}\n");
}

}  // namespace isomer::lab
