#pragma once

#include <isomer/executor.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace isomer::lab {

/// Calls body(i) for every i below `count` on `jobs` threads (0: one per CPU), in order where there is one.
/// The first exception ends the work and is thrown here.
template <class Body>
void parallel(std::size_t count, int jobs, Body&& body) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failure;
  const auto serve = [&] {
    for (std::size_t i; (i = next.fetch_add(1)) < count;) {
      try {
        body(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
        next.store(count);
        return;
      }
    }
  };
  const auto most = static_cast<std::size_t>(jobs > 0 ? jobs : Executor::standard()->concurrency());
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(most, count); ++i) threads.emplace_back(serve);
  serve();
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace isomer::lab
