#pragma once

#include "core/plan.hpp"

#include <functional>
#include <string>

namespace isomer::core {

/// What really ran.
struct LaunchRecord {
  std::string op;
  std::string implementation;
  Description description;
  double seconds = 0;  ///< time of the whole run on the host; 0 where nobody asked for it
};

/// Calls `listener` for every plan that runs, in any thread, until the returned object goes. While nobody
/// listens a call pays one relaxed load. A timed one waits for each run's end, so nothing can be captured
/// into a graph meanwhile; an untimed one changes nothing of the program.
class Listening {
 public:
  explicit Listening(std::function<void(const LaunchRecord&)> listener, bool timed = true);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  std::function<void(const LaunchRecord&)> listener_;
  bool timed_;
};

bool somebody_listens();
bool somebody_times();
void publish(const LaunchRecord& record);

}  // namespace isomer::core
