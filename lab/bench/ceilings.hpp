#pragma once

#include <isomer/executor.hpp>

#include <cstdint>

namespace isomer::lab {

/// One round of a machine's ceiling, to be taken between the rounds of what is measured against it.
class Ceilings {
 public:
  explicit Ceilings(Executor& executor);
  ~Ceilings();

  /// Bytes per second (read plus written) of a threaded copy of buffers far larger than the caches.
  double copy_rate();
  /// FLOP per second of independent f32 multiply-adds in registers on every thread, with the best target that
  /// runs here.
  double fma_rate();

 private:
  Executor& executor_;
  struct Buffers;
  Buffers* buffers_;
};

}  // namespace isomer::lab
