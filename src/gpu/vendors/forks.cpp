#include "gpu/vendors/forks.hpp"

#include <pthread.h>

#include <atomic>

namespace isomer::gpu {
namespace {

std::atomic<int> count{0};

}  // namespace

int forks() {
  static const int watching =
      ::pthread_atfork(nullptr, nullptr, [] { count.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(watching);
  return count.load(std::memory_order_relaxed);
}

}  // namespace isomer::gpu
