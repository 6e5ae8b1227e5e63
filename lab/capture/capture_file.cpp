#include "lab/capture/capture_file.hpp"

#include "core/sentence.hpp"
#include "lab/capture/capture_stream.hpp"
#include "lab/capture/launch_json.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>

namespace isomer::lab {
namespace {

using nlohmann::ordered_json;

std::string line_text(const ordered_json& line) {
  return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace

CaptureWriter::CaptureWriter(const std::string& path, const Capture& header)
    : path_(path), file_(std::fopen(path.c_str(), "we")) {
  if (file_ == nullptr)
    core::fail(ErrorCode::io, "trace: cannot write '", path_, "': ", std::strerror(errno));
  ordered_json first;
  first["isomer_trace"] = 1;
  first["tool"] = "isomer";
  first["command"] = header.command;
  first["facts"] = header.facts;
  line(line_text(first));
}

CaptureWriter::~CaptureWriter() {
  if (file_ != nullptr) std::fclose(file_);
}

void CaptureWriter::line(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), file_);
  std::fputc('\n', file_);
}

void CaptureWriter::add(const Launch& launch) {
  ordered_json kernel = kernel_json(launch);
  const auto [entry, is_new] = kernels_.emplace(line_text(kernel), kernels_.size() + 1);
  if (is_new) {
    kernel["kernel"] = entry->second;
    line(line_text(kernel));
  }
  ordered_json own = launch_json(launch);
  own["kernel"] = entry->second;
  line(line_text(own));
  ++launches_;
}

void CaptureWriter::fact(const std::string& name, const std::string& value) {
  line(line_text({{"fact", 0}, {"name", name}, {"is", value}}));
}

void CaptureWriter::note(const std::string& sentence) { line(line_text({{"note", sentence}})); }

void CaptureWriter::end(std::uint64_t dropped) {
  line(line_text({{"end", {{"launches", launches_}, {"dropped", dropped}}}}));
  const bool written = std::fflush(file_) == 0 && std::ferror(file_) == 0;
  const int why = errno;
  std::fclose(file_);
  file_ = nullptr;
  if (!written) core::fail(ErrorCode::io, "trace: cannot write '", path_, "': ", std::strerror(why));
}

Capture read_capture_file(std::istream& in, const std::string& source, const LaunchSink& sink,
                          std::uint64_t origin_ns) {
  CaptureStream stream(in, source, origin_ns);
  for (Launch launch; stream.next(launch);) sink(std::move(launch));
  return stream.about();
}

}  // namespace isomer::lab
