#include "memory/module_images.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

namespace isomer::emulator {
namespace {
/// A variable and where the image of its module begins.
struct RegisteredImage {
  SymbolEntry entry;
  const void* image;
  Buffer buffer;
};
using Table = std::vector<std::shared_ptr<RegisteredImage>>;  // by address

/// As in runtime/kernels.cpp: never in hand where the loader is asked.
std::mutex images_mutex;
/// Read at every access to no buffer, without a lock: a table that is replaced stays for those who read it.
std::atomic<const Table*> table{new Table};

void replace(Table changed) {
  std::sort(changed.begin(), changed.end(),
            [](const auto& a, const auto& b) { return a->buffer.begin < b->buffer.begin; });
  table.store(new Table(std::move(changed)), std::memory_order_release);
}

const RegisteredImage* last_before(const Table& all, const std::byte* at) {
  const auto after = std::upper_bound(all.begin(), all.end(), at,
                                      [](const std::byte* a, const auto& r) { return a < r->buffer.begin; });
  return after == all.begin() ? nullptr : std::prev(after)->get();
}
}  // namespace

bool in_image(const void* address) {
  // The loader is asked once for a page: tables of constants are read often.
  static thread_local std::array<std::uintptr_t, 64> known{};
  const std::uintptr_t page = reinterpret_cast<std::uintptr_t>(address) / Memory::kPage + 1;
  std::uintptr_t& last = known[page % known.size()];
  if (last == page) return true;
  Dl_info info{};
  if (dladdr(address, &info) == 0) return false;
  last = page;
  return true;
}

Buffer* variable_at(const void* address) {
  const Table& all = *table.load(std::memory_order_acquire);
  if (all.empty()) return nullptr;
  const auto* at = static_cast<const std::byte*>(address);
  const auto after = std::upper_bound(all.begin(), all.end(), at,
                                      [](const std::byte* a, const auto& r) { return a < r->buffer.begin; });
  if (after != all.begin()) {
    RegisteredImage& r = **std::prev(after);
    if (at < r.buffer.end() + (r.entry.guarded ? kVariableGuard : 0)) return &r.buffer;
  }
  if (after == all.end() || !(*after)->entry.guarded) return nullptr;
  return at + kVariableGuard >= (*after)->buffer.begin ? &(*after)->buffer : nullptr;
}

void for_each_variable(const std::function<void(const Buffer&)>& visit) {
  for (const auto& each : *table.load(std::memory_order_acquire)) visit(each->buffer);
}

void add_symbol(const SymbolEntry& entry) {
  Dl_info info{};
  dladdr(entry.address, &info);
  auto added = std::make_shared<RegisteredImage>();
  added->entry = entry;
  added->image = info.dli_fbase;
  Buffer& b = added->buffer;
  b.begin = static_cast<std::byte*>(entry.address);
  b.bytes = entry.bytes;
  b.space = Space::variable;
  b.name = entry.name;
  b.initialised = b.live = true;
  b.input = entry.constant != 0;
  b.shadow = Memory::instance().reserve_shadow(entry.address, entry.bytes);
  std::lock_guard lock(images_mutex);
  Table changed = *table.load();
  changed.push_back(std::move(added));
  replace(std::move(changed));
}

const SymbolEntry* find_symbol(const void* address) {
  const RegisteredImage* r =
      last_before(*table.load(std::memory_order_acquire), static_cast<const std::byte*>(address));
  return r != nullptr && r->entry.address == address ? &r->entry : nullptr;
}

const SymbolEntry* find_symbol(std::string_view name, const void* image) {
  const SymbolEntry* loose = nullptr;
  for (const auto& r : *table.load(std::memory_order_acquire)) {
    if (r->image != image) continue;
    const std::string_view known = r->entry.name;
    if (known == name) return &r->entry;
    if (known.substr(known.rfind(':') + 1) == name) loose = &r->entry;
  }
  return loose;
}

void forget_module(const void* any_address) {
  Dl_info of{};
  if (dladdr(any_address, &of) == 0) return;
  std::lock_guard lock(images_mutex);
  Table changed = *table.load();
  std::erase_if(changed, [&](const auto& r) { return r->image == of.dli_fbase; });
  replace(std::move(changed));
}

}  // namespace isomer::emulator
