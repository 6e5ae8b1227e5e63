#pragma once

#include "lab/ask/port.hpp"
#include "lab/candidate/recording.hpp"

#include <memory>

namespace isomer::lab {

/// A port and the original that it points to.
struct OwnedPort {
  std::shared_ptr<const oracle::Original> original;
  std::shared_ptr<const Port> port;
};

/// The port with its parameters in the order that recorded calls have them in, where every one of their
/// arguments goes by a parameter's name and the order is another: an output in front of an option, say. Null
/// pointers where the order is the port's own, or names say nothing.
OwnedPort in_callers_order(const Port& port, const Recording& recording);

}  // namespace isomer::lab
