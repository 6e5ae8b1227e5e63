// The stop watch of CUDA's samples, in milliseconds.
#pragma once

#include <chrono>

class StopWatchInterface {
 public:
  virtual ~StopWatchInterface() = default;
  virtual void start() {
    begin_ = Clock::now();
    running_ = true;
  }
  virtual void stop() {
    last_ = since();
    total_ += last_;
    ++sessions_;
    running_ = false;
  }
  virtual void reset() {
    last_ = total_ = 0;
    sessions_ = 0;
    begin_ = Clock::now();
  }
  virtual float getTime() { return total_ + (running_ ? since() : 0); }
  virtual float getAverageTime() { return sessions_ > 0 ? total_ / static_cast<float>(sessions_) : 0; }

 private:
  using Clock = std::chrono::steady_clock;
  float since() const { return std::chrono::duration<float, std::milli>(Clock::now() - begin_).count(); }
  Clock::time_point begin_ = Clock::now();
  float last_ = 0, total_ = 0;
  int sessions_ = 0;
  bool running_ = false;
};
using StopWatchLinux = StopWatchInterface;

inline bool sdkCreateTimer(StopWatchInterface** timer) {
  *timer = new StopWatchInterface;
  return true;
}
inline bool sdkDeleteTimer(StopWatchInterface** timer) {
  delete *timer;
  *timer = nullptr;
  return true;
}
inline bool sdkStartTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->start();
  return true;
}
inline bool sdkStopTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->stop();
  return true;
}
inline bool sdkResetTimer(StopWatchInterface** timer) {
  if (*timer) (*timer)->reset();
  return true;
}
inline float sdkGetTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getTime() : 0; }
inline float sdkGetAverageTimerValue(StopWatchInterface** timer) { return *timer ? (*timer)->getAverageTime() : 0; }
