#include "lab/binary/fatbin.hpp"

#ifdef ISOMER_HAS_DECOMPRESSION
#include <lz4.h>
#include <zstd.h>
#endif

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;                // how the payload is compressed
constexpr std::uint64_t kAccelerated = 0x100000, kFamily = 0x200000;  // the a of sm_90a, the f of sm_100f
constexpr std::uint16_t kPtx = 1, kCubin = 2;

/// More than any compiler's output shrinks to, and less than a damaged header could ask for.
std::uint64_t allowed(std::uint64_t compressed, std::uint64_t declared, const Bytes& bytes) {
  const std::uint64_t limit = std::max<std::uint64_t>(std::uint64_t{16} << 20, compressed * 255);
  if (declared == 0 || declared > limit)
    core::fail(ErrorCode::io, bytes.what(), ": an image of ", compressed, " bytes says that it unpacks to ",
               declared);
  return declared;
}

#ifdef ISOMER_HAS_DECOMPRESSION
std::string decompress_lz4(const Bytes& bytes, std::uint64_t size) {
  std::string text(size, '\0');
  if (bytes.size() > LZ4_MAX_INPUT_SIZE || size > LZ4_MAX_INPUT_SIZE)
    core::fail(ErrorCode::io, bytes.what(), ": an image of ", size, " bytes is too large for LZ4");
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(bytes.data()), text.data(),
                                      static_cast<int>(bytes.size()), static_cast<int>(size));
  if (got < 0) core::fail(ErrorCode::io, bytes.what(), ": an image's LZ4 data is damaged");
  text.resize(static_cast<std::size_t>(got));
  return text;
}

std::string decompress_zstd(const Bytes& bytes, std::uint64_t limit) {
  std::string text(limit, '\0');
  const std::size_t got = ZSTD_decompress(text.data(), text.size(), bytes.data(), bytes.size());
  if (ZSTD_isError(got))
    core::fail(ErrorCode::io, bytes.what(), ": an image's zstd data is damaged: ", ZSTD_getErrorName(got));
  text.resize(got);
  return text;
}
#else
std::string decompress_lz4(const Bytes& bytes, std::uint64_t) {
  core::fail(ErrorCode::io, bytes.what(),
             ": its images are compressed, and this build has neither LZ4 nor zstd");
}
std::string decompress_zstd(const Bytes& bytes, std::uint64_t size) { return decompress_lz4(bytes, size); }
#endif

}  // namespace

bool is_fatbin(const Bytes& bytes) {
  return bytes.size() >= 16 && bytes.at<std::uint32_t>(0, "a fat binary") == kMagic;
}

void for_each_image(const Bytes& bytes, const std::function<void(const FatbinImage&)>& each) {
  std::uint64_t at = 0;
  while (bytes.size() - at >= 16) {
    if (bytes.at<std::uint32_t>(at, "a fat binary") != kMagic) {
      // The linker fills the gaps between the objects' fat binaries with zeros.
      if (std::all_of(bytes.data() + at, bytes.data() + at + 8,
                      [](std::uint8_t byte) { return byte == 0; })) {
        at += 8;
        continue;
      }
      core::fail(ErrorCode::io, bytes.what(), ": no fat binary at ", at, " where one must begin");
    }
    const auto header = bytes.at<std::uint16_t>(at + 6, "a fat binary's header");
    const auto size = bytes.at<std::uint64_t>(at + 8, "a fat binary's header");
    if (header < 16) core::fail(ErrorCode::io, bytes.what(), ": a fat binary's header of ", header, " bytes");
    const Bytes region = bytes.sub(at + header, size, "a fat binary");
    for (std::uint64_t entry = 0; region.size() - entry >= 64;) {
      const auto kind = region.at<std::uint16_t>(entry, "an image's header");
      const auto length = region.at<std::uint32_t>(entry + 4, "an image's header");
      const auto payload = region.at<std::uint64_t>(entry + 8, "an image's header");
      const auto compressed = region.at<std::uint32_t>(entry + 16, "an image's header");
      const auto arch = region.at<std::uint32_t>(entry + 28, "an image's header");
      const auto flags = region.at<std::uint64_t>(entry + 40, "an image's header");
      const auto unpacked = region.at<std::uint64_t>(entry + 56, "an image's header");
      if (length < 64) core::fail(ErrorCode::io, bytes.what(), ": an image's header of ", length, " bytes");
      const Bytes body = region.sub(entry + length, payload, "an image");
      FatbinImage image;
      image.kind = kind == kPtx ? FatbinImage::Kind::ptx : FatbinImage::Kind::cubin;
      image.arch = (kind == kPtx ? "compute_" : "sm_") + std::to_string(arch);
      if ((flags & kAccelerated) != 0)
        image.arch += 'a';
      else if ((flags & kFamily) != 0)
        image.arch += 'f';
      if (kind == kPtx || kind == kCubin) {
        const std::uint64_t used = compressed != 0 ? compressed : payload;
        std::string text;
        if ((flags & kZstd) != 0)
          text = decompress_zstd(body.sub(0, used, "an image's data"), allowed(used, unpacked, bytes));
        else if ((flags & kLz4) != 0)
          text = decompress_lz4(body.sub(0, used, "an image's data"), allowed(used, unpacked, bytes));
        image.bytes = text.empty() ? body
                                   : Bytes({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()},
                                           bytes.what());
        each(image);
      }
      entry += length + payload;  // both were found inside the region
    }
    at += header + size;
    at = std::min<std::uint64_t>((at + 7) / 8 * 8, bytes.size());
  }
}

}  // namespace isomer::lab
