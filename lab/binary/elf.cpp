#include "lab/binary/elf.hpp"

namespace isomer::lab {
namespace {

constexpr std::uint32_t kSymbols = 2, kDynamicSymbols = 11;

/// Types of sections that have a size and no bytes in the file, on machines of that number (0: on all).
struct WithoutBytes {
  std::uint32_t type;
  std::uint16_t machine;
};
constexpr WithoutBytes kWithoutBytes[] = {
    {0, 0},                    // unused
    {8, 0},                    // memory that begins as zeros
    {0x7000000a, Elf::kCuda},  // shared memory as a debugger sees it: .nv_debug.shared, .nv.shared of some
};

bool has_bytes(std::uint32_t type, std::uint16_t machine) {
  for (const WithoutBytes& each : kWithoutBytes)
    if (each.type == type && (each.machine == 0 || each.machine == machine)) return false;
  return true;
}

std::string_view name_in(const Bytes& strings, std::uint32_t offset) {
  return strings.size() == 0 ? std::string_view() : strings.string(offset, "a name");
}

std::vector<Elf::Symbol> read_table(const Elf& elf, const Elf::Section& table) {
  if (table.link >= elf.sections.size())
    core::fail(ErrorCode::io, table.bytes.what(), ": the symbols' names are in section ", table.link, " of ",
               elf.sections.size());
  const Bytes& strings = elf.sections[table.link].bytes;
  const Bytes& bytes = table.bytes;
  std::vector<Elf::Symbol> symbols;
  symbols.reserve(bytes.size() / 24);
  for (std::uint64_t at = 0; bytes.size() - at >= 24; at += 24) {
    Elf::Symbol symbol;
    symbol.name = name_in(strings, bytes.at<std::uint32_t>(at, "a symbol"));
    symbol.type = bytes.at<std::uint8_t>(at + 4, "a symbol") & 15;
    symbol.other = bytes.at<std::uint8_t>(at + 5, "a symbol");
    symbol.section = bytes.at<std::uint16_t>(at + 6, "a symbol");
    symbol.value = bytes.at<std::uint64_t>(at + 8, "a symbol");
    symbol.size = bytes.at<std::uint64_t>(at + 16, "a symbol");
    symbols.push_back(symbol);
  }
  return symbols;
}

}  // namespace

const Elf::Section* Elf::find(std::string_view name) const {
  for (const Section& section : sections)
    if (section.name == name) return &section;
  return nullptr;
}

bool is_elf(const Bytes& bytes) { return bytes.starts_with("\177ELF"); }

Elf read_elf(const Bytes& file) {
  Elf elf;
  const auto kind = file.at<std::uint8_t>(4, "the ELF header"),
             order = file.at<std::uint8_t>(5, "the ELF header");
  if (kind != 2 || order != 1)
    core::fail(ErrorCode::io, file.what(), ": expected a 64-bit little-endian ELF file, got class ",
               int{kind}, ", byte order ", int{order});
  elf.os_abi = file.at<std::uint8_t>(7, "the ELF header");
  elf.abi_version = file.at<std::uint8_t>(8, "the ELF header");
  elf.machine = file.at<std::uint16_t>(18, "the ELF header");
  elf.flags = file.at<std::uint32_t>(48, "the ELF header");
  const auto table = file.at<std::uint64_t>(40, "the ELF header");
  const auto entry = file.at<std::uint16_t>(58, "the ELF header");
  std::uint64_t count = file.at<std::uint16_t>(60, "the ELF header");
  std::uint32_t names = file.at<std::uint16_t>(62, "the ELF header");
  if (table == 0) return elf;
  if (entry < 64) core::fail(ErrorCode::io, file.what(), ": section headers of ", entry, " bytes");
  if (table > file.size() || file.size() - table < std::uint64_t{64} * std::max<std::uint64_t>(count, 1))
    core::fail(ErrorCode::io, file.what(), ": the file is cut: its ELF header says that ", count,
               " section headers begin at byte ", table, ", and it ends at byte ", file.size());
  // Past 65279 sections, the first header holds the counts.
  const Bytes first = file.sub(table, 64, "the first section header");
  if (count == 0) count = first.at<std::uint64_t>(32, "the number of sections");
  if (names == 0xffff) names = first.at<std::uint32_t>(40, "the section of names");
  if (count > file.size() / entry)
    core::fail(ErrorCode::io, file.what(), ": ", count, " sections in ", file.size(), " bytes");
  const Bytes headers = file.sub(table, count * entry, "the section headers");
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Bytes header = headers.sub(i * entry, 64, "a section header");
    Elf::Section section;
    name_offsets.push_back(header.at<std::uint32_t>(0, "a section header"));
    section.type = header.at<std::uint32_t>(4, "a section header");
    section.address = header.at<std::uint64_t>(16, "a section header");
    section.size = header.at<std::uint64_t>(32, "a section header");
    section.link = header.at<std::uint32_t>(40, "a section header");
    section.info = header.at<std::uint32_t>(44, "a section header");
    if (has_bytes(section.type, elf.machine))
      section.bytes = file.sub(header.at<std::uint64_t>(24, "a section header"), section.size, "a section");
    else
      section.bytes = file.sub(0, 0, "a section");
    elf.sections.push_back(section);
  }
  if (names < elf.sections.size())
    for (std::size_t i = 0; i < elf.sections.size(); ++i)
      elf.sections[i].name = name_in(elf.sections[names].bytes, name_offsets[i]);
  return elf;
}

std::vector<Elf::Symbol> symbols_of(const Elf& elf) {
  for (const std::uint32_t type : {kSymbols, kDynamicSymbols})
    for (const Elf::Section& section : elf.sections)
      if (section.type == type && section.bytes.size() >= 24) return read_table(elf, section);
  return {};
}

}  // namespace isomer::lab
