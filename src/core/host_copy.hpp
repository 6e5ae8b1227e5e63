#pragma once

#include "core/call_copy.hpp"

#include <cstddef>
#include <vector>

namespace isomer::core {

/// A call on a device whose integer tensors (cu_seqlens, page tables, lengths, dest) have been copied to the
/// host, for the clauses that read them. Its other tensors still point to the device.
class HostCopy {
 public:
  /// Waits for everything that was put into the queue before.
  HostCopy(const Queue& queue, const Call& call);
  const Call& call() const { return copy_.call(); }

 private:
  CallCopy copy_;
  std::vector<std::vector<std::byte>> content_;
};

}  // namespace isomer::core
