#include "execution/fiber.hpp"

#include <sys/mman.h>

#include <new>

#include "execution/followed_stacks.hpp"

namespace isomer::emulator {
namespace {
constexpr std::size_t kStackPage = 4096;
constexpr std::size_t kStacksPerSlab = 32;
// Each guard page costs two of the mappings that a process may have, 65530 as systems come: the stacks beyond
// have none.
constexpr std::size_t kGuarded = 12288;
}  // namespace

FiberPool::~FiberPool() {
  for (Fiber* fiber : all_) {
    followed::end_of_stack(fiber->record);
    delete fiber;
  }
  for (auto [base, bytes] : slabs_) munmap(base, bytes);
}

void FiberPool::grow() {
  const std::size_t stride = kStackBytes + kStackPage;
  const std::size_t bytes = stride * kStacksPerSlab;
  void* base =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) throw std::bad_alloc();
  // A huge page per stack would cost two megabytes for a thread that touches four kilobytes.
  madvise(base, bytes, MADV_NOHUGEPAGE);
  auto* low = static_cast<std::byte*>(base);
  slabs_.emplace_back(low, bytes);
  for (std::size_t i = 0; i < kStacksPerSlab; ++i) {
    if (all_.size() < kGuarded) mprotect(low + i * stride, kStackPage, PROT_NONE);
    auto* fiber = new Fiber{nullptr, followed::new_stack(), low + i * stride + kStackPage, low + (i + 1) * stride};
    fiber->context = boost::context::detail::make_fcontext(fiber->high, kStackBytes, body_);
    all_.push_back(fiber);
    idle_.push_back(fiber);
  }
}

Fiber* FiberPool::acquire() {
  if (idle_.empty()) grow();
  Fiber* fiber = idle_.back();
  idle_.pop_back();
  return fiber;
}

void FiberPool::release(Fiber* fiber) { idle_.push_back(fiber); }

void FiberPool::abandon(Fiber* fiber) {
  // What was called on it never returns.
  followed::end_of_stack(fiber->record);
  fiber->record = followed::new_stack();
  fiber->context = boost::context::detail::make_fcontext(fiber->high, kStackBytes, body_);
  idle_.push_back(fiber);
}

bool FiberPool::is_guard(const void* address) const {
  const auto* at = static_cast<const std::byte*>(address);
  for (const Fiber* fiber : all_) {
    if (at >= fiber->low - kStackPage && at < fiber->low) return true;
  }
  return false;
}

}  // namespace isomer::emulator
