// Findings that a project knows and accepts, read from a file: one to a line, `#` begins a comment.
//
//   race                                    # every race
//   benign-race kernel=bfs                  # of this kernel, whatever its template arguments
//   uninitialised-read file=src/scan.cu:120 # at this line of a file whose path ends so
//   * file=third_party/                     # every finding in a folder of that name
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator {

struct Suppression {
  std::string kind;        ///< "*": any
  std::string kernel;      ///< empty: any
  std::string file;        ///< end of a path, or a folder with its slash; empty: any
  std::uint32_t line = 0;  ///< 0: any
};

/// Throws Error that names the line that is none.
ISOMER_EMULATOR_EXPORT std::vector<Suppression> read_suppressions(const std::filesystem::path& file);
/// Takes the findings that one of them covers out of the result, and says how many those were. A finding of
/// two places is covered by either.
ISOMER_EMULATOR_EXPORT std::size_t suppress(RunResult& result, const std::vector<Suppression>& known);

}  // namespace isomer::emulator
