#pragma once

#include <string>

namespace isomer::cli {

/// A file that a verb writes when its work is done. That it can be written is known before the work begins.
class ReportFile {
 public:
  /// An empty path asks for no file. Throws Error io where the file cannot be opened.
  ReportFile(const char* verb, std::string path);
  /// Leaves no empty file behind where nothing came to be written.
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  bool asked() const { return !path_.empty(); }
  /// Throws Error io where the text does not get into the file.
  void write(const std::string& text);

 private:
  [[noreturn]] void cannot_write() const;

  const char* verb_;
  std::string path_;
  bool made_ = false;
};

}  // namespace isomer::cli
