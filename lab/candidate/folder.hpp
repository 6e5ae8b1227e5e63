#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::lab {

/// A case folder as porting pipelines leave them, or a single file. What case.toml says wins over the names.
struct CaseFolder {
  std::filesystem::path folder;
  std::filesystem::path instruction, label, test;  ///< empty where absent
  std::vector<std::filesystem::path> candidates;   ///< in the order initial, call_fix, exec, then by name
  std::filesystem::path recording;                 ///< *.safetensors that a recorder left
  std::string op, entry;                           ///< asked for by case.toml or the user; empty: found out
  double rtol = 0, atol = 0;                       ///< of case.toml; 0: the op's
  std::string author,
      task;  ///< of case.toml, for totals: who wrote the candidates, and what they are answers to
  /// Of case.toml: the C declaration of a prebuilt library's function, and how its sources compile.
  std::string signature;
  std::vector<std::string> include_directories, definitions;
  bool every_edit = false;  ///< edits of the source are looked for beside a cause that is known
  /// One sentence: why this folder of several cannot be checked, while the others can. Empty otherwise.
  std::string error;
};

/// A file, a case folder, or a folder of case folders (any depth up to 6; links are followed once). Throws
/// Error, one sentence, for a path that holds none: bad_argument, or io where it cannot be read.
std::vector<CaseFolder> find_cases(const std::filesystem::path& path);

/// ".cu", ".hip", ".hip.cpp", ".cpp", ".cc", ".cxx" or ".so".
bool is_candidate_file(const std::filesystem::path& path);

}  // namespace isomer::lab
