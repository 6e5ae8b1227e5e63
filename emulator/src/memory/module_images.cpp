#include "memory/module_images.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace isomer::emulator {
namespace {
/// A variable and where the image of its module begins.
struct Registered {
  SymbolEntry entry;
  const void* image;
};

/// As in runtime/kernels.cpp: never in hand where the loader is asked.
std::mutex mutex;
std::deque<Registered> symbols;
}  // namespace

ImageAccess classify_image(const void* address, std::size_t bytes) {
  {
    std::lock_guard lock(mutex);
    for (const auto& [s, image] : symbols) {
      const auto* begin = static_cast<const std::byte*>(s.address);
      const auto* at = static_cast<const std::byte*>(address);
      if (at + bytes > begin && at < begin + s.bytes) {
        return s.constant ? ImageAccess::constant_symbol : ImageAccess::image;
      }
    }
  }
  Dl_info info{};
  return dladdr(address, &info) != 0 ? ImageAccess::image : ImageAccess::outside;
}

void add_symbol(const SymbolEntry& entry) {
  Dl_info info{};
  dladdr(entry.address, &info);
  std::lock_guard lock(mutex);
  symbols.push_back({entry, info.dli_fbase});
}

const SymbolEntry* find_symbol(const void* address) {
  std::lock_guard lock(mutex);
  for (const Registered& s : symbols) {
    if (s.entry.address == address) return &s.entry;
  }
  return nullptr;
}

void forget_module(const void* any_address) {
  Dl_info of{};
  if (dladdr(any_address, &of) == 0) return;
  std::lock_guard lock(mutex);
  std::erase_if(symbols, [&](const Registered& s) { return s.image == of.dli_fbase; });
}

}  // namespace isomer::emulator
