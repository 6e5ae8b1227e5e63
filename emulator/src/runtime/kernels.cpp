#include "runtime/kernels.hpp"

#include <dlfcn.h>
#include <link.h>

#include <deque>
#include <map>
#include <mutex>

#include "memory/module_images.hpp"
#include "runtime/limits.hpp"

namespace isomer::emulator {
namespace {

/// A kernel and where the image of its module begins.
struct Registered {
  KernelEntry entry;
  const void* image;
};

/// Modules register their kernels while the loader is locked, so nothing that asks the loader may be done
/// with this mutex in hand.
std::mutex kernels_mutex;
std::deque<Registered> kernels;
std::map<const void*, std::size_t> dynamic_shared;  // granted by cudaFuncSetAttribute

std::string_view last_name(std::string_view name) {
  const auto args = name.find('<');
  std::string_view base = name.substr(0, args);
  const auto colon = base.rfind("::");
  return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

std::string without_blanks(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c != ' ' && c != '(' && c != ')') out += c;
  }
  return out;
}

}  // namespace

namespace {

template <class Of>
const KernelEntry* find(std::string_view name, Of of) {
  std::lock_guard lock(kernels_mutex);
  const std::string wanted = without_blanks(name);
  const KernelEntry* loose = nullptr;
  for (const Registered& k : kernels) {
    if (!of(k)) continue;
    const std::string known = without_blanks(k.entry.name);
    if (known == wanted) return &k.entry;
    if (last_name(known) == last_name(wanted)) loose = &k.entry;
  }
  return loose;
}

}  // namespace

const KernelEntry* find_kernel(std::string_view name) {
  return find(name, [](const Registered&) { return true; });
}

const KernelEntry* find_kernel(std::string_view name, void* module) {
  link_map* map = nullptr;
  if (dlinfo(module, RTLD_DI_LINKMAP, &map) != 0) return find_kernel(name);
  return find(name,
              [&](const Registered& k) { return reinterpret_cast<std::uintptr_t>(k.image) == map->l_addr; });
}

const KernelEntry* find_kernel(const void* function) {
  std::lock_guard lock(kernels_mutex);
  for (const Registered& k : kernels) {
    if (k.entry.function == function) return &k.entry;
  }
  return nullptr;
}

std::vector<const KernelEntry*> all_kernels() {
  std::lock_guard lock(kernels_mutex);
  std::vector<const KernelEntry*> all;
  for (const Registered& k : kernels) all.push_back(&k.entry);
  return all;
}

bool is_named(std::string_view kernel, std::string_view name) {
  const std::string known = without_blanks(kernel), wanted = without_blanks(name);
  if (known == wanted || last_name(known) == wanted) return true;
  return last_name(std::string_view(known).substr(0, known.find('<'))) == wanted;
}

std::string_view parameter_kinds(std::string_view kernel) {
  const KernelEntry* k = find_kernel(kernel);
  if (!k) k = find_kernel(kernel.substr(0, kernel.find('<')));
  return k && k->parameters ? std::string_view(k->parameters) : std::string_view();
}

std::size_t max_dynamic_shared(const void* function, std::string_view) {
  std::lock_guard lock(kernels_mutex);
  std::size_t most = limits().shared_bytes;
  if (function) {
    if (const auto it = dynamic_shared.find(function); it != dynamic_shared.end())
      most = std::max(most, it->second);
    return most;
  }
  // A template's address is not known at the launch: what was granted to any kernel holds.
  for (const auto& [f, bytes] : dynamic_shared) most = std::max(most, bytes);
  return most;
}

void set_max_dynamic_shared(const void* function, std::size_t bytes) {
  std::lock_guard lock(kernels_mutex);
  dynamic_shared[function] = bytes;
}

}  // namespace isomer::emulator

extern "C" {
__attribute__((visibility("default"))) void isomer_emulator_register_kernel(
    const isomer::emulator::KernelEntry* entry) {
  using namespace isomer::emulator;
  // A template's entry has no code of its own; its file is the module's by the entry's name.
  Dl_info info{};
  dladdr(entry->invoke ? reinterpret_cast<const void*>(entry->invoke) : static_cast<const void*>(entry->name),
         &info);
  std::lock_guard lock(kernels_mutex);
  kernels.push_back({*entry, info.dli_fbase});
}
__attribute__((visibility("default"))) void isomer_emulator_register_symbol(
    const isomer::emulator::SymbolEntry* entry) {
  isomer::emulator::add_symbol(*entry);
}
__attribute__((visibility("default"))) void isomer_emulator_unregister(const void* module_address) {
  using namespace isomer::emulator;
  forget_module(module_address);
  Dl_info of{};
  if (dladdr(module_address, &of) == 0) return;
  forget_addresses_of(of.dli_fbase);
  std::lock_guard lock(kernels_mutex);
  std::erase_if(kernels, [&](const Registered& k) { return k.image == of.dli_fbase; });
}
}
