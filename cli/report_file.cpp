#include "cli/report_file.hpp"

#include "core/sentence.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace isomer::cli {

ReportFile::ReportFile(const char* verb, std::string path) : verb_(verb), path_(std::move(path)) {
  if (path_.empty()) return;
  std::error_code none;
  const bool there = std::filesystem::exists(path_, none);
  if (!std::ofstream(path_, std::ios::app)) cannot_write();
  made_ = !there;
}

ReportFile::~ReportFile() {
  std::error_code none;
  if (made_) std::filesystem::remove(path_, none);
}

void ReportFile::write(const std::string& text) {
  std::ofstream file(path_);
  file << text;
  if (!file.flush()) cannot_write();
  made_ = false;
}

void ReportFile::cannot_write() const {
  core::fail(ErrorCode::io, verb_, ": cannot write '", path_, "': ", std::strerror(errno));
}

}  // namespace isomer::cli
