#pragma once

#include "lab/capture/joiner.hpp"

#include <cstdio>
#include <map>
#include <string>

namespace isomer::lab {

/// Writes launches, one by one, for other tools. Throws Error io where the file cannot be written.
class LaunchExport {
 public:
  /// Makes the file.
  explicit LaunchExport(const std::string& path);
  virtual ~LaunchExport();
  LaunchExport(const LaunchExport&) = delete;
  LaunchExport& operator=(const LaunchExport&) = delete;
  virtual void add(const Launch& launch) = 0;
  void end();

 protected:
  void text(const std::string& text);
  virtual void last() {}

 private:
  std::string path_;
  std::FILE* file_;
};

/// Chrome's trace format, which Perfetto, chrome://tracing and the readers of PyTorch's traces open: one
/// slice a launch, by device and stream, with the argument names of Kineto. Launches without a time lie one
/// microsecond apart.
class PerfettoExport : public LaunchExport {
 public:
  explicit PerfettoExport(const std::string& path);
  void add(const Launch& launch) override;

 private:
  void last() override;
  bool first_ = true;
  double untimed_ = 0;
};

/// One row a launch under a row of column names; times in ns.
class CsvExport : public LaunchExport {
 public:
  explicit CsvExport(const std::string& path);
  void add(const Launch& launch) override;
};

}  // namespace isomer::lab
