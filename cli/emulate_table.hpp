// Every program of a folder, one row each: whether it builds, how it ends, what is found, how fast it is.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "cli/makefile.hpp"
#include "isomer/emulator/module.hpp"

namespace isomer::cli {

/// One program under several schedules: its own order first, then the opposite one, then those of seeds. What
/// each finds is told once; the rest is that of the first.
emulator::RunResult run_under_schedules(const emulator::Module& module, const std::vector<std::string>& words,
                                        emulator::RunOptions options, unsigned schedules);

struct Program {
  std::filesystem::path folder;
  std::vector<std::filesystem::path> sources;
  Makefile made;  ///< what its Makefile says of it
};
/// What a folder's Makefile names, where it has one main; else each source that has a main, alone where there
/// are several, with the others beside it where it is the only one.
std::vector<Program> programs_of(const std::filesystem::path& folder);

/// Prints the table and gives the exit code.
int emulate_table(const std::filesystem::path& folder, const emulator::BuildOptions& build,
                  const emulator::RunOptions& run, unsigned schedules, bool json);

}  // namespace isomer::cli
