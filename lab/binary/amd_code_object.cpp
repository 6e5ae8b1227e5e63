// AMD code objects as binaries with kernels, and the bundles that clang puts them in.
#include "lab/binary/amd_kernels.hpp"
#include "lab/binary/binary_images.hpp"

namespace isomer::lab {
namespace {

constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";

}  // namespace

void read_amd_code_object(const Elf& elf, std::vector<BinaryKernel>& out) {
  for (AmdKernel& of : amd_kernels(elf)) {
    BinaryKernel kernel;
    kernel.parsed = parse_kernel_name(of.name);
    kernel.name = std::move(of.name);
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
    out.push_back(std::move(kernel));
  }
  if (const Elf::Section* comment = elf.find(".comment"); comment != nullptr && comment->bytes.size() > 1) {
    const std::string_view all = comment->bytes.text();
    for (BinaryKernel& kernel : out)
      if (kernel.compiler.empty() && kernel.arch.starts_with("gfx"))
        kernel.compiler = all.substr(0, all.find('\0'));
  }
}

bool is_offload_bundle(const Bytes& bytes) { return bytes.starts_with(kBundle) || bytes.starts_with("CCOB"); }

void read_offload_bundles(const Bytes& bytes, std::vector<BinaryKernel>& out) {
  if (bytes.starts_with("CCOB"))
    core::fail(ErrorCode::io, bytes.what(),
               ": a compressed offload bundle; unpack it with clang-offload-bundler");
  // Several translation units' bundles lie one behind the other, padded to pages.
  for (std::size_t begin = bytes.text().find(kBundle); begin != std::string_view::npos;
       begin = bytes.text().find(kBundle, begin + kBundle.size())) {
    const Bytes bundle = bytes.sub(begin, bytes.size() - begin, "an offload bundle");
    const auto entries = bundle.at<std::uint64_t>(kBundle.size(), "the number of code objects");
    std::uint64_t at = kBundle.size() + 8;
    for (std::uint64_t i = 0; i < entries; ++i) {
      const auto offset = bundle.at<std::uint64_t>(at, "a code object's place");
      const auto size = bundle.at<std::uint64_t>(at + 8, "a code object's place");
      const auto triple = bundle.at<std::uint64_t>(at + 16, "a code object's target");
      const Bytes object = bundle.sub(offset, size, "a code object");
      at += 24 + bundle.sub(at + 24, triple, "a code object's target").size();
      if (is_elf(object)) {
        const Elf elf = read_elf(object);
        if (elf.machine == Elf::kAmdGpu) read_amd_code_object(elf, out);
      }
    }
  }
}

}  // namespace isomer::lab
