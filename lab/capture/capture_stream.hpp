#pragma once

#include "lab/capture/capture.hpp"

#include <cstdint>
#include <istream>
#include <memory>
#include <string>

namespace isomer::lab {

/// The launches of a capture file (capture_file.hpp) one after the other, so that several files can be read
/// side by side. Holds what a Joiner holds, one line, and each distinct kernel. A line that is none ends the
/// reading: what came before it stands, and the capture is incomplete.
class CaptureStream {
 public:
  /// Reads the first line. Starts are taken from `origin_ns` on. Throws Error io where it is no such file's.
  CaptureStream(std::istream& in, const std::string& source, std::uint64_t origin_ns = 0);
  ~CaptureStream();
  CaptureStream(const CaptureStream&) = delete;
  CaptureStream& operator=(const CaptureStream&) = delete;

  /// False at the end.
  bool next(Launch& launch);
  /// Everything but the launches, once they are over.
  Capture about();

 private:
  class Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace isomer::lab
