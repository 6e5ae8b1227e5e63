#include "lab/names/parameter_layouts.hpp"

#include "core/sentence.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace isomer::lab {
namespace {

[[noreturn]] void wrong(const std::string& source, const std::string& why) {
  core::fail(ErrorCode::io, "diff: '", source, "' is not a table of parameter layouts: ", why);
}

template <class Value>
Value member(const nlohmann::json& object, const char* name, const std::string& source) {
  try {
    return object.at(name).get<Value>();
  } catch (const nlohmann::json::exception&) {
    wrong(source, core::say("'", name, "' is missing or of another type"));
  }
}

std::string contents_of(const std::filesystem::path& path, const char* whose = "") {
  std::ifstream file(path, std::ios::binary);
  if (!file) core::fail(ErrorCode::io, "diff: cannot read '", path.string(), "'", whose);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Those that the user keeps, by name.
std::vector<std::filesystem::path> tables_of_user() {
  const char *configuration = std::getenv("XDG_CONFIG_HOME"), *home = std::getenv("HOME");
  std::filesystem::path folder;
  if (configuration != nullptr && *configuration != 0)
    folder = configuration;
  else if (home != nullptr && *home != 0)
    folder = std::filesystem::path(home) / ".config";
  else
    return {};
  std::vector<std::filesystem::path> tables;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "isomer" / "layouts", none))
    if (entry.path().extension() == ".json") tables.push_back(entry.path());
  std::sort(tables.begin(), tables.end());
  return tables;
}

}  // namespace

ParameterLayouts ParameterLayouts::for_captures(const std::vector<std::filesystem::path>& captures) {
  ParameterLayouts layouts;
  for (const LayoutFile& file : layout_files()) layouts.add(file.text, std::string(file.path));
  for (const std::filesystem::path& path : tables_of_user()) layouts.add(contents_of(path), path.string());
  for (const std::filesystem::path& capture : captures)
    for (const std::filesystem::path& path : {capture.parent_path() / "layouts.json",
                                              std::filesystem::path(capture.string() + ".layouts.json")}) {
      std::error_code none;
      if (std::filesystem::is_regular_file(path, none)) layouts.add(contents_of(path), path.string());
    }
  const char* paths = std::getenv("ISOMER_LAYOUTS");
  for (std::string_view rest = paths == nullptr ? "" : paths; !rest.empty();) {
    const std::size_t colon = rest.find(':');
    const std::string path(rest.substr(0, colon));
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    if (!path.empty()) layouts.add(contents_of(path, ", which ISOMER_LAYOUTS names"), path);
  }
  return layouts;
}

void ParameterLayouts::add(std::string_view json, const std::string& source) {
  const nlohmann::json table = read_json(json);
  if (!table.is_object() || !table.contains("layouts") || !table["layouts"].is_array())
    wrong(source, "expected an object with a list 'layouts'");
  for (const nlohmann::json& layout : table["layouts"]) {
    // One struct may be what several kernels take.
    const auto families = layout.contains("families")
                              ? member<std::vector<std::string>>(layout, "families", source)
                              : std::vector<std::string>{member<std::string>(layout, "family", source)};
    Key key{{},
            layout.contains("arity") ? member<std::vector<std::size_t>>(layout, "arity", source)
                                     : std::vector<std::size_t>{},
            member<std::size_t>(layout, "parameter", source),
            member<std::size_t>(layout, "bytes", source)};
    const auto where = layout.contains("where") ? member<std::vector<std::string>>(layout, "where", source)
                                                : std::vector<std::string>{};
    if (!layout.contains("fields") || !layout["fields"].is_array()) wrong(source, "'fields' is missing");
    std::vector<Field> fields;
    for (const nlohmann::json& each : layout["fields"]) {
      Field field{member<std::string>(each, "name", source), member<std::uint32_t>(each, "offset", source),
                  member<std::uint32_t>(each, "size", source), member<std::string>(each, "type", source)};
      if (std::uint64_t{field.offset} + field.size > key.bytes)
        wrong(source, core::say(field.name, " ends behind byte ", key.bytes));
      fields.push_back(std::move(field));
    }
    for (const std::string& family : families) {
      key.family = family;
      layouts_[key].push_back({where, fields});
    }
  }
}

const std::vector<Field>* ParameterLayouts::find(const Key& key, std::string_view name) const {
  const auto found = layouts_.find(key);
  if (found == layouts_.end()) return nullptr;
  for (auto layout = found->second.rbegin(); layout != found->second.rend(); ++layout)
    if (std::all_of(layout->where.begin(), layout->where.end(),
                    [&](const std::string& text) { return name.find(text) != std::string_view::npos; }))
      return &layout->fields;
  return nullptr;
}

const std::vector<Field>* ParameterLayouts::find(const std::string& family,
                                                 const std::vector<std::size_t>& arity, std::size_t parameter,
                                                 std::size_t bytes, std::string_view name) const {
  const std::vector<Field>* own = find({family, arity, parameter, bytes}, name);
  return own != nullptr ? own : find({family, {}, parameter, bytes}, name);
}

}  // namespace isomer::lab
