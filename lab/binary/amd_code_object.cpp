// AMD code objects as binaries with kernels, and the bundles that clang puts them in.
#include "lab/binary/amd_kernels.hpp"
#include "lab/binary/binary_images.hpp"
#include "lab/binary/compression.hpp"

namespace isomer::lab {
namespace {

constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__", kCompressed = "CCOB";

/// The header of a compressed bundle is 4 bytes of magic, version and method of 2 bytes each, then sizes of 4
/// (from version 3 of 8) bytes and a hash of 8.
struct CompressedBundle {
  std::uint64_t header = 0, unpacked = 0;
  Packing packing = Packing::none;
  Bytes payload;
};

CompressedBundle compressed_bundle(const Bytes& bytes) {
  CompressedBundle found;
  const auto version = bytes.at<std::uint16_t>(4, "a compressed bundle's header");
  const auto method = bytes.at<std::uint16_t>(6, "a compressed bundle's header");
  constexpr std::uint16_t kZlib = 0, kZstd = 1;
  if (version < 1 || version > 3 || (method != kZlib && method != kZstd))
    core::fail(ErrorCode::io, bytes.what(),
               ": a compressed offload bundle of version 1 to 3 with zlib or zstd expected, got version ",
               version, ", method ", method);
  const std::uint64_t wide = version == 3 ? 8 : 4;
  const auto size_at = [&](std::uint64_t at) -> std::uint64_t {
    return wide == 8 ? bytes.at<std::uint64_t>(at, "a compressed bundle's header")
                     : bytes.at<std::uint32_t>(at, "a compressed bundle's header");
  };
  found.packing = method == kZstd ? Packing::zstd : Packing::zlib;
  std::uint64_t at = 8, whole = bytes.size();
  if (version > 1) {
    whole = size_at(at);
    at += wide;
  }
  found.unpacked = size_at(at);
  found.header = at + wide + 8;
  if (whole < found.header)
    core::fail(ErrorCode::io, bytes.what(), ": a compressed offload bundle of ", whole, " bytes");
  found.payload = bytes.sub(found.header, whole - found.header, "a compressed offload bundle");
  return found;
}

/// Returns where the last of its code objects ends.
std::uint64_t read_plain_bundle(const Bytes& bundle, int number, FoundKernels& out) {
  const auto entries = bundle.at<std::uint64_t>(kBundle.size(), "the number of code objects");
  std::uint64_t at = kBundle.size() + 8, end = at;
  for (std::uint64_t i = 0; i < entries; ++i) {
    const auto offset = bundle.at<std::uint64_t>(at, "a code object's place");
    const auto size = bundle.at<std::uint64_t>(at + 8, "a code object's place");
    const auto length = bundle.at<std::uint64_t>(at + 16, "a code object's target");
    const std::string target(bundle.sub(at + 24, length, "a code object's target").text());
    at += 24 + length;
    if (offset <= bundle.size() && size <= bundle.size() - offset) end = std::max(end, offset + size);
    if (target.starts_with("host")) continue;
    out.image(core::say("code object ", i, " of bundle ", number, " for ", target), [&] {
      const Bytes object = bundle.sub(offset, size, "a code object");
      if (!is_elf(object)) return;
      const Elf elf = read_elf(object);
      if (elf.machine == Elf::kAmdGpu) read_amd_code_object(elf, out);
      out.leave(object);
    });
  }
  return std::max(end, at);
}

/// Where the next bundle begins; npos: none follows. What lies between is looked at once.
std::uint64_t next_bundle(const Bytes& bytes, std::uint64_t at, const FoundKernels& out) {
  constexpr std::uint64_t kWindow = 1 << 20;
  while (at < bytes.size()) {
    const Bytes part = bytes.sub(at, std::min(kWindow + kBundle.size(), bytes.size() - at), "a bundle");
    const std::size_t found = std::min(part.text().find(kBundle), part.text().find(kCompressed));
    if (found < kWindow) return at + found;
    out.leave(part);
    at += kWindow;
  }
  return std::string_view::npos;
}

}  // namespace

void read_amd_code_object(const Elf& elf, FoundKernels& out) {
  const std::size_t before = out.kernels.size();
  for (AmdKernel& of : amd_kernels(elf)) {
    BinaryKernel& kernel = out.add(of.name);
    kernel.arch = std::move(of.arch);
    kernel.resources_known = true;
    kernel.registers = of.vector_registers;
    kernel.shared_bytes = of.group_bytes;
    kernel.stack_bytes = of.private_bytes;
    kernel.spill_bytes = 4 * of.spilled_registers;
    kernel.max_threads = of.max_threads;
    for (const auto& [offset, size] : of.parameters)
      kernel.parameters.push_back({static_cast<std::uint32_t>(kernel.parameters.size()), offset, size});
    kernel.code_bytes = of.code_bytes;
    kernel.code_hash = std::move(of.code_hash);
  }
  if (const Elf::Section* comment = elf.find(".comment"); comment != nullptr && comment->bytes.size() > 1) {
    const std::string_view all = comment->bytes.text();
    for (std::size_t i = before; i < out.kernels.size(); ++i)
      out.kernels[i].compiler = all.substr(0, all.find('\0'));
  }
}

bool is_offload_bundle(const Bytes& bytes) {
  return bytes.starts_with(kBundle) || bytes.starts_with(kCompressed);
}

void read_offload_bundles(const Bytes& bytes, FoundKernels& out) {
  // Several translation units' bundles lie one behind the other, padded to pages.
  std::uint64_t at = 0;
  for (int number = 0; (at = next_bundle(bytes, at, out)) < bytes.size(); ++number) {
    const Bytes bundle = bytes.sub(at, bytes.size() - at, "an offload bundle");
    if (bundle.starts_with(kBundle)) {
      at += read_plain_bundle(bundle, number, out);
      continue;
    }
    out.image(core::say("compressed offload bundle ", number), [&] {
      const CompressedBundle found = compressed_bundle(bundle);
      at += std::max<std::uint64_t>(found.header, 1);
      std::uint64_t used = 0;
      const std::string room = unpack(found.packing, found.payload, found.unpacked, &used);
      at += used;
      out.leave(found.payload);
      const Bytes text({reinterpret_cast<const std::uint8_t*>(room.data()), room.size()}, bytes.what());
      if (!text.starts_with(kBundle))
        core::fail(ErrorCode::io, bytes.what(), ": a compressed offload bundle that holds none");
      read_plain_bundle(text, number, out);
    });
    // NOTES: what could not be unpacked is passed over; whether it holds another one by chance does not
    // matter.
    at = std::min<std::uint64_t>(at + 1, bytes.size());
  }
}

}  // namespace isomer::lab
