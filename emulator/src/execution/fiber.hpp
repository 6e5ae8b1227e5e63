// Fibers: stacks that are switched by hand. A fiber is never unwound: when a launch is abandoned its stacks
// are simply used again, because a device thread has no destructors that anyone could rely on.
#pragma once

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <vector>

namespace isomer::emulator {

inline constexpr std::size_t kStackBytes = 256 * 1024;

struct Fiber {
  boost::context::detail::fcontext_t context = nullptr;
  void* record = nullptr;    ///< the thread sanitizer's (followed_stacks.hpp)
  std::byte* low = nullptr;  ///< lowest usable address; the page below it is inaccessible
  std::byte* high = nullptr;
  bool contains(const void* address) const { return address >= low && address < high; }
};

/// Stacks are mapped in slabs and kept for the life of the worker: a switch costs a dozen instructions, a
/// mapping costs a system call.
class FiberPool {
 public:
  using Body = void (*)(boost::context::detail::transfer_t);
  explicit FiberPool(Body body) : body_(body) {}
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  ~FiberPool();

  Fiber* acquire();      ///< an idle fiber, at the top of its loop
  void release(Fiber*);  ///< parked at the top of its loop
  void abandon(Fiber*);  ///< stopped anywhere: its stack starts afresh
  bool is_guard(const void* address) const;

 private:
  void grow();
  Body body_;
  std::vector<Fiber*> idle_;
  std::vector<Fiber*> all_;
  std::vector<std::pair<std::byte*, std::size_t>> slabs_;
};

}  // namespace isomer::emulator
