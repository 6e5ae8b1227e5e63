#pragma once

#include "lab/diff/difference.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// How one source was compiled: the options that may change its machine code, under nvcc's long names. Paths,
/// warnings and the host compiler's own options are left out.
struct CompiledUnit {
  std::string source;    ///< as the command names it
  std::string compiler;  ///< "nvcc", "hipcc"
  std::map<std::string, std::string> options;
};

/// compile_commands.json, or the output of a verbose make or ninja: the commands of nvcc and hipcc in it.
/// Throws Error io for a file that holds none.
std::vector<CompiledUnit> read_build_log(const std::filesystem::path& path);
std::vector<CompiledUnit> parse_build_log(std::string_view text, const std::string& what);

/// The options of one command line: {"--maxrregcount": "32", "--use_fast_math": "on", "-DNDEBUG": "on"}.
std::map<std::string, std::string> compiler_options(const std::vector<std::string>& words);
/// A command line as the shell splits it.
std::vector<std::string> shell_words(std::string_view line);

/// What differs, as "option --use_fast_math". Where sources of one name are on both sides they are compared
/// with each other; an option that differs for some only says for which.
std::vector<Difference> option_differences(const std::vector<CompiledUnit>& a,
                                           const std::vector<CompiledUnit>& b);

}  // namespace isomer::lab
