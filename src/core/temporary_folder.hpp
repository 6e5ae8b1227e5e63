#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace isomer::core {

/// An empty folder in `in`, or where TMPDIR says, removed with everything in it by the process that made it.
class TemporaryFolder {
 public:
  /// Throws Error io, in a sentence that begins with `who`, where none can be made.
  TemporaryFolder(std::string_view who, std::string_view name, const std::filesystem::path& in = {});
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  pid_t maker_;
};

}  // namespace isomer::core
