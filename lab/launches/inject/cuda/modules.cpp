#include "lab/launches/inject/cuda/modules.hpp"

#include "core/sha256.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace isomer::inject {
namespace {

/// What this thread has loaded, for tie(): the last ones only.
struct Recent {
  std::uint64_t count = 0;
  std::uint32_t last = 0;
};
thread_local Recent recent;

constexpr std::string_view kText = ".text.";

/// Calls section(name, bytes) for every .text section of a cubin; nothing where it is none.
template <class Section>
void for_each_text(const char* cubin, std::size_t bytes, Section&& section) {
  Elf64_Ehdr header;
  if (bytes < sizeof header) return;
  std::memcpy(&header, cubin, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return;
  const auto at = [&](std::uint64_t index, Elf64_Shdr& into) {
    const std::uint64_t offset = header.e_shoff + index * sizeof into;
    if (header.e_shoff > bytes || index > bytes / sizeof into || offset > bytes - sizeof into) return false;
    std::memcpy(&into, cubin + offset, sizeof into);
    return into.sh_type == SHT_NOBITS || (into.sh_offset <= bytes && into.sh_size <= bytes - into.sh_offset);
  };
  Elf64_Shdr names, each;
  if (!at(header.e_shstrndx, names) || names.sh_type == SHT_NOBITS) return;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    if (!at(i, each) || each.sh_type != SHT_PROGBITS || each.sh_name >= names.sh_size) continue;
    const char* name = cubin + names.sh_offset + each.sh_name;
    const std::string_view text(name, strnlen(name, names.sh_size - each.sh_name));
    if (text.starts_with(kText))
      section(std::string(text.substr(kText.size())),
              std::as_bytes(std::span(cubin + each.sh_offset, each.sh_size)));
  }
}

}  // namespace

Modules& modules() {
  static Modules& only = *new Modules;
  return only;
}

void Modules::loaded(std::uint32_t id, const char* cubin, std::size_t bytes) {
  if (cubin == nullptr) return;
  std::vector<std::pair<std::string, Entry>> found;
  std::uint64_t hashed = 0;
  std::string image = "cubin of " + std::to_string(bytes) + " bytes";
  for_each_text(cubin, bytes, [&](std::string&& kernel, std::span<const std::byte> code) {
    hashed += code.size();
    found.emplace_back(std::move(kernel), Entry{id, {core::sha256(code), image}});
  });
  ++recent.count;
  recent.last = id;
  const std::lock_guard lock(mutex_);
  hashed_bytes_ += hashed;
  for (auto& [kernel, entry] : found) kernels_[kernel].push_back(std::move(entry));
}

void Modules::unloading(std::uint32_t id) {
  const std::lock_guard lock(mutex_);
  for (auto kernel = kernels_.begin(); kernel != kernels_.end();) {
    std::erase_if(kernel->second, [&](const Entry& entry) { return entry.id == id; });
    kernel = kernel->second.empty() ? kernels_.erase(kernel) : std::next(kernel);
  }
  std::erase_if(handles_, [&](const auto& handle) { return handle.second == id; });
}

std::uint64_t Modules::count() { return recent.count; }

void Modules::tie(const void* handle, std::uint64_t first_since) {
  // Several at once (a library's) cannot be told apart.
  if (handle == nullptr || recent.count != first_since + 1) return;
  const std::lock_guard lock(mutex_);
  handles_[handle] = recent.last;
}

Modules::Code Modules::find(const void* handle, const std::string& kernel) {
  const std::lock_guard lock(mutex_);
  const auto found = kernels_.find(kernel);
  if (found == kernels_.end()) return {};
  const std::vector<Entry>& entries = found->second;
  if (const auto tied = handles_.find(handle); handle != nullptr && tied != handles_.end())
    for (const Entry& entry : entries)
      if (entry.id == tied->second) return entry.code;
  const bool agree = std::all_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return entry.code.hash == entries.front().code.hash;
  });
  if (agree) return entries.front().code;
  ++ambiguous_;
  return {};
}

}  // namespace isomer::inject
