#pragma once

#include "lab/binary/bytes.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace isomer::lab {

/// A 64-bit little-endian ELF file: what a shared library, a cubin and an AMD code object are.
struct Elf {
  static constexpr std::uint16_t kCuda = 190, kAmdGpu = 224;
  struct Section {
    std::string_view name;
    std::uint32_t type = 0, link = 0, info = 0;
    std::uint64_t size = 0;  ///< also of a section without bytes, as shared memory is
    std::uint64_t address = 0;
    Bytes bytes;
  };
  struct Symbol {
    std::string_view name;
    std::uint8_t type = 0, other = 0;
    std::uint16_t section = 0;
    std::uint64_t value = 0, size = 0;
  };
  std::uint16_t machine = 0;
  std::uint32_t flags = 0;
  std::uint8_t os_abi = 0, abi_version = 0;
  std::vector<Section> sections;

  const Section* find(std::string_view name) const;
};

bool is_elf(const Bytes& bytes);
/// Throws Error io for what is cut, points outside of itself, or is another class or byte order.
Elf read_elf(const Bytes& bytes);
/// Those of .symtab in its order, else of .dynsym. A host library has millions that nobody asks for, so they
/// are read apart. Throws as read_elf does.
std::vector<Elf::Symbol> symbols_of(const Elf& elf);

/// Calls `each(type, name, description)` for every note of a section or segment; stops at the first malformed
/// one.
template <class Each>
void for_each_note(const Bytes& notes, Each each) {
  std::uint64_t at = 0;
  while (notes.size() - at >= 12) {
    const auto name = notes.at<std::uint32_t>(at, "a note"),
               bytes = notes.at<std::uint32_t>(at + 4, "a note"),
               type = notes.at<std::uint32_t>(at + 8, "a note");
    const std::uint64_t description = at + 12 + (std::uint64_t{name} + 3) / 4 * 4;
    const std::uint64_t next = description + (std::uint64_t{bytes} + 3) / 4 * 4;
    if (description > notes.size() || bytes > notes.size() - description) return;
    each(type, notes.sub(at + 12, name, "a note's name").text(), notes.sub(description, bytes, "a note"));
    if (next > notes.size()) return;
    at = next;
  }
}

}  // namespace isomer::lab
