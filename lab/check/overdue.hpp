#pragma once

#include "lab/check/target.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace isomer::lab {

/// Called once with each case that has run for so many seconds on one implementation; from a thread of its
/// own.
using Late = std::function<void(const std::string& line, const std::string& implementation, double seconds)>;

/// Names the cases that do not come to their end. A kernel that hangs a device leaves no other trace.
class Overdue {
 public:
  Overdue(std::chrono::duration<double> patience, Late late);
  ~Overdue();
  Overdue(const Overdue&) = delete;
  Overdue& operator=(const Overdue&) = delete;

  /// One implementation at work on one case, from its making to its end.
  class Work {
   public:
    Work(Overdue& overdue, std::string line, std::string implementation);
    ~Work();
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

   private:
    friend class Overdue;
    Overdue& overdue_;
    std::string line_, implementation_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    bool told_ = false;
    std::list<Work*>::iterator place_;
  };

 private:
  void watch();

  const std::chrono::duration<double> patience_;
  const Late late_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  std::list<Work*> working_;
  std::thread thread_;
};

}  // namespace isomer::lab
