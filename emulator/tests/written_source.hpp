// A source file written for one test, in a directory that goes when the test ends.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace isomer::emulator::tests {

class WrittenSource {
 public:
  explicit WrittenSource(const std::string& text, const std::string& name = "kernel.cu") {
    std::string pattern = (std::filesystem::temp_directory_path() / "isomer-emulator-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ / name;
    std::ofstream(path_) << text;
  }
  ~WrittenSource() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  WrittenSource(const WrittenSource&) = delete;
  WrittenSource& operator=(const WrittenSource&) = delete;
  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_, path_;
};

}  // namespace isomer::emulator::tests
