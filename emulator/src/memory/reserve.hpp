// Addresses for more than is ever used: pages come as zeros when they are first touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace isomer::emulator {

template <class T>
T* reserve(std::size_t count) {
  void* p = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return static_cast<T*>(p);
}
/// Most of it will be touched: large pages cost less.
template <class T>
void expect_many(T* begin, std::size_t count) {
  constexpr std::uintptr_t kPage = 4096;
  const auto first = reinterpret_cast<std::uintptr_t>(begin) / kPage * kPage;
  const auto end = reinterpret_cast<std::uintptr_t>(begin + count) / kPage * kPage;
  if (end > first) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}
/// They are zeros again.
template <class T>
void forget_pages(T* begin, std::size_t count) {
  madvise(const_cast<void*>(static_cast<const volatile void*>(begin)), count * sizeof(T), MADV_DONTNEED);
}

}  // namespace isomer::emulator
