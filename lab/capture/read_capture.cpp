#include "lab/capture/read_capture.hpp"

#include "core/sentence.hpp"
#include "lab/capture/capture_file.hpp"
#include "lab/capture/exported_report.hpp"
#include "lab/capture/gzip_stream.hpp"
#include "lab/capture/readers.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

std::ifstream open(const fs::path& path) {
  std::error_code none;
  if (fs::is_directory(path, none))
    core::fail(ErrorCode::io, "diff: '", path.string(), "' is a folder, expected a file");
  // It is read twice: what it is, and then what it holds.
  if (fs::exists(path, none) && !fs::is_regular_file(path, none))
    core::fail(ErrorCode::io, "diff: '", path.string(), "' is a device or a pipe, expected a file");
  std::ifstream file(path, std::ios::binary);
  if (!file) core::fail(ErrorCode::io, "diff: cannot read '", path.string(), "': ", std::strerror(errno));
  return file;
}

bool begins(std::string_view text, std::string_view with) { return text.starts_with(with); }

std::string_view without_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  return first == std::string_view::npos ? std::string_view{} : text.substr(first);
}

/// A header's length in 8 bytes, then a JSON object.
bool is_safetensors(std::string_view head, std::uintmax_t size) {
  if (head.size() < 10 || head[8] != '{') return false;
  std::uint64_t length = 0;
  std::memcpy(&length, head.data(), sizeof length);
  return length >= 2 && length <= size - 8;
}

bool is_explain(std::string_view text) {
  return text.find("\"launches\"") != std::string_view::npos ||
         (text.find("\"op\"") != std::string_view::npos && text.find("\"case\"") != std::string_view::npos);
}

bool is_ncu_csv(std::string_view head) {
  return head.find("\"Kernel Name\"") != std::string_view::npos ||
         (head.find("Kernel Name") != std::string_view::npos && head.find("ID,") != std::string_view::npos);
}

/// A CSV of rocprofv3: any of its tables, so that one without launches gets a sentence of its own.
bool is_rocprof_csv(std::string_view head) {
  std::string first(head.substr(0, head.find('\n')));
  std::transform(first.begin(), first.end(), first.begin(), [](unsigned char c) { return std::tolower(c); });
  return first.find("\"dispatch_id\"") != std::string::npos ||
         first.find("\"correlation_id\"") != std::string::npos ||
         first.find("\"totaldurationns\"") != std::string::npos;
}

/// PTX begins with its version, behind comments.
bool is_ptx(std::string_view text) {
  while (text.starts_with("//")) text = without_space(text.substr(std::min(text.find('\n'), text.size())));
  return text.starts_with(".version") && text.find(".target") != std::string_view::npos;
}

constexpr std::string_view kRocprof = "\"rocprofiler-sdk-tool\"";

constexpr std::string_view kGzip = "\x1F\x8B";

/// The beginning of what a gzip file unpacks to.
std::string unpacked_head(const fs::path& path) {
  std::ifstream file = open(path);
  GzipStream text(file);
  std::string head(4096, '\0');
  text.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(text.gcount(), 0)));
  return head;
}

}  // namespace

FileKind kind_of_file(const fs::path& path) {
  std::ifstream file = open(path);
  constexpr std::size_t kHead = 1 << 16;
  std::string head(kHead, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  const std::string extension = path.extension().string();
  if (extension == ".nsys-rep" || extension == ".qdrep") return FileKind::nsys_report;
  if (extension == ".ncu-rep") return FileKind::ncu_report;
  if (head.empty()) core::fail(ErrorCode::io, "diff: '", path.string(), "' is empty");
  if (begins(head, "SQLite format 3"))
    return is_rocpd(path.string()) ? FileKind::rocpd : FileKind::nsys_sqlite;
  if (begins(head, kGzip)) {
    const std::string inside = unpacked_head(path);
    if (begins(inside, kGzip))
      core::fail(ErrorCode::io, "diff: '", path.string(), "' is gzip inside of gzip: unpack it once");
    const std::string_view text = without_space(inside);
    if (!inside.empty() && !begins(text, "{") && !begins(text, "["))
      core::fail(ErrorCode::io, "diff: '", path.string(),
                 "' is gzip, and what it unpacks to is not JSON: expected a Kineto or Chrome trace");
    return text.substr(0, 100).find(kRocprof) != std::string_view::npos ? FileKind::rocprof_json
                                                                        : FileKind::kineto;
  }
  if (begins(head,
             "\x7F"
             "ELF") ||
      begins(head, "\x50\xED\x55\xBA") || begins(head, "__CLANG_OFFLOAD_BUNDLE__") || begins(head, "CCOB"))
    return FileKind::binary;
  if (is_safetensors(head, fs::file_size(path))) return FileKind::tensors;
  const std::string_view text = without_space(head);
  if (begins(text, "{")) {
    const std::string_view first_line = text.substr(0, text.find('\n'));
    if (text.substr(0, 100).find(kRocprof) != std::string_view::npos) return FileKind::rocprof_json;
    if (first_line.find("\"isomer_trace\"") != std::string_view::npos) return FileKind::capture;
    return text.find("\"traceEvents\"") == std::string_view::npos && is_explain(text) ? FileKind::explain
                                                                                      : FileKind::kineto;
  }
  if (begins(text, "[")) return FileKind::kineto;
  if (is_ptx(text)) return FileKind::binary;
  if (is_ncu_csv(head)) return FileKind::ncu_csv;
  if (is_rocprof_csv(text)) return FileKind::rocprof_csv;
  core::fail(ErrorCode::io, "diff: '", path.string(),
             "' has an unknown format, expected a capture of isomer trace, an Nsight Systems SQLite export, "
             "a Kineto or Chrome trace, a CSV of ncu, a JSON, CSV or database of rocprofv3, output of isomer "
             "explain --json, a safetensors file, "
             "or a binary with GPU kernels");
}

Capture read_capture(const fs::path& path, const LaunchSink& sink) {
  const FileKind kind = kind_of_file(path);
  const std::string source = path.string();
  std::ifstream file = open(path);
  switch (kind) {
    case FileKind::capture:
      return read_capture_file(file, source, sink);
    case FileKind::nsys_sqlite:
      return read_nsys_sqlite(source, sink);
    case FileKind::kineto:
      return read_kineto(file, source, sink);
    case FileKind::ncu_csv:
      return read_ncu_csv(file, source, sink);
    case FileKind::rocprof_json:
      return read_rocprof_json(file, source, sink);
    case FileKind::rocprof_csv:
      return read_rocprof_csv(file, source, sink);
    case FileKind::rocpd:
      return read_rocpd(source, sink);
    case FileKind::explain:
      return read_explain(file, source, sink);
    case FileKind::nsys_report:
    case FileKind::ncu_report: {
      const ExportedReport exported(path, kind == FileKind::nsys_report);
      Capture capture = read_capture(exported.path(), sink);
      capture.source = source;
      return capture;
    }
    case FileKind::tensors:
      core::fail(ErrorCode::io, "diff: '", source, "' holds tensors, expected a record of launches");
    case FileKind::binary:
      core::fail(ErrorCode::io, "diff: '", source, "' is a binary, expected a record of launches");
  }
  core::fail(ErrorCode::internal, "diff: a kind of file without a reader");
}

}  // namespace isomer::lab
