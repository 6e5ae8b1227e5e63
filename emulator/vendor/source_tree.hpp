#pragma once

#include <filesystem>
#include <optional>

#include "core/temporary_folder.hpp"

namespace isomer::emulator {

/// The embedded device sources as files, for the host's compiler. They lie in the cache folder under a name
/// made of what they are, because the cache of compiled modules knows sources by their places; where that
/// folder cannot be written, in a temporary one of this process.
class SourceTree {
 public:
  /// Throws Error io where the files can be written nowhere.
  SourceTree();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::optional<core::TemporaryFolder> temporary_;
};

}  // namespace isomer::emulator
