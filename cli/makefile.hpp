// What a Makefile says of the program beside it, as far as its text shows it: nothing of it is run.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace isomer::cli {

struct Makefile {
  std::vector<std::filesystem::path> sources;  ///< those that it names and that are there
  std::vector<std::string> definitions;        ///< without -D
  std::vector<std::string> folders;            ///< of headers, that are there
  std::string standard;                        ///< c++14; empty: not named
  std::vector<std::string> words;              ///< behind the program, where a line runs it
};

Makefile read_makefile(const std::filesystem::path& folder);

}  // namespace isomer::cli
