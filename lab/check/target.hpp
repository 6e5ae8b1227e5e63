#pragma once

#include <isomer/queue.hpp>

#include "core/plan.hpp"

#include <map>
#include <string>

namespace isomer::lab {

/// An implementation on one device of its kind.
struct Target {
  const core::Implementation* implementation = nullptr;
  Device device{};

  Target(const core::Implementation* what, Device where) : implementation(what), device(where) {}
  /// On the first device of its kind.
  Target(const core::Implementation* what) : Target(what, Device{what->device(), 0}) {}

  /// "cpu/avx2"; "emulated/portable:1" on another device than the first.
  std::string name() const {
    return implementation->name() + (device.index > 0 ? ":" + std::to_string(device.index) : "");
  }
};

/// The queues of one thread, made when they are asked for.
class Queues {
 public:
  const Queue& on(Device device) {
    const auto key = std::pair(device.type, device.index);
    const auto at = made_.find(key);
    return at != made_.end() ? at->second : made_.emplace(key, Queue::on(device)).first->second;
  }

 private:
  std::map<std::pair<DeviceType, int>, Queue> made_;
};

}  // namespace isomer::lab
