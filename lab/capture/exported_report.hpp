#pragma once

#include "core/temporary_folder.hpp"

#include <filesystem>

namespace isomer::lab {

/// A report of Nsight Systems or Nsight Compute as these programs themselves export it, in a folder that goes
/// with the object. Throws Error io with the command to run where the program is not on the path.
class ExportedReport {
 public:
  ExportedReport(const std::filesystem::path& report, bool nsys);
  const std::filesystem::path& path() const { return path_; }

 private:
  core::TemporaryFolder folder_;
  std::filesystem::path path_;
};

}  // namespace isomer::lab
