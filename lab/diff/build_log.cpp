#include "lab/diff/build_log.hpp"

#include "core/sentence.hpp"
#include "lab/text/read_json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace isomer::lab {
namespace {

/// nvcc's short names, by its manual.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kLongNames{{
    {"-gencode", "--generate-code"},
    {"-arch", "--gpu-architecture"},
    {"-code", "--gpu-code"},
    {"-O", "--optimize"},
    {"-G", "--device-debug"},
    {"-g", "--debug"},
    {"-lineinfo", "--generate-line-info"},
    {"-Xptxas", "--ptxas-options"},
    {"-Xnvlink", "--nvlink-options"},
    {"-Xcicc", "--cicc-options"},
    {"-rdc", "--relocatable-device-code"},
    {"-dlto", "--dlink-time-opt"},
    {"-dopt", "--dopt"},
    {"-ewp", "--extensible-whole-program"},
    {"-extra-device-vectorization", "--extra-device-vectorization"},
    {"-default-stream", "--default-stream"},
    {"-std", "--std"},
}};

/// Options that take the next word, where none is joined to them.
constexpr std::array<std::string_view, 49> kWithValue{
    "-O", "--optimize", "-gencode", "--generate-code", "-arch", "--gpu-architecture", "-code", "--gpu-code",
    "-maxrregcount", "--maxrregcount", "-Xptxas", "--ptxas-options", "-Xnvlink", "--nvlink-options", "-Xcicc",
    "-ftz", "--ftz", "-prec-div", "--prec-div", "-prec-sqrt", "--prec-sqrt", "-fmad", "--fmad", "-rdc",
    "--relocatable-device-code", "-default-stream", "--default-stream", "-std", "--std", "-dopt", "--dopt",
    "-D", "-U",
    // Of no consequence for the machine code:
    "-o", "-x", "-I", "-isystem", "-include", "-L", "-l", "-Xcompiler", "--compiler-options", "-Xlinker",
    "-ccbin", "-MF", "-MT", "-MQ", "-t", "--threads"};

/// Where things are, what is printed, and what the host's compiler is told.
bool of_no_consequence(std::string_view name) {
  static constexpr std::array<std::string_view, 33> kNames{"-o",
                                                           "--output-file",
                                                           "-x",
                                                           "-I",
                                                           "--include-path",
                                                           "-isystem",
                                                           "--system-include",
                                                           "-L",
                                                           "-l",
                                                           "-Xcompiler",
                                                           "--compiler-options",
                                                           "-Xlinker",
                                                           "--linker-options",
                                                           "-ccbin",
                                                           "--compiler-bindir",
                                                           "-c",
                                                           "--compile",
                                                           "-dc",
                                                           "--device-c",
                                                           "-MD",
                                                           "-MMD",
                                                           "-MP",
                                                           "-MF",
                                                           "-MT",
                                                           "-MQ",
                                                           "-M",
                                                           "-MM",
                                                           "-t",
                                                           "--threads",
                                                           "-v",
                                                           "--verbose",
                                                           "-keep",
                                                           "-forward-unknown-to-host-compiler"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end() || name.starts_with("-W") ||
         name.starts_with("--forward-unknown") || name.starts_with("-diag") || name.starts_with("--diag") ||
         name.starts_with("-f") || name.starts_with("-m") || name == "-shared" || name == "--shared" ||
         name.starts_with("--keep") || name.starts_with("-pipe") || name.starts_with("-pthread");
}

bool device_option(std::string_view name) {
  return name.starts_with("-fmad") || name.starts_with("-ftz") || name.starts_with("-maxrregcount");
}

std::string base_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

bool is_source(std::string_view word) {
  for (const std::string_view end : {".cu", ".cpp", ".cc", ".cxx", ".c", ".hip", ".ptx"})
    if (word.ends_with(end)) return true;
  return false;
}

/// A later word of the same option adds to it: several -gencode, several -Xptxas.
void note(std::map<std::string, std::string>& options, std::string name, std::string value) {
  for (const auto& [small, large] : kLongNames)
    if (name == small) name = large;
  // One dash or two: "-use_fast_math" is "--use_fast_math".
  if (name.size() > 3 && name[0] == '-' && name[1] != '-' && name[1] != 'D' && name[1] != 'U')
    name = "-" + name;
  std::string& known = options[name];
  if (known.empty() || (name != "--generate-code" && name != "--ptxas-options")) {
    known = std::move(value);
    return;
  }
  std::set<std::string> values;
  std::istringstream list(known + " " + value);
  for (std::string each; list >> each;) values.insert(each);
  known.clear();
  for (const std::string& each : values) known += (known.empty() ? "" : " ") + each;
}

CompiledUnit unit_of(const std::vector<std::string>& words, std::string source) {
  CompiledUnit unit;
  unit.source = std::move(source);
  const auto compiler = std::find_if(words.begin(), words.end(), [](const std::string& word) {
    const std::string name = base_name(word);
    return name == "nvcc" || name == "hipcc";
  });
  if (compiler == words.end()) return unit;
  const std::vector<std::string> rest(compiler + 1, words.end());
  if (unit.source.empty())
    for (std::size_t i = 0; i < rest.size(); ++i) {
      const bool value =
          i > 0 && std::find(kWithValue.begin(), kWithValue.end(), rest[i - 1]) != kWithValue.end();
      if (!value && !rest[i].starts_with('-') && is_source(rest[i])) unit.source = rest[i];
    }
  unit.compiler = base_name(*compiler);
  unit.options = compiler_options(rest);
  return unit;
}

}  // namespace

std::vector<std::string> shell_words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool inside = false;
  char quote = '\0';
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      inside = true;
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
      inside = true;
    } else if (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
      if (inside) words.push_back(std::exchange(word, {}));
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words.push_back(word);
  return words;
}

std::map<std::string, std::string> compiler_options(const std::vector<std::string>& words) {
  std::map<std::string, std::string> options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string name = words[i], value;
    if (!name.starts_with('-') || name == "-") continue;
    const bool takes = std::find(kWithValue.begin(), kWithValue.end(), name) != kWithValue.end();
    if (takes && i + 1 < words.size()) {
      value = words[++i];
      if (name == "-D" || name == "-U") {
        name += value.substr(0, value.find('='));
        value = value.find('=') == std::string::npos ? "" : value.substr(value.find('=') + 1);
      }
    } else if (name.starts_with("-O") && name.size() == 3) {
      value = name.substr(2);
      name = "-O";
    } else if (name.starts_with("-I") || name.starts_with("-L") ||
               (name.starts_with("-l") && name != "-lineinfo")) {
      continue;
    } else if (const std::size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (of_no_consequence(name) && !device_option(name)) continue;
    // Asking ptxas to talk changes nothing.
    if ((name == "-Xptxas" || name == "--ptxas-options") && (value == "-v" || value == "--verbose")) continue;
    note(options, std::move(name), value.empty() ? "on" : std::move(value));
  }
  return options;
}

std::vector<CompiledUnit> parse_build_log(std::string_view text, const std::string& what) {
  std::vector<CompiledUnit> units;
  const auto add = [&](CompiledUnit unit) {
    if (!unit.compiler.empty() && !unit.source.empty()) units.push_back(std::move(unit));
  };
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  // A log of ninja begins with a bracket as well: "[1/3] nvcc …".
  const nlohmann::json json = begin != std::string_view::npos && text[begin] == '['
                                  ? read_json(text)
                                  : nlohmann::json(nlohmann::json::value_t::discarded);
  if (json.is_array()) {
    for (const nlohmann::json& entry : json) {
      if (!entry.is_object()) continue;
      std::vector<std::string> words;
      if (const auto arguments = entry.find("arguments"); arguments != entry.end() && arguments->is_array()) {
        for (const nlohmann::json& word : *arguments)
          if (word.is_string()) words.push_back(word.get<std::string>());
      } else if (const auto command = entry.find("command"); command != entry.end() && command->is_string()) {
        words = shell_words(command->get_ref<const std::string&>());
      }
      const auto file = entry.find("file");
      add(unit_of(words, file != entry.end() && file->is_string() ? file->get<std::string>() : ""));
    }
  } else {
    std::string line;
    std::istringstream lines{std::string(text)};
    for (std::string part; std::getline(lines, part);) {
      if (part.ends_with('\\')) {  // the command goes on
        line += part.substr(0, part.size() - 1) + " ";
        continue;
      }
      line += part;
      if (line.find("nvcc") != std::string::npos || line.find("hipcc") != std::string::npos)
        add(unit_of(shell_words(line), {}));
      line.clear();
    }
  }
  if (units.empty())
    core::fail(ErrorCode::io, what,
               ": has no nvcc or hipcc command that compiles a source, expected compile_commands.json or the "
               "output of make VERBOSE=1 or ninja -v");
  return units;
}

std::vector<CompiledUnit> read_build_log(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) core::fail(ErrorCode::io, path.string(), ": cannot be read");
  return parse_build_log(text, path.string());
}

std::vector<Difference> option_differences(const std::vector<CompiledUnit>& a,
                                           const std::vector<CompiledUnit>& b) {
  /// Option → (value in A, value in B) → the sources where it is so.
  std::map<std::string, std::map<std::pair<std::string, std::string>, std::set<std::string>>> found;
  std::map<std::string, const CompiledUnit*> by_name;
  for (const CompiledUnit& unit : b) by_name.emplace(base_name(unit.source), &unit);
  std::size_t compared = 0;
  const auto compare = [&](const CompiledUnit& x, const CompiledUnit& y) {
    ++compared;
    std::set<std::string> names;
    for (const auto& [name, value] : x.options) names.insert(name);
    for (const auto& [name, value] : y.options) names.insert(name);
    for (const std::string& name : names) {
      const auto in_x = x.options.find(name), in_y = y.options.find(name);
      const std::string left = in_x == x.options.end() ? "" : in_x->second;
      const std::string right = in_y == y.options.end() ? "" : in_y->second;
      if (left != right) found[name][{left, right}].insert(base_name(x.source));
    }
  };
  for (const CompiledUnit& unit : a)
    if (const auto same = by_name.find(base_name(unit.source)); same != by_name.end())
      compare(unit, *same->second);
  // Sources of other names: the first command of each side stands for it.
  if (compared == 0 && !a.empty() && !b.empty()) compare(a.front(), b.front());
  std::vector<Difference> differences;
  for (const auto& [name, values] : found)
    for (const auto& [value, sources] : values) {
      std::string where;
      if (sources.size() < compared)
        where = " (" + *sources.begin() +
                (sources.size() > 1 ? " and " + std::to_string(sources.size() - 1) + " more" : "") + ")";
      const auto side = [&](const std::string& text) { return text.empty() ? text : text + where; };
      differences.push_back({"option " + name, side(value.first), side(value.second)});
    }
  return differences;
}

}  // namespace isomer::lab
