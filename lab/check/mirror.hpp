#pragma once

#include "core/call_copy.hpp"
#include "oracle/problem.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace isomer::lab {

/// A problem's buffers on a queue's device, guard zones and gaps included, so that what happened to every
/// byte of them can be judged on the host. On the CPU the buffers themselves.
class Mirror {
 public:
  /// Throws Error unsupported where the device cannot hold the problem.
  Mirror(const oracle::Problem& problem, const Queue& queue);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// The problem's call with every tensor on the device.
  const core::Call& call() const { return copy_.call(); }
  void upload();    ///< host → device, in the queue
  void download();  ///< device → host, after everything in the queue

 private:
  /// One allocation: a buffer, or all buffers that one sparse tensor spans.
  struct Region {
    std::byte* host;
    std::size_t bytes;
    std::byte* device;
    std::vector<const oracle::Problem::Buffer*> buffers;
  };
  void place(const oracle::Problem& problem);
  void release();

  const Queue queue_;
  std::vector<Region> regions_;
  core::CallCopy copy_;
};

}  // namespace isomer::lab
