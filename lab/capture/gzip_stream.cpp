#include "lab/capture/gzip_stream.hpp"

#ifdef ISOMER_HAS_ZLIB
#include <zlib.h>
#endif

#include <cstring>
#include <vector>

namespace isomer::lab {

#ifdef ISOMER_HAS_ZLIB
class GzipStream::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::istream& in) : in_(in), raw_(kBytes), plain_(kBytes) {
    fill();
    constexpr unsigned char kMagic[] = {0x1F, 0x8B};
    gzip_ = stream_.avail_in >= 2 && std::memcmp(stream_.next_in, kMagic, 2) == 0;
    constexpr int kGzipOnly = 15 + 16;
    if (gzip_ && inflateInit2(&stream_, kGzipOnly) != Z_OK) damage_ = "there is no memory to decompress it";
  }
  ~Buffer() override {
    if (gzip_) inflateEnd(&stream_);
  }
  std::string damage_;

 private:
  static constexpr std::size_t kBytes = 1 << 16;

  void fill() {
    in_.read(raw_.data(), static_cast<std::streamsize>(raw_.size()));
    stream_.next_in = reinterpret_cast<Bytef*>(raw_.data());
    stream_.avail_in = static_cast<uInt>(in_.gcount());
  }

  int_type underflow() override {
    if (!damage_.empty()) return traits_type::eof();
    if (stream_.avail_in == 0) fill();
    if (!gzip_) {
      char* begin = reinterpret_cast<char*>(stream_.next_in);
      setg(begin, begin, begin + stream_.avail_in);
      stream_.avail_in = 0;
      return gptr() == egptr() ? traits_type::eof() : traits_type::to_int_type(*gptr());
    }
    stream_.next_out = reinterpret_cast<Bytef*>(plain_.data());
    stream_.avail_out = kBytes;
    while (stream_.avail_out == kBytes) {
      if (stream_.avail_in == 0) fill();
      if (stream_.avail_in == 0) {
        if (!at_end_) damage_ = "its gzip stream ends early";
        return traits_type::eof();
      }
      // Several members may follow one another.
      if (at_end_ && inflateReset(&stream_) != Z_OK) return traits_type::eof();
      const int result = inflate(&stream_, Z_NO_FLUSH);
      at_end_ = result == Z_STREAM_END;
      if (result != Z_OK && result != Z_STREAM_END) {
        damage_ = "its gzip stream is damaged";
        if (stream_.avail_out == kBytes) return traits_type::eof();
        break;
      }
    }
    setg(plain_.data(), plain_.data(), plain_.data() + (kBytes - stream_.avail_out));
    return traits_type::to_int_type(*gptr());
  }

  std::istream& in_;
  std::vector<char> raw_, plain_;
  z_stream stream_{};
  bool gzip_ = false, at_end_ = false;
};
#else
/// A build with no zlib: plain text goes through, and gzip is damage.
class GzipStream::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::istream& in) : in_(in), plain_(1 << 16) {
    if (in_.peek() == 0x1F) damage_ = "it is gzip, and this build has no zlib";
  }
  std::string damage_;

 private:
  int_type underflow() override {
    if (!damage_.empty()) return traits_type::eof();
    in_.read(plain_.data(), static_cast<std::streamsize>(plain_.size()));
    setg(plain_.data(), plain_.data(), plain_.data() + in_.gcount());
    return in_.gcount() == 0 ? traits_type::eof() : traits_type::to_int_type(*gptr());
  }

  std::istream& in_;
  std::vector<char> plain_;
};
#endif

GzipStream::GzipStream(std::istream& in) : std::istream(nullptr), buffer_(std::make_unique<Buffer>(in)) {
  rdbuf(buffer_.get());
}

GzipStream::~GzipStream() = default;

const std::string& GzipStream::damage() const { return buffer_->damage_; }

}  // namespace isomer::lab
