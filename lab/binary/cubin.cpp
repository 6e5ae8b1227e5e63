// What ptxas writes beside the machine code: sections named after the kernel, and attributes of four bytes
// and more.
#include "core/sha256.hpp"
#include "lab/binary/binary_images.hpp"
#include "lab/binary/sass_opcodes.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace isomer::lab {
namespace {

// Attributes of .nv.info and .nv.info.<kernel>.
constexpr std::uint8_t kMaxThreads = 0x05, kFrameSize = 0x11, kMinStack = 0x12, kParameter = 0x17,
                       kRegisters = 0x2f, kCudaVersion = 0x37;

/// From sm_90 on the section of a linked kernel holds 1 KiB that the system takes of every block's shared
/// memory. One that waits for a device link has another type and no such part.
constexpr int kReservesFrom = 90;
constexpr std::uint64_t kReservedShared = 1024;
constexpr std::uint32_t kLinkedShared = 8;

/// Up to sm_8x the section of the machine code tells its registers too, above its symbol's number; some of
/// NVIDIA's own kernels have no attribute that does.
constexpr int kRegistersFrom = 24;

/// Calls each(attribute, payload) for the attributes that have a sized payload, the only ones asked for here.
template <class Each>
void for_each_attribute(const Bytes& info, Each each) {
  for (std::uint64_t at = 0; info.size() - at >= 4;) {
    const auto format = info.at<std::uint8_t>(at, "an attribute");
    const auto attribute = info.at<std::uint8_t>(at + 1, "an attribute");
    if (format != 4) {
      at += 4;
      continue;
    }
    const auto bytes = info.at<std::uint16_t>(at + 2, "an attribute");
    each(attribute, info.sub(at + 4, bytes, "an attribute"));
    at += 4 + (std::uint64_t{bytes} + 3) / 4 * 4;
    if (at > info.size()) return;
  }
}

struct Resources {
  std::uint32_t registers = 0, frame = 0, stack = 0;
};

/// By symbol index.
std::map<std::uint32_t, Resources> resources_of(const Elf& elf) {
  std::map<std::uint32_t, Resources> all;
  const Elf::Section* info = elf.find(".nv.info");
  if (info == nullptr) return all;
  for_each_attribute(info->bytes, [&](std::uint8_t attribute, const Bytes& payload) {
    if (attribute != kRegisters && attribute != kFrameSize && attribute != kMinStack) return;
    Resources& of = all[payload.at<std::uint32_t>(0, "a resource's symbol")];
    const auto value = payload.at<std::uint32_t>(4, "a resource");
    if (attribute == kRegisters)
      of.registers = value;
    else if (attribute == kFrameSize)
      of.frame = value;
    else
      of.stack = value;
  });
  return all;
}

/// ptxas' note: a header of 24 bytes, then "", "ptxas", its version, its build, its command line, zero-ended.
void read_note(const Elf& elf, std::string& compiler, std::string& options) {
  const Elf::Section* note = elf.find(".note.nv.tkinfo");
  if (note == nullptr) return;
  for_each_note(note->bytes, [&](std::uint32_t, std::string_view, const Bytes& description) {
    std::vector<std::string> words;
    std::string_view rest = description.size() > 24 ? description.text().substr(24) : std::string_view();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\0'), rest.size());
      if (end > 0) words.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const auto release = std::find_if(words.begin(), words.end(), [](const std::string& word) {
      return word.find("release") != std::string::npos;
    });
    if (release == words.end()) return;
    const std::size_t version = release->rfind('V');
    compiler = release == words.begin() ? "" : words.front() + " ";
    compiler += version == std::string::npos ? *release : release->substr(version + 1);
    if (words.end() - release > 2) options = words.back();
    while (!options.empty() && options.back() == ' ') options.pop_back();
  });
}

/// The cubin's own word for its architecture. The letter of sm_90a stands in ptxas' command line only.
std::string arch_of(const Elf& elf, const std::string& options) {
  const std::size_t word = options.find("-arch ");
  if (word != std::string::npos) {
    const std::size_t begin = word + 6;
    std::string arch = options.substr(begin, std::min(options.find(' ', begin), options.size()) - begin);
    if (arch.starts_with("sm_")) return arch;
  }
  // The header moved with version 8 of the ABI.
  const std::uint32_t number = elf.abi_version >= 8 ? (elf.flags >> 8) & 0xff : elf.flags & 0xff;
  constexpr std::uint32_t kAccelerated = 0x800;  // before that version: the a of sm_90a
  const bool letter = elf.abi_version < 8 && (elf.flags & kAccelerated) != 0;
  return "sm_" + std::to_string(number) + (letter ? "a" : "");
}

}  // namespace

void read_cubin(const Elf& elf, const std::string& named, FoundKernels& out) {
  std::string compiler, options;
  read_note(elf, compiler, options);
  const std::string arch = named.empty() ? arch_of(elf, options) : named;
  const std::map<std::uint32_t, Resources> resources = resources_of(elf);
  const int number = arch.starts_with("sm_") ? std::atoi(arch.c_str() + 3) : 0;
  std::map<std::string_view, const Elf::Section*> sections;
  for (const Elf::Section& section : elf.sections) sections.emplace(section.name, &section);
  const auto section_of = [&](std::string_view prefix, std::string_view kernel) -> const Elf::Section* {
    const auto found = sections.find(std::string(prefix) + std::string(kernel));
    return found == sections.end() ? nullptr : found->second;
  };
  const std::vector<Elf::Symbol> symbols = symbols_of(elf);
  std::set<std::string_view> seen;
  for (std::uint32_t index = 0; index < symbols.size(); ++index) {
    const Elf::Symbol& symbol = symbols[index];
    constexpr std::uint8_t kFunction = 2, kEntry = 0x10;
    if (symbol.type != kFunction || (symbol.other & kEntry) == 0 || symbol.name.empty()) continue;
    const Elf::Section* code = section_of(".text.", symbol.name);
    if (code == nullptr || !seen.insert(symbol.name).second) continue;
    BinaryKernel& kernel = out.add(symbol.name);
    kernel.arch = arch;
    kernel.compiler = compiler;
    kernel.options = options;
    kernel.code_hash = core::sha256(std::as_bytes(code->bytes.span()));
    kernel.code_bytes = code->bytes.size();  // a section without contents has a size all the same
    // Before sm_70 an instruction was 64 bits.
    if (number >= 70) kernel.opcodes = count_opcodes(code->bytes);
    if (const auto found = resources.find(index); found != resources.end()) {
      kernel.resources_known = true;
      kernel.registers = found->second.registers;
      kernel.spill_bytes = found->second.frame;
      kernel.stack_bytes = found->second.stack;
    }
    if (kernel.registers == 0 && code->info >> kRegistersFrom != 0) {
      kernel.resources_known = true;
      kernel.registers = code->info >> kRegistersFrom;
    }
    if (const Elf::Section* shared = section_of(".nv.shared.", symbol.name)) {
      const bool reserves =
          number >= kReservesFrom && shared->type == kLinkedShared && shared->size >= kReservedShared;
      kernel.shared_bytes = static_cast<std::uint32_t>(shared->size - (reserves ? kReservedShared : 0));
    }
    if (const Elf::Section* info = section_of(".nv.info.", symbol.name))
      for_each_attribute(info->bytes, [&](std::uint8_t attribute, const Bytes& payload) {
        if (attribute == kMaxThreads && payload.size() >= 12) {
          std::uint64_t threads = 1;
          for (std::uint64_t axis = 0; axis < 3; ++axis)
            threads *= std::min(payload.at<std::uint32_t>(axis * 4, "a block's extent"), 1u << 16);
          kernel.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, ~0u));
        } else if (attribute == kCudaVersion && kernel.compiler.empty()) {
          // Toolkits before 13 left no note, but the version of the interface: 128 is 12.8.
          const auto version = payload.at<std::uint32_t>(0, "the version of CUDA");
          kernel.compiler = "CUDA " + std::to_string(version / 10) + "." + std::to_string(version % 10);
        } else if (attribute == kParameter) {
          kernel.parameters.push_back({payload.at<std::uint16_t>(4, "a parameter"),
                                       payload.at<std::uint16_t>(6, "a parameter"),
                                       payload.at<std::uint32_t>(8, "a parameter") >> 18});
        }
      });
    std::sort(kernel.parameters.begin(), kernel.parameters.end(),
              [](const auto& x, const auto& y) { return x.ordinal < y.ordinal; });
  }
}

}  // namespace isomer::lab
