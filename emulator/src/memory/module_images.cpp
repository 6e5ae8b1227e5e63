#include "memory/module_images.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <deque>
#include <mutex>

namespace isomer::emulator {
namespace {
std::mutex mutex;
std::deque<SymbolEntry> symbols;
}  // namespace

ImageAccess classify_image(const void* address, std::size_t bytes) {
  {
    std::lock_guard lock(mutex);
    for (const SymbolEntry& s : symbols) {
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
  std::lock_guard lock(mutex);
  symbols.push_back(entry);
}

const SymbolEntry* find_symbol(const void* address) {
  std::lock_guard lock(mutex);
  for (const SymbolEntry& s : symbols) {
    if (s.address == address) return &s;
  }
  return nullptr;
}

void forget_module(const void* any_address) {
  Dl_info of{};
  if (dladdr(any_address, &of) == 0) return;
  std::lock_guard lock(mutex);
  std::erase_if(symbols, [&](const SymbolEntry& s) {
    Dl_info info{};
    return dladdr(s.address, &info) != 0 && info.dli_fbase == of.dli_fbase;
  });
}

}  // namespace isomer::emulator
