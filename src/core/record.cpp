#include "core/record.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace isomer::core {
namespace {

std::atomic<int> listening{0};

struct Listeners {
  std::mutex mutex;
  std::vector<const std::function<void(const LaunchRecord&)>*> list;
};

Listeners& listeners() {
  static Listeners all;
  return all;
}

}  // namespace

Listening::Listening(std::function<void(const LaunchRecord&)> listener) : listener_(std::move(listener)) {
  const std::lock_guard lock(listeners().mutex);
  listeners().list.push_back(&listener_);
  listening.fetch_add(1, std::memory_order_relaxed);
}

Listening::~Listening() {
  const std::lock_guard lock(listeners().mutex);
  std::erase(listeners().list, &listener_);
  listening.fetch_sub(1, std::memory_order_relaxed);
}

bool somebody_listens() { return listening.load(std::memory_order_relaxed) > 0; }

void publish(const LaunchRecord& record) {
  const std::lock_guard lock(listeners().mutex);
  for (const auto* listener : listeners().list) (*listener)(record);
}

}  // namespace isomer::core
