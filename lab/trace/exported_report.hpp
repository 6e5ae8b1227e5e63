#pragma once

#include <filesystem>

namespace isomer::lab {

/// A report of Nsight Systems or Nsight Compute as these programs themselves export it, in a folder that goes
/// with the object. Throws Error io with the command to run where the program is not on the path.
class ExportedReport {
 public:
  ExportedReport(const std::filesystem::path& report, bool nsys);
  ~ExportedReport();
  ExportedReport(const ExportedReport&) = delete;
  ExportedReport& operator=(const ExportedReport&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace isomer::lab
