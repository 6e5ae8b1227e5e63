// AMD code objects: an ELF file whose note describes the kernels in MessagePack.
#include "lab/binary/amd_kernels.hpp"

#include "core/sha256.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <unordered_map>

namespace isomer::lab {
namespace {

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

/// The machine code by its symbol. A library has thousands of kernels and more symbols.
class Codes {
 public:
  explicit Codes(const Elf& elf) : elf_(elf), all_(symbols_of(elf)) {
    for (const Elf::Symbol& symbol : all_)
      if (symbol.section < elf.sections.size() && symbol.size > 0 &&
          symbol.value >= elf.sections[symbol.section].address)
        symbols_.try_emplace(symbol.name, &symbol);
  }
  Bytes of(const std::string& name) const {
    const auto found = symbols_.find(name);
    if (found == symbols_.end()) return {};
    const Elf::Symbol& symbol = *found->second;
    const Elf::Section& section = elf_.sections[symbol.section];
    return section.bytes.sub(symbol.value - section.address, symbol.size, "a kernel's machine code");
  }

 private:
  const Elf& elf_;
  const std::vector<Elf::Symbol> all_;
  std::unordered_map<std::string_view, const Elf::Symbol*> symbols_;
};

AmdKernel kernel_of(const Codes& codes, const nlohmann::json& of, const std::string& arch) {
  AmdKernel kernel;
  kernel.name = text(of, ".name");
  kernel.arch = arch;
  kernel.vector_registers = count(of, ".vgpr_count");
  kernel.scalar_registers = count(of, ".sgpr_count");
  kernel.group_bytes = count(of, ".group_segment_fixed_size");
  kernel.private_bytes = count(of, ".private_segment_fixed_size");
  kernel.spilled_registers = count(of, ".vgpr_spill_count") + count(of, ".sgpr_spill_count");
  kernel.max_threads = count(of, ".max_flat_workgroup_size");
  if (const auto args = of.find(".args"); args != of.end() && args->is_array())
    for (const nlohmann::json& arg : *args) {
      // What the runtime passes unasked is hidden in the source as well.
      if (!arg.is_object() || text(arg, ".value_kind").starts_with("hidden_")) continue;
      kernel.parameters.emplace_back(count(arg, ".offset"), count(arg, ".size"));
    }
  const Bytes code = codes.of(kernel.name);
  kernel.code_bytes = code.size();
  if (code.size() > 0) kernel.code_hash = core::sha256(std::as_bytes(code.span()));
  return kernel;
}

}  // namespace

std::vector<AmdKernel> amd_kernels(const Elf& elf) {
  std::vector<AmdKernel> kernels_found;
  const Codes codes(elf);
  for (const Elf::Section& section : elf.sections) {
    constexpr std::uint32_t kNotes = 7;
    if (section.type != kNotes) continue;
    for_each_note(section.bytes, [&](std::uint32_t type, std::string_view name, const Bytes& note) {
      if (type != kMetadataNote || !name.starts_with("AMDGPU")) return;
      const std::vector<std::uint8_t> packed(note.data(), note.data() + note.size());
      Shallow shallow;
      if (!nlohmann::json::sax_parse(packed, &shallow, nlohmann::json::input_format_t::msgpack, false))
        core::fail(ErrorCode::io, note.what(), ": the note that describes the kernels is not MessagePack");
      const nlohmann::json all = nlohmann::json::from_msgpack(packed, false, false);
      if (!all.is_object()) return;
      std::string arch = text(all, "amdhsa.target");
      arch = arch.substr(std::min(arch.rfind('-') + 1, arch.size()));
      const auto kernels = all.find("amdhsa.kernels");
      if (kernels == all.end() || !kernels->is_array()) return;
      for (const nlohmann::json& kernel : *kernels)
        if (kernel.is_object()) kernels_found.push_back(kernel_of(codes, kernel, arch));
    });
  }
  return kernels_found;
}

}  // namespace isomer::lab
