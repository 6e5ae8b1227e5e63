// AMD code objects: an ELF file whose note describes the kernels in MessagePack, and the bundles that clang
// puts them in.
#include "core/sha256.hpp"
#include "lab/trace/binary_images.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace isomer::lab {
namespace {

constexpr std::string_view kBundle = "__CLANG_OFFLOAD_BUNDLE__";
constexpr std::uint32_t kMetadataNote = 32;

/// Says no to metadata that nests deeper than any compiler's: what reads it afterwards recurses.
struct Shallow final : nlohmann::json_sax<nlohmann::json> {
  int depth = 0;
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth < 32; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return --depth, true; }
  bool start_array(std::size_t) override { return ++depth < 32; }
  bool end_array() override { return --depth, true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }
};

std::uint32_t count(const nlohmann::json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_number_unsigned() ? found->get<std::uint32_t>() : 0;
}

std::string text(const nlohmann::json& of, const char* key) {
  const auto found = of.find(key);
  return found != of.end() && found->is_string() ? found->get<std::string>() : "";
}

Bytes code_of(const Elf& elf, const std::string& name) {
  for (const Elf::Symbol& symbol : elf.symbols) {
    if (symbol.name != name || symbol.section >= elf.sections.size()) continue;
    const Elf::Section& section = elf.sections[symbol.section];
    if (symbol.value < section.address || symbol.size == 0) continue;
    return section.bytes.sub(symbol.value - section.address, symbol.size, "a kernel's machine code");
  }
  return {};
}

BinaryKernel kernel_of(const Elf& elf, const nlohmann::json& of, const std::string& arch) {
  BinaryKernel kernel;
  kernel.name = text(of, ".name");
  kernel.parsed = parse_kernel_name(kernel.name);
  kernel.arch = arch;
  kernel.resources_known = true;
  kernel.registers = count(of, ".vgpr_count");
  kernel.shared_bytes = count(of, ".group_segment_fixed_size");
  kernel.stack_bytes = count(of, ".private_segment_fixed_size");
  kernel.spill_bytes = 4 * (count(of, ".vgpr_spill_count") + count(of, ".sgpr_spill_count"));
  kernel.max_threads = count(of, ".max_flat_workgroup_size");
  if (const auto args = of.find(".args"); args != of.end() && args->is_array())
    for (const nlohmann::json& arg : *args) {
      // What the runtime passes unasked is hidden in the source as well.
      if (!arg.is_object() || text(arg, ".value_kind").starts_with("hidden_")) continue;
      kernel.parameters.push_back(
          {static_cast<std::uint32_t>(kernel.parameters.size()), count(arg, ".offset"), count(arg, ".size")});
    }
  const Bytes code = code_of(elf, kernel.name);
  kernel.code_bytes = code.size();
  if (code.size() > 0) kernel.code_hash = core::sha256(std::as_bytes(code.span()));
  return kernel;
}

}  // namespace

void read_amd_code_object(const Elf& elf, std::vector<BinaryKernel>& out) {
  for (const Elf::Section& section : elf.sections) {
    constexpr std::uint32_t kNotes = 7;
    if (section.type != kNotes) continue;
    for_each_note(section.bytes, [&](std::uint32_t type, std::string_view name, const Bytes& note) {
      if (type != kMetadataNote || !name.starts_with("AMDGPU")) return;
      const std::vector<std::uint8_t> packed(note.data(), note.data() + note.size());
      Shallow shallow;
      if (!nlohmann::json::sax_parse(packed, &shallow, nlohmann::json::input_format_t::msgpack, false))
        core::fail(ErrorCode::io, note.what(), ": the note that describes the kernels is no MessagePack");
      const nlohmann::json all = nlohmann::json::from_msgpack(packed, false, false);
      if (!all.is_object()) return;
      std::string arch = text(all, "amdhsa.target");
      arch = arch.substr(std::min(arch.rfind('-') + 1, arch.size()));
      const auto kernels = all.find("amdhsa.kernels");
      if (kernels == all.end() || !kernels->is_array()) return;
      for (const nlohmann::json& kernel : *kernels)
        if (kernel.is_object()) out.push_back(kernel_of(elf, kernel, arch));
    });
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
