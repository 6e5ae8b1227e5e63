#include "module/shared_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include <fmt/format.h>

#include "memory/pages.hpp"

namespace isomer::emulator {

std::shared_ptr<void> fresh_storage(std::uint64_t bytes) {
  if (bytes >= kSparseBytes) {
    void* p =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) throw MachineError(fmt::format("no memory for a storage of {} bytes", bytes));
    return {p, [bytes](void* q) { munmap(q, bytes); }};
  }
  void* p = ::operator new (std::max<std::uint64_t>(bytes, 1), std::align_val_t{256});
  std::memset(p, 0, bytes);
  return {p, [](void* q) { ::operator delete (q, std::align_val_t{256}); }};
}

}  // namespace isomer::emulator
