#include "includes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <regex>

namespace isomer::house {
namespace {

namespace fs = std::filesystem;

/// A room: the beginning of its files' paths, and the beginnings of what they may include beside themselves.
/// `<op>` stands for one op's folder, the same one in the whole row. The first row that fits is the file's.
struct Room {
  std::string folder;
  std::vector<std::string> may_include;
};

const std::vector<std::string> kShipped = {"include/", "src/core/", "src/bundle/", "src/c_api/",
                                           "src/cpu/", "src/gpu/",  "src/ops/"};

const std::vector<std::string> kCandidates = {"include/",  "src/core/",      "src/oracle/",
                                              "lab/text/", "lab/candidate/", "lab/record/"};

std::vector<std::string> with(std::vector<std::string> list, const std::vector<std::string>& more) {
  list.insert(list.end(), more.begin(), more.end());
  return list;
}

const std::vector<Room>& rooms() {
  static const std::vector<Room> list = {
      {"include/", {}},
      {"src/core/", {"include/"}},
      {"src/bundle/", {"include/", "src/core/"}},
      {"src/c_api/", {"include/", "src/core/", "src/bundle/"}},
      {"src/cpu/", {"include/", "src/core/"}},
      {"src/gpu/device/", {}},
      {"src/gpu/", {"include/", "src/core/", "src/gpu/device/"}},
      {"src/oracle/", {"include/", "src/core/", "src/bundle/"}},
      {"src/ops/<op>/kernels/", {"src/gpu/device/"}},
      {"src/ops/<op>/oracle/",
       {"include/", "src/core/", "src/oracle/", "src/ops/<op>/<op>.hpp", "src/ops/<op>/contract/"}},
      {"src/ops/<op>/contract/", {"include/", "src/core/", "src/c_api/", "src/ops/<op>/<op>.hpp"}},
      {"src/ops/<op>/cpu/",
       {"include/", "src/core/", "src/cpu/", "src/ops/<op>/<op>.hpp", "src/ops/<op>/contract/"}},
      {"src/ops/<op>/gpu/",
       {"include/", "src/core/", "src/gpu/", "src/ops/<op>/<op>.hpp", "src/ops/<op>/contract/",
        "src/ops/<op>/kernels/"}},
      {"src/ops/<op>/<op>.hpp", {"include/", "src/core/"}},
      // A small op has its rooms in its folder itself.
      {"src/ops/<op>/",
       {"include/", "src/core/", "src/c_api/", "src/cpu/", "src/gpu/", "src/ops/<op>/<op>.hpp",
        "src/ops/<op>/kernels/"}},
      {"src/ops/ops.cpp", {"include/", "src/core/", "src/ops/<op>/<op>.hpp"}},
      {"src/ops/devices.cpp", {"include/", "src/cpu/", "src/gpu/"}},
      {"src/ops/oracles.cpp", {"include/", "src/core/", "src/oracle/", "src/ops/<op>/oracle/oracle.hpp"}},
      {"emulator/tests/", {"include/", "src/", "emulator/"}},
      {"emulator/", {"include/", "src/core/", "src/gpu/"}},
      // Reading and comparing launches: formats below names, names below binaries, and who compares above
      // all.
      {"lab/capture/", {"include/", "src/core/", "lab/text/"}},
      {"lab/names/", {"include/", "src/core/", "lab/text/", "lab/capture/"}},
      {"lab/binary/", {"include/", "src/core/", "lab/text/", "lab/names/"}},
      {"lab/launches/", {"include/", "src/core/", "lab/text/", "lab/capture/", "lab/names/", "lab/binary/"}},
      {"lab/diff/", {"include/", "src/core/", "lab/text/", "lab/capture/", "lab/names/", "lab/binary/"}},
      // Candidates: the codes below how a kernel is called, that below what was seen, and the order above
      // all. Who mends asks the judge again.
      {"lab/text/", {"include/", "src/core/"}},
      {"lab/findings/mend/",
       {"include/", "src/core/", "lab/text/", "lab/candidate/", "lab/findings/", "lab/judge/"}},
      {"lab/findings/", {"include/", "src/core/", "lab/text/", "lab/candidate/"}},
      {"lab/ask/", with(kCandidates, {"lab/findings/"})},
      {"lab/evidence/", with(kCandidates, {"lab/findings/", "lab/ask/"})},
      {"lab/audit/", with(kCandidates, {"lab/findings/"})},
      {"lab/judge/",
       with(kCandidates, {"lab/findings/", "lab/ask/", "lab/evidence/", "lab/audit/", "lab/plan/"})},
      {"lab/", with(kShipped, {"lab/", "src/oracle/", "emulator/include/"})},
      {"cli/", with(kShipped, {"src/oracle/", "emulator/include/", "emulator/vendor/", "lab/"})},
      {"python/", with(kShipped, {"src/oracle/", "lab/"})},
      {"tests/", {"include/", "src/", "lab/", "cli/", "emulator/"}},
      {"fuzz/", {"include/", "src/", "lab/", "emulator/"}},
  };
  return list;
}

/// The op whose folder a path lies in; empty for any other path.
std::string op_of(const std::string& path) {
  const std::string ops = "src/ops/";
  const std::size_t end = path.find('/', ops.size());
  return path.starts_with(ops) && end != std::string::npos ? path.substr(ops.size(), end - ops.size()) : "";
}

std::string for_op(std::string pattern, const std::string& op) {
  for (std::size_t at = 0; (at = pattern.find("<op>", at)) != std::string::npos; at += op.size())
    pattern.replace(at, 4, op);
  return pattern;
}

bool fits(const std::string& path, const std::string& pattern, const std::string& op) {
  const bool of_an_op = pattern.find("<op>") != std::string::npos;
  return (!of_an_op || !op.empty()) && path.starts_with(for_op(pattern, op));
}

const Room* room_of(const std::string& path) {
  for (const Room& room : rooms())
    if (fits(path, room.folder, op_of(path))) return &room;
  return nullptr;
}

/// The lab is built without the emulator, too, and then without these folders.
bool needs_the_emulator(const std::string& path) {
  static const std::vector<std::string> folders = {"lab/candidate/emulated/", "lab/candidate/device/",
                                                   "lab/judge/emulated/",     "lab/findings/mend/",
                                                   "lab/batch/running/",      "emulator/include/"};
  return std::any_of(folders.begin(), folders.end(),
                     [&](const std::string& folder) { return path.starts_with(folder); });
}

bool may_include(const std::string& from, const std::string& to) {
  const Room* room = room_of(from);
  if (room == nullptr) return false;
  if (from.starts_with("lab/") && needs_the_emulator(to) && !needs_the_emulator(from)) return false;
  // The lists of all ops name every op; everybody else only the own one.
  const std::string op = op_of(from).empty() ? op_of(to) : op_of(from);
  if (fits(to, room->folder, op) && room_of(to) == room) return true;
  return std::any_of(room->may_include.begin(), room->may_include.end(),
                     [&](const std::string& each) { return fits(to, each, op); });
}

/// Where a name is looked for, in this order. The emulator's device headers have the names of the toolkits'
/// own, which only the emulator means by them.
std::vector<std::string> bases_of(const std::string& path) {
  std::vector<std::string> bases = {fs::path(path).parent_path().generic_string(), "", "src", "include",
                                    "emulator/include"};
  if (path.starts_with("emulator/") || path.starts_with("cli/")) bases.emplace_back("emulator");
  if (path.starts_with("emulator/"))
    for (const char* each : {"emulator/src", "emulator/include/device"}) bases.emplace_back(each);
  return bases;
}

}  // namespace

Includes read_includes(const std::string& root, const std::vector<std::string>& folders) {
  const std::set<std::string> kinds = {".c", ".h", ".cpp", ".hpp", ".cu", ".cuh"};
  Includes includes;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(root) / folder))
      if (entry.is_regular_file() && kinds.contains(entry.path().extension().string()))
        includes[fs::relative(entry.path(), root).generic_string()];
  const std::regex line(R"re(\s*#\s*include\s*[<"]([^>"]+)[>"].*)re");
  for (auto& [path, of_file] : includes) {
    std::ifstream file(fs::path(root) / path);
    std::smatch match;
    for (std::string text; std::getline(file, text);) {
      // Other lines, which may be long, are not for a regular expression.
      if (text.find("include") == std::string::npos || text.size() > 200) continue;
      if (!std::regex_match(text, match, line)) continue;
      const std::string name = match[1];
      for (const std::string& base : bases_of(path)) {
        const std::string candidate = (fs::path(base) / name).lexically_normal().generic_string();
        if (!includes.contains(candidate)) continue;
        of_file.insert(candidate);
        break;
      }
    }
  }
  return includes;
}

std::vector<std::string> wrong_includes(const Includes& includes) {
  std::vector<std::string> wrong;
  for (const auto& [from, list] : includes)
    for (const std::string& to : list)
      if (!may_include(from, to)) wrong.push_back(from + " includes " + to);
  return wrong;
}

std::vector<std::string> circles(const Includes& includes) {
  std::vector<std::string> found, way;
  std::map<std::string, bool> finished;
  const std::function<void(const std::string&)> follow = [&](const std::string& file) {
    finished[file] = false;
    way.push_back(file);
    const auto of_file = includes.find(file);
    if (of_file != includes.end())
      for (const std::string& next : of_file->second) {
        if (next == file) continue;
        const auto seen = finished.find(next);
        if (seen == finished.end()) {
          follow(next);
        } else if (!seen->second) {
          std::string text;
          for (auto at = std::find(way.begin(), way.end(), next); at != way.end(); ++at)
            text += *at + " includes ";
          found.push_back(text + next);
        }
      }
    way.pop_back();
    finished[file] = true;
  };
  for (const auto& [file, list] : includes)
    if (!finished.contains(file)) follow(file);
  return found;
}

}  // namespace isomer::house
