#include "lab/candidate/folder.hpp"

#include "lab/candidate/case_file.hpp"

#include <isomer/error.hpp>

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

#include <fmt/format.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;
constexpr int kDepth = 6;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

// initial, call_fix, exec, then by name.
int rank_of(const fs::path& candidate) {
  const std::string name = candidate.filename().string();
  if (name.rfind("2_initial", 0) == 0) return 0;
  if (name.find("call") != std::string::npos) return 1;
  if (name.find("exe") != std::string::npos) return 2;
  return 3;
}

bool is_candidate_name(const std::string& name) {
  return name.rfind("candidate", 0) == 0 || name.rfind("2_initial", 0) == 0 ||
         name.rfind("call_candidate", 0) == 0 || name.rfind("exe_candidate", 0) == 0;
}

struct Content {
  std::vector<fs::path> files, folders;
};

Content content_of(const fs::path& folder) {
  std::error_code failed;
  Content content;
  for (fs::directory_iterator it(folder, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code broken;  // a link that leads nowhere is neither
    const std::string name = it->path().filename().string();
    if (name.front() == '.' || name == "__pycache__") continue;
    if (it->is_directory(broken)) content.folders.push_back(it->path());
    if (it->is_regular_file(broken)) content.files.push_back(it->path());
  }
  if (failed)
    throw Error(ErrorCode::io, fmt::format("{}: cannot be read: {}", folder.string(), failed.message()));
  std::sort(content.files.begin(), content.files.end());
  std::sort(content.folders.begin(), content.folders.end());
  return content;
}

// Whoever judges may read more than whoever wrote the folder: what a link leads to would stand in a report.
bool is_link_to_secrets(const fs::path& file) {
  std::error_code failed;
  if (!fs::is_symlink(file, failed)) return false;
  const fs::path real = fs::canonical(file, failed), folder = fs::canonical(file.parent_path(), failed);
  const fs::path inside = real.lexically_relative(folder);
  if (failed || (!inside.empty() && *inside.begin() != "..")) return false;
  return (fs::status(real, failed).permissions() & fs::perms::others_read) == fs::perms::none;
}

// What the files of one folder are by their names, and by its case.toml.
CaseFolder read_files(const fs::path& folder, const std::vector<fs::path>& files) {
  CaseFolder found;
  found.folder = folder;
  const fs::path* said = nullptr;
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    if (is_link_to_secrets(file))
      throw Error(
          ErrorCode::io,
          fmt::format("{}: a link that leads out of its folder, to a file that not everybody may read",
                      file.string()));
    if (name == "0_instruction.txt") {
      found.instruction = file;
    } else if (name == "1_label_source.py") {
      found.label = file;
    } else if (name == "3_test_code.py") {
      found.test = file;
    } else if (name == "case.toml") {
      said = &file;
    } else if (name.rfind("recording", 0) == 0 && ends_with(name, ".safetensors")) {
      if (found.recording.empty()) found.recording = file;
    } else if (is_candidate_name(name) && is_candidate_file(file)) {
      found.candidates.push_back(file);
    }
  }
  std::stable_sort(found.candidates.begin(), found.candidates.end(),
                   [](const fs::path& a, const fs::path& b) { return rank_of(a) < rank_of(b); });
  if (said) read_case_file(*said, found);
  return found;
}

bool looks_like_case(const std::vector<fs::path>& files) {
  return std::any_of(files.begin(), files.end(), [](const fs::path& file) {
    const std::string name = file.filename().string();
    return name == "0_instruction.txt" || name == "1_label_source.py" || name == "3_test_code.py" ||
           name == "case.toml" || (is_candidate_name(name) && is_candidate_file(file));
  });
}

void collect(const fs::path& folder, int depth, std::set<fs::path>& seen, std::vector<CaseFolder>& all) {
  std::error_code failed;
  const fs::path real = fs::canonical(folder, failed);
  if (failed || !seen.insert(real).second) return;  // a link back to where we were
  CaseFolder broken;
  broken.folder = folder;
  try {
    const Content content = content_of(folder);
    if (looks_like_case(content.files)) {
      CaseFolder found = read_files(folder, content.files);
      if (found.candidates.empty()) {
        found.error = fmt::format(
            "{}: no candidate in this folder, expected 2_initial_predict.hip.cpp or candidate*.hip.cpp, .cu, "
            ".cpp or .so",
            folder.string());
      }
      all.push_back(std::move(found));
      return;
    }
    if (depth == 0) return;
    for (const fs::path& inner : content.folders) collect(inner, depth - 1, seen, all);
    return;
  } catch (const Error& e) {
    broken.error = e.what();
  }
  all.push_back(std::move(broken));
}

CaseFolder single_file(const fs::path& file) {
  if (!is_candidate_file(file)) {
    throw Error(ErrorCode::bad_argument,
                fmt::format("{}: no candidate, expected a .hip.cpp, .hip, .cu, .cpp, .cc, .cxx or .so file",
                            file.string()));
  }
  // Of a case folder the rest of the case counts as well: its test, its instruction, its recording.
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  CaseFolder found;
  try {
    const Content content = content_of(folder);
    if (looks_like_case(content.files)) found = read_files(folder, content.files);
  } catch (const Error& e) {
    if (e.code() != ErrorCode::io) throw;  // a file may be readable where its folder is not
  }
  found.folder = folder;
  found.candidates = {file};
  return found;
}

}  // namespace

bool is_candidate_file(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const char* suffix : {".cpp", ".cu", ".hip", ".cc", ".cxx", ".so"}) {
    if (ends_with(name, suffix)) return true;
  }
  return false;
}

std::vector<CaseFolder> find_cases(const fs::path& path) {
  std::error_code failed;
  const fs::file_status status = fs::status(path, failed);
  if (status.type() == fs::file_type::not_found) {
    const bool link = fs::is_symlink(fs::symlink_status(path, failed));
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("{}: {}", path.string(), link ? "a link that leads nowhere" : "no such file or folder"));
  }
  if (status.type() == fs::file_type::none || status.type() == fs::file_type::unknown)
    throw Error(ErrorCode::io, fmt::format("{}: cannot be read: {}", path.string(), failed.message()));
  if (fs::is_regular_file(status)) return {single_file(path)};
  if (!fs::is_directory(status))
    throw Error(ErrorCode::bad_argument, fmt::format("{}: neither a file nor a folder", path.string()));

  std::vector<CaseFolder> all;
  std::set<fs::path> seen;
  collect(path, kDepth, seen, all);
  if (all.empty()) {
    throw Error(
        ErrorCode::bad_argument,
        fmt::format("{}: no case in this folder, expected 2_initial_predict.hip.cpp or a candidate*.hip.cpp, "
                    ".cu, .cpp or .so, here or in folders below",
                    path.string()));
  }
  if (all.size() == 1 && !all[0].error.empty()) throw Error(ErrorCode::bad_argument, all[0].error);
  return all;
}

}  // namespace isomer::lab
