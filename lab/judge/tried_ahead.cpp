#include "lab/judge/tried_ahead.hpp"

#include <algorithm>
#include <utility>

namespace isomer::lab {
namespace {

constexpr unsigned kMostThreads = 4;
constexpr std::size_t kAhead =
    32;  ///< of what is asked for: with an answer that ends the search they are for nothing

}  // namespace

TriedAhead::TriedAhead(std::size_t count, std::function<bool(std::size_t)> ask)
    : ask_(std::move(ask)), answers_(count, Known::no) {
  const unsigned processors = std::thread::hardware_concurrency();
  const std::size_t threads = std::min<std::size_t>(count, std::clamp(processors, 1u, kMostThreads));
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

TriedAhead::~TriedAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  wanted_.notify_all();
  for (std::thread& each : threads_) each.join();
}

void TriedAhead::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    wanted_.wait(lock, [&] { return stopped_ || next_ == answers_.size() || next_ < asked_for_ + kAhead; });
    if (stopped_ || next_ == answers_.size()) return;
    const std::size_t own = next_++;
    lock.unlock();
    Known known = Known::thrown;
    std::exception_ptr thrown;
    try {
      known = ask_(own) ? Known::yes_it_is : Known::it_is_not;
    } catch (...) {
      thrown = std::current_exception();
    }
    lock.lock();
    answers_[own] = known;
    if (thrown) thrown_ = thrown;
    known_.notify_all();
  }
}

bool TriedAhead::operator[](std::size_t index) {
  std::unique_lock lock(mutex_);
  asked_for_ = index;
  wanted_.notify_all();
  known_.wait(lock, [&] { return answers_[index] != Known::no; });
  if (answers_[index] == Known::thrown) std::rethrow_exception(thrown_);
  return answers_[index] == Known::yes_it_is;
}

}  // namespace isomer::lab
