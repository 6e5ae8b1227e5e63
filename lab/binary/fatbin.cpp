#include "lab/binary/fatbin.hpp"

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr std::uint32_t kMagic = 0xba55ed50;
constexpr std::uint64_t kLz4 = 0x2000, kZstd = 0x8000;                // how the payload is compressed
constexpr std::uint64_t kAccelerated = 0x100000, kFamily = 0x200000;  // the a of sm_90a, the f of sm_100f
constexpr std::uint16_t kPtx = 1, kCubin = 2;

}  // namespace

bool is_fatbin(const Bytes& bytes) {
  return bytes.size() >= 16 && bytes.at<std::uint32_t>(0, "a fat binary") == kMagic;
}

Bytes unpacked(const PackedImage& image, std::string& room) {
  if (image.packing == Packing::none) return image.bytes;
  room = unpack(image.packing, image.bytes, image.unpacked_bytes);
  return {{reinterpret_cast<const std::uint8_t*>(room.data()), room.size()}, image.bytes.what()};
}

void for_each_image(const Bytes& bytes, const std::function<void(const PackedImage&)>& each) {
  std::uint64_t at = 0;
  while (bytes.size() - at >= 16) {
    if (bytes.at<std::uint32_t>(at, "a fat binary") != kMagic) {
      // The linker fills the gaps between the objects' fat binaries with zeros.
      if (std::all_of(bytes.data() + at, bytes.data() + at + 8,
                      [](std::uint8_t byte) { return byte == 0; })) {
        at += 8;
        continue;
      }
      core::fail(ErrorCode::io, bytes.what(), ": no fat binary at ", at, " where one should begin");
    }
    const auto header = bytes.at<std::uint16_t>(at + 6, "a fat binary's header");
    const auto size = bytes.at<std::uint64_t>(at + 8, "a fat binary's header");
    if (header < 16) core::fail(ErrorCode::io, bytes.what(), ": a fat binary's header of ", header, " bytes");
    if (size > bytes.size() - std::min<std::uint64_t>(at + header, bytes.size()))
      core::fail(ErrorCode::io, bytes.what(), ": the file is cut: a fat binary at byte ", at,
                 " says that it has ", size, " bytes, and ",
                 bytes.size() - std::min<std::uint64_t>(at + header, bytes.size()), " follow");
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
      if (kind == kPtx || kind == kCubin) {
        PackedImage image;
        image.kind = kind == kPtx ? PackedImage::Kind::ptx : PackedImage::Kind::cubin;
        image.arch = (kind == kPtx ? "compute_" : "sm_") + std::to_string(arch);
        if ((flags & kAccelerated) != 0)
          image.arch += 'a';
        else if ((flags & kFamily) != 0)
          image.arch += 'f';
        image.packing = (flags & kZstd) != 0  ? Packing::zstd
                        : (flags & kLz4) != 0 ? Packing::lz4
                                              : Packing::none;
        const bool packed = image.packing != Packing::none && compressed != 0;
        image.bytes = packed ? body.sub(0, compressed, "an image's data") : body;
        image.unpacked_bytes = unpacked;
        each(image);
      }
      entry += length + payload;  // both were found inside the region
    }
    at += header + size;
    at = std::min<std::uint64_t>((at + 7) / 8 * 8, bytes.size());
  }
}

}  // namespace isomer::lab
