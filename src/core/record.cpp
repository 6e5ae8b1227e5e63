#include "core/record.hpp"

#include "core/fork_mutex.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace isomer::core {
namespace {

std::atomic<int> listening{0}, timing{0};

struct Listeners {
  ForkMutex mutex;
  std::vector<const std::function<void(const LaunchRecord&)>*> list;
};

Listeners& listeners() {
  static Listeners all;
  return all;
}

}  // namespace

Listening::Listening(std::function<void(const LaunchRecord&)> listener, bool timed)
    : listener_(std::move(listener)), timed_(timed) {
  const std::lock_guard lock(listeners().mutex);
  listeners().list.push_back(&listener_);
  if (timed_) timing.fetch_add(1, std::memory_order_relaxed);
  listening.fetch_add(1, std::memory_order_relaxed);
}

Listening::~Listening() {
  const std::lock_guard lock(listeners().mutex);
  std::erase(listeners().list, &listener_);
  listening.fetch_sub(1, std::memory_order_relaxed);
  if (timed_) timing.fetch_sub(1, std::memory_order_relaxed);
}

bool somebody_listens() { return listening.load(std::memory_order_relaxed) > 0; }
bool somebody_times() { return timing.load(std::memory_order_relaxed) > 0; }

void publish(const LaunchRecord& record) {
  const std::lock_guard lock(listeners().mutex);
  for (const auto* listener : listeners().list) (*listener)(record);
}

}  // namespace isomer::core
