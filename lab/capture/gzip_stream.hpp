#pragma once

#include <istream>
#include <memory>
#include <streambuf>
#include <string>

namespace isomer::lab {

/// Reads a stream that may be gzip, as plain bytes. Nothing is held but two buffers.
class GzipStream : public std::istream {
 public:
  explicit GzipStream(std::istream& in);
  ~GzipStream() override;
  /// Why the text ends before its end; empty where it does not.
  const std::string& damage() const;

 private:
  class Buffer;
  std::unique_ptr<Buffer> buffer_;
};

}  // namespace isomer::lab
