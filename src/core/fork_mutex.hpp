#pragma once

#include <mutex>

namespace isomer::core {

/// A mutex that no thread holds at the moment of a fork, so that it is free in the child, where the thread
/// that might have held it does not exist. The fork waits for it, so it is held for short work only, and a
/// thread that holds one takes no second.
class ForkMutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  friend struct ForkMutexes;
  std::mutex mutex_;
  ForkMutex* before_ = nullptr;  ///< the list of all that exist
  ForkMutex* after_ = nullptr;
};

}  // namespace isomer::core
