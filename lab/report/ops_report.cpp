#include "lab/report/ops_report.hpp"

#include "core/registry.hpp"
#include "core/sentence.hpp"
#include "lab/report/terminal.hpp"
#include "oracle/oracle.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

const char* name_of(core::Role role) {
  return role == core::Role::in ? "in" : role == core::Role::out ? "out" : "inout";
}

const char* name_of(core::Strides strides) {
  switch (strides) {
    case core::Strides::any:
      return "any strides";
    case core::Strides::contiguous:
      return "contiguous";
    default:
      return "last dimension contiguous";
  }
}

std::vector<const core::Registry::Op*> selected(const std::vector<std::string>& names) {
  const core::Registry& registry = core::Registry::builtin();
  std::vector<const core::Registry::Op*> list;
  std::vector<std::string> known;
  for (const core::Registry::Op& op : registry.ops()) {
    known.push_back(op.contract->op);
    if (names.empty()) list.push_back(&op);
  }
  for (const std::string& name : names) {
    const core::Registry::Op* op = registry.find(name);
    if (op == nullptr)
      core::fail(ErrorCode::bad_argument, "ops: expected an op (", core::either(known), "), got '", name,
                 "'");
    list.push_back(op);
  }
  return list;
}

std::vector<std::string> dtype_names(const core::Arg& arg) {
  std::vector<std::string> names;
  for (const DType type : arg.dtypes) names.emplace_back(isomer::name_of(type));
  return names;
}

std::string contract_text(const core::Contract& contract) {
  std::string text =
      fmt::format("  source     {}\n  tolerance  {}\n  arguments\n", contract.source, contract.tolerance);
  for (const core::Arg& arg : contract.args) {
    std::string shapes;
    for (const std::string& shape : arg.shapes) shapes += (shapes.empty() ? "[" : " or [") + shape + "]";
    text += fmt::format("    {:<18} {:<6}{} {}; {}; {}\n", arg.name, name_of(arg.role),
                        arg.optional ? "optional " : "", shapes, core::either(dtype_names(arg)),
                        name_of(arg.strides));
    if (!arg.meaning.empty()) text += Terminal::dim(fmt::format("    {:<18} {}\n", "", arg.meaning));
  }
  if (!contract.options.empty()) text += "  options\n";
  for (const core::Option& option : contract.options)
    text +=
        fmt::format("    {:<18} {} = {}: {}\n", option.name, option.type(), option.fallback, option.meaning);
  if (!contract.clauses.empty()) text += "  clauses\n";
  for (const core::Clause& clause : contract.clauses)
    text += fmt::format("    {}{}\n", clause.text, clause.reads_data ? " (device data: checked mode)" : "");
  if (const oracle::Oracle* oracle = oracle::find_oracle(contract.op)) {
    text += "  variations (ways to get it wrong)\n";
    for (const oracle::Variation& variation : oracle->variations)
      text += fmt::format("    {:<32} {}\n", variation.name, variation.meaning);
    text += "  fields of a case line\n";
    for (const oracle::Field& field : oracle->schema->fields) {
      const std::string form = field.kind == oracle::Field::Kind::flag ? field.name
                               : field.bare                            ? core::either(field.choices)
                                            : fmt::format("{}={}", field.name, field.fallback);
      text += fmt::format("    {:<32} {}{}\n", form, field.meaning,
                          !field.bare && !field.choices.empty() ? ": " + core::either(field.choices) : "");
    }
  }
  return text;
}

}  // namespace

std::string ops_text(const std::vector<std::string>& names) {
  std::string text;
  for (const core::Registry::Op* op : selected(names)) {
    text += Terminal::bold(op->contract->op) + "  " + op->contract->summary + "\n";
    if (!names.empty()) text += contract_text(*op->contract);
    for (const auto& implementation : op->implementations) {
      const std::string reason = implementation->unavailable();
      text += fmt::format("  {} {:<14}{}\n", reason.empty() ? Terminal::green("●") : Terminal::dim("○"),
                          implementation->name(), reason.empty() ? "" : Terminal::dim(reason));
    }
    text += "\n";
  }
  return text;
}

std::string ops_json(const std::vector<std::string>& names) {
  nlohmann::ordered_json json;
  json["version"] = 1;
  json["ops"] = nlohmann::ordered_json::array();
  for (const core::Registry::Op* op : selected(names)) {
    const core::Contract& contract = *op->contract;
    nlohmann::ordered_json entry;
    entry["op"] = contract.op;
    auto& about = entry["contract"];
    about["summary"] = contract.summary;
    about["source"] = contract.source;
    about["tolerance"] = contract.tolerance;
    for (const core::Arg& arg : contract.args)
      about["arguments"].push_back({{"name", arg.name},
                                    {"role", name_of(arg.role)},
                                    {"optional", arg.optional},
                                    {"dtypes", dtype_names(arg)},
                                    {"shapes", arg.shapes},
                                    {"strides", name_of(arg.strides)},
                                    {"meaning", arg.meaning}});
    about["options"] = nlohmann::ordered_json::array();
    for (const core::Option& option : contract.options)
      about["options"].push_back({{"name", option.name},
                                  {"type", option.type()},
                                  {"default", option.fallback},
                                  {"meaning", option.meaning}});
    about["clauses"] = nlohmann::ordered_json::array();
    for (const core::Clause& clause : contract.clauses)
      about["clauses"].push_back({{"text", clause.text}, {"reads_data", clause.reads_data}});
    if (const oracle::Oracle* oracle = oracle::find_oracle(contract.op))
      for (const oracle::Variation& variation : oracle->variations)
        entry["variations"].push_back({{"name", variation.name}, {"meaning", variation.meaning}});
    entry["implementations"] = nlohmann::ordered_json::array();
    for (const auto& implementation : op->implementations) {
      const std::string reason = implementation->unavailable();
      entry["implementations"].push_back(
          {{"name", implementation->name()}, {"available", reason.empty()}, {"reason", reason}});
    }
    json["ops"].push_back(std::move(entry));
  }
  return json.dump(1) + "\n";
}

}  // namespace isomer::lab
