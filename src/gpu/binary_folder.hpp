#pragma once

#include "gpu/binary.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace isomer::gpu {

/// A folder of compiled programs, one file each: the cache, or a bundle. Any number of processes may read and
/// write one at once. A file is written under another name and renamed when it is whole; one that is
/// truncated, damaged or foreign is taken for absent, and removed where that is allowed.
class BinaryFolder {
 public:
  explicit BinaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

  /// Absent where there is no whole entry of that key.
  std::optional<Binary> find(const std::string& key) const;
  /// An empty string, or one sentence that says why it could not be kept.
  std::string store(const Binary& binary, const Program& program, const std::string& architecture) const;
  /// Why nothing can be stored there, as far as that is seen without writing: "Permission denied"; empty
  /// where it can. A folder that is not there yet is judged by the one that it would be made in.
  std::string closed() const;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::string write(const Binary& binary, const Program& program, const std::string& architecture) const;
  std::filesystem::path file_of(const std::string& key) const;
  std::filesystem::path path_;
};

/// ISOMER_CACHE, else XDG_CACHE_HOME/isomer/kernels, else ~/.cache/isomer/kernels; absent where none of them
/// can be named.
std::optional<BinaryFolder> cache_folder();
/// ISOMER_BUNDLE, where it is set.
std::optional<BinaryFolder> bundle_folder();
/// The bundle that was installed with the library or the program that this code is in: share/isomer/kernels
/// of the installed tree, or of the command line inside of the Python package. Looked for once.
std::optional<BinaryFolder> installed_bundle();

}  // namespace isomer::gpu
