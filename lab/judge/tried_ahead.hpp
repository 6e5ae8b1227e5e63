#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace isomer::lab {

/// Answers of one question about each of many things, which are asked for in their order and found by a few
/// threads meanwhile.
class TriedAhead {
 public:
  /// `ask` is called by several threads at once, with indices below `count`.
  TriedAhead(std::size_t count, std::function<bool(std::size_t)> ask);
  TriedAhead(const TriedAhead&) = delete;
  TriedAhead& operator=(const TriedAhead&) = delete;
  /// Waits for what is being asked; nothing else is begun.
  ~TriedAhead();

  /// Waits until it is known. Indices are asked for one after the other. Throws what `ask` threw.
  bool operator[](std::size_t index);

 private:
  enum class Known : unsigned char { no, yes_it_is, it_is_not, thrown };
  void work();

  const std::function<bool(std::size_t)> ask_;
  std::mutex mutex_;
  std::condition_variable known_, wanted_;
  std::vector<Known> answers_;
  std::vector<std::thread> threads_;
  std::size_t next_ = 0, asked_for_ = 0;
  bool stopped_ = false;
  std::exception_ptr thrown_;
};

}  // namespace isomer::lab
