#pragma once

#include "python.hpp"
#include "view.hpp"

#include <isomer/plan.hpp>
#include <isomer/queue.hpp>

#include <optional>
#include <string>

namespace isomer::python {

/// A queue as Python has it: one that may be closed.
struct PyQueue {
  std::optional<Queue> queue;
  /// The queue. Throws Error bad_argument where it is closed.
  const Queue& open(std::string_view op) const;
};

/// Where a call without a queue runs: on the CPU's queue of this process, or on the current stream of PyTorch
/// or CuPy, or on a stream of its own for whoever names none. Throws Error device, Raised.
const Queue& default_queue(Device device, Family family);

/// "cpu", "cuda", "cuda:1", "hip:0". Throws Error bad_argument.
Device device_named(const std::string& name);

}  // namespace isomer::python
