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
  double seconds = 0;  ///< time of the whole run on the host
};

/// Calls `listener` for every plan that runs, in any thread, until the returned object goes. While nobody
/// listens a call pays one relaxed load.
class Listening {
 public:
  explicit Listening(std::function<void(const LaunchRecord&)> listener);
  ~Listening();
  Listening(const Listening&) = delete;
  Listening& operator=(const Listening&) = delete;

 private:
  std::function<void(const LaunchRecord&)> listener_;
};

bool somebody_listens();
void publish(const LaunchRecord& record);

}  // namespace isomer::core
