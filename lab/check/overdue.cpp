#include "lab/check/overdue.hpp"

#include <utility>

namespace isomer::lab {

Overdue::Overdue(std::chrono::duration<double> patience, Late late)
    : patience_(patience), late_(std::move(late)) {
  if (late_) thread_ = std::thread([this] { watch(); });
}

Overdue::~Overdue() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  ends_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Overdue::Work::Work(Overdue& overdue, std::string line, std::string implementation)
    : overdue_(overdue), line_(std::move(line)), implementation_(std::move(implementation)) {
  const std::lock_guard lock(overdue_.mutex_);
  place_ = overdue_.working_.insert(overdue_.working_.end(), this);
}

Overdue::Work::~Work() {
  const std::lock_guard lock(overdue_.mutex_);
  overdue_.working_.erase(place_);
}

void Overdue::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, patience_ / 4, [&] { return ended_; })) {
    const auto now = std::chrono::steady_clock::now();
    for (Work* work : working_) {
      const std::chrono::duration<double> taken = now - work->begin_;
      if (work->told_ || taken < patience_) continue;
      work->told_ = true;
      late_(work->line_, work->implementation_, taken.count());
    }
  }
}

}  // namespace isomer::lab
