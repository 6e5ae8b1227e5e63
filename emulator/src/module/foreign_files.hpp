// Which files a source reads that are neither the system's nor its own.
#pragma once

#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "module/compiler.hpp"

namespace isomer::emulator {

// Neither of the system, nor beside the source, nor in a folder that was named: another's answer, or what the
// machine keeps. A library has thousands of headers in a few folders: each folder is looked up once.
class ForeignFiles {
 public:
  ForeignFiles(const std::filesystem::path& source, const BuildOptions& options,
               const std::filesystem::path& compiler);
  bool operator()(const std::filesystem::path& file);

 private:
  bool is_foreign(const std::filesystem::path& real) const;

  std::vector<std::filesystem::path> folders_;
  std::unordered_map<std::string, bool> of_folder_;  // whether what lies in it is foreign
};

}  // namespace isomer::emulator
