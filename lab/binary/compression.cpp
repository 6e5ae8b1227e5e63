#include "lab/binary/compression.hpp"

#ifdef ISOMER_HAS_DECOMPRESSION
#include <lz4.h>
#include <zstd.h>
#endif
#ifdef ISOMER_HAS_ZLIB
#include <zlib.h>
#endif

namespace isomer::lab {
namespace {

/// More than any compiler's output shrinks to, and less than a damaged header could ask for.
void check_size(const Bytes& bytes, std::uint64_t declared) {
  const std::uint64_t limit = std::max<std::uint64_t>(std::uint64_t{16} << 20, bytes.size() * 255);
  if (declared == 0 || declared > limit)
    core::fail(ErrorCode::io, bytes.what(), ": an image of ", bytes.size(), " bytes says that it unpacks to ",
               declared);
}

#ifdef ISOMER_HAS_DECOMPRESSION
std::string unpack_lz4(const Bytes& bytes, std::uint64_t size) {
  std::string text(size, '\0');
  if (bytes.size() > LZ4_MAX_INPUT_SIZE || size > LZ4_MAX_INPUT_SIZE)
    core::fail(ErrorCode::io, bytes.what(), ": an image of ", size, " bytes is too large for LZ4");
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()), text.data(),
                                      static_cast<int>(bytes.size()), static_cast<int>(size));
  if (got < 0) core::fail(ErrorCode::io, bytes.what(), ": an image's LZ4 data is damaged");
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::string unpack_zstd(const Bytes& bytes, std::uint64_t size, std::uint64_t& used) {
  std::string text(size, '\0');
  const std::size_t frame = ZSTD_findFrameCompressedSize(bytes.data(), bytes.size());
  const std::size_t got =
      ZSTD_isError(frame) ? frame : ZSTD_decompress(text.data(), text.size(), bytes.data(), frame);
  if (ZSTD_isError(got))
    core::fail(ErrorCode::io, bytes.what(), ": an image's zstd data is damaged: ", ZSTD_getErrorName(got));
  used = frame;
  text.resize(got);
  return text;
}
#endif

#ifdef ISOMER_HAS_ZLIB
std::string unpack_zlib(const Bytes& bytes, std::uint64_t size, std::uint64_t& used) {
  std::string text(size, '\0');
  uLongf got = size;
  uLong taken = bytes.size();
  if (uncompress2(reinterpret_cast<Bytef*>(text.data()), &got, bytes.data(), &taken) != Z_OK)
    core::fail(ErrorCode::io, bytes.what(), ": an image's zlib data is damaged");
  used = taken;
  text.resize(got);
  return text;
}
#endif

[[noreturn]] [[maybe_unused]] void cannot(const Bytes& bytes, const char* library) {
  core::fail(ErrorCode::io, bytes.what(), ": its images are compressed, and this build has no ", library);
}

}  // namespace

std::string unpack(Packing packing, const Bytes& bytes, std::uint64_t declared, std::uint64_t* used) {
  std::uint64_t taken = bytes.size();
  std::string text;
  switch (packing) {
    case Packing::none:
      text = bytes.text();
      break;
    case Packing::lz4:
      check_size(bytes, declared);
#ifdef ISOMER_HAS_DECOMPRESSION
      text = unpack_lz4(bytes, declared);
      break;
#else
      cannot(bytes, "LZ4");
#endif
    case Packing::zstd:
      check_size(bytes, declared);
#ifdef ISOMER_HAS_DECOMPRESSION
      text = unpack_zstd(bytes, declared, taken);
      break;
#else
      cannot(bytes, "zstd");
#endif
    case Packing::zlib:
      check_size(bytes, declared);
#ifdef ISOMER_HAS_ZLIB
      text = unpack_zlib(bytes, declared, taken);
      break;
#else
      cannot(bytes, "zlib");
#endif
  }
  if (used != nullptr) *used = taken;
  return text;
}

}  // namespace isomer::lab
