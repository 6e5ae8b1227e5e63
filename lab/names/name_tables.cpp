#include "lab/names/name_tables.hpp"

#include "core/sentence.hpp"
#include "lab/names/kernel_name.hpp"
#include "lab/text/read_json.hpp"

#include <isomer/error.hpp>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

namespace isomer::lab {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::pair<std::string, std::string>> pairs(const Json& json) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [name, path] : json.items()) result.emplace_back(name, path.get<std::string>());
  return result;
}

TemplateTable table_of(const Json& json) {
  TemplateTable table;
  for (const Json& each : json.at("parameters")) {
    const auto text = each.get<std::string>();
    const std::size_t space = text.rfind(' ');
    TemplateTable::Parameter parameter;
    if (text.starts_with('=')) {
      parameter = {"value", text.substr(1), true};
    } else if (space == std::string::npos || space + 1 == text.size()) {
      throw Error(ErrorCode::io, "a parameter is written 'kind name', got '" + text + "'");
    } else {
      parameter = {text.substr(0, space), text.substr(space + 1)};
    }
    table.parameters.push_back(std::move(parameter));
  }
  if (json.contains("derived")) table.derived = pairs(json.at("derived"));
  if (json.contains("fields")) {
    FieldRules rules;
    for (const auto& [field, text] : pairs(json.at("fields"))) rules.push_back(read_field_rule(field, text));
    table.fields = std::make_shared<const FieldRules>(std::move(rules));
  }
  return table;
}

NameTables& tables() {
  static NameTables instance = [] {
    NameTables built_in;
    built_in.add(embedded_names(), "the built-in names");
    return built_in;
  }();
  return instance;
}

void use_file(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) core::fail(ErrorCode::io, "names: cannot read '", path, "'");
  tables().add(text.str(), path);
}

}  // namespace

std::string NameTables::plain(const std::string& name) const {
  const std::size_t colons = name.find("::");
  if (colons == std::string::npos) return name;
  const auto found = namespaces_.find(std::string_view(name).substr(0, colons));
  return found == namespaces_.end() ? name : found->second + name.substr(colons);
}

bool NameTables::fits(const TemplateTable& table, const std::vector<NameArgument>& arguments) const {
  using Kind = NameArgument::Kind;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& kind = table.parameters[i].kind;
    const NameArgument& argument = arguments[i];
    const bool fit = kind == "int"     ? argument.kind == Kind::integer
                     : kind == "bool"  ? argument.kind == Kind::boolean
                     : kind == "type"  ? argument.kind == Kind::type || argument.kind == Kind::templated
                     : kind == "value" ? true
                                       : argument.kind == Kind::templated && plain(argument.text) == kind;
    if (!fit) return false;
  }
  return true;
}

const NameTables& NameTables::instance() { return tables(); }

const TemplateTable* NameTables::find(const std::string& name,
                                      const std::vector<NameArgument>& arguments) const {
  const auto found = templates_.find({plain(name), arguments.size()});
  if (found == templates_.end()) return nullptr;
  for (auto table = found->second.rbegin(); table != found->second.rend(); ++table)
    if (fits(*table, arguments)) return &*table;
  return nullptr;
}

void NameTables::add(std::string_view text, const std::string& source) {
  try {
    const Json json = read_right_ordered_json(text);
    if (const Json& version = json.at("version"); version != 1)
      core::fail(ErrorCode::io, "expected version 1, got ", version.dump());
    for (const char* list : {"wrappers", "shapes", "constants"}) {
      std::set<std::string>& names = *list == 'w' ? wrappers_ : *list == 's' ? shapes_ : constants_;
      for (const Json& name : json.value(list, Json::array())) names.insert(name.get<std::string>());
    }
    const Json namespaces = json.value("namespaces", Json::object());
    for (const auto& [alias, name] : namespaces.items()) namespaces_[alias] = name.get<std::string>();
    for (const Json& each : json.value("templates", Json::array())) {
      const TemplateTable table = table_of(each);
      for (const Json& name : each.at("names"))
        templates_[{name.get<std::string>(), table.parameters.size()}].push_back(table);
    }
    std::vector<CodeTable> codes;
    for (const Json& each : json.value("codes", Json::array())) {
      CodeTable code{
          Pattern(each.at("pattern").get<std::string>()), each.at("family"), each.at("parameters"), {}};
      if (code.pattern.groups() != code.parameters.size())
        core::fail(ErrorCode::io, "the pattern of ", code.family, " has ", code.pattern.groups(),
                   " groups, but ", code.parameters.size(), " parameters are named");
      if (each.contains("derived")) code.derived = pairs(each.at("derived"));
      codes.push_back(std::move(code));
    }
    codes_.insert(codes_.begin(), std::make_move_iterator(codes.begin()),
                  std::make_move_iterator(codes.end()));
  } catch (const std::exception& error) {
    core::fail(ErrorCode::io, "names: ", source, " is not a table of kernel names: ", error.what());
  }
}

void use_name_tables(const std::string& file) {
  if (const char* files = std::getenv("ISOMER_NAMES")) {
    std::istringstream list(files);
    for (std::string path; std::getline(list, path, ':');)
      if (!path.empty()) use_file(path);
  }
  if (!file.empty()) use_file(file);
}

}  // namespace isomer::lab
