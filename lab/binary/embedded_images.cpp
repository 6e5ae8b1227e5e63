// Some libraries keep their kernels as plain data: cuFFT's lie in .rodata, thousands of small fat binaries.
#include "lab/binary/binary_images.hpp"
#include "lab/binary/fatbin.hpp"

namespace isomer::lab {
namespace {

constexpr std::uint64_t kAlignment = 8, kWindow = 1 << 20;

std::uint64_t fatbin_size(const Bytes& rest) {
  if (!is_fatbin(rest)) return 0;
  const auto header = rest.at<std::uint16_t>(6, "a fat binary's header");
  const auto size = rest.at<std::uint64_t>(8, "a fat binary's header");
  constexpr std::uint16_t kHeader = 16;
  return header == kHeader && size > 0 && size <= rest.size() - kHeader ? kHeader + size : 0;
}

/// A cubin ends with its section headers or its program headers.
std::uint64_t cubin_size(const Bytes& rest) {
  constexpr std::uint64_t kHeader = 64;
  if (!is_elf(rest) || rest.size() < kHeader || rest.at<std::uint16_t>(18, "a cubin's header") != Elf::kCuda)
    return 0;
  std::uint64_t end = kHeader;
  for (const auto& [offset, entry] : {std::pair{40u, 58u}, {32u, 54u}}) {
    const auto table = rest.at<std::uint64_t>(offset, "a cubin's header");
    const std::uint64_t bytes = std::uint64_t{rest.at<std::uint16_t>(entry, "a cubin's header")} *
                                rest.at<std::uint16_t>(entry + 2, "a cubin's header");
    if (table > rest.size() || bytes > rest.size() - table) return 0;
    end = std::max(end, table + bytes);
  }
  return end;
}

}  // namespace

int read_embedded_images(const Bytes& file, FoundKernels& out,
                         const std::function<void(const Bytes&)>& read_one) {
  int images = 0;
  std::uint64_t left = 0;
  for (std::uint64_t at = kAlignment; at + kAlignment <= file.size();) {
    const Bytes rest = file.sub(at, file.size() - at, "the file");
    std::uint64_t size = fatbin_size(rest);
    if (size == 0) size = cubin_size(rest);
    if (size > 0) {
      const Bytes image = rest.sub(0, size, "an image");
      out.image(core::say("what begins at byte ", at), [&] { read_one(image); });
      ++images;
    }
    at += (std::max(size, kAlignment) + kAlignment - 1) / kAlignment * kAlignment;
    if (at - left < kWindow) continue;
    out.leave(file.sub(left, std::min(at, file.size()) - left, "the file"));
    left = at;
  }
  return images;
}

}  // namespace isomer::lab
