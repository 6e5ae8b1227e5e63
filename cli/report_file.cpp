#include "cli/report_file.hpp"

#include "core/sentence.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <cerrno>
#include <cstdio>
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

// Beside it and then in its place: whoever reads it finds the old text or the whole new one.
void ReportFile::write(const std::string& text) {
  std::error_code none;
  if (!std::filesystem::is_regular_file(path_, none)) {  // a pipe or a device has no place to take
    std::ofstream file(path_);
    file << text;
    if (!file.flush()) cannot_write();
    return;
  }
  const std::filesystem::path place = std::filesystem::canonical(path_, none);  // not a link to it
  const std::string beside = fmt::format("{}.part{}", place.string(), getpid());
  std::ofstream file(beside);
  const auto permissions = std::filesystem::status(place, none).permissions();
  file << text;
  file.close();
  if (!file || std::rename(beside.c_str(), place.c_str()) != 0) {
    const int why = errno;
    std::filesystem::remove(beside, none);
    errno = why;
    cannot_write();
  }
  std::filesystem::permissions(place, permissions, none);
  made_ = false;
}

void ReportFile::cannot_write() const {
  core::fail(ErrorCode::io, verb_, ": cannot write '", path_, "': ", std::strerror(errno));
}

}  // namespace isomer::cli
