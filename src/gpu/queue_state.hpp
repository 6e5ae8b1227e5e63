#pragma once

#include "core/queue_state.hpp"
#include "gpu/kernels.hpp"

namespace isomer::gpu {

/// A stream of one device.
class QueueState : public core::QueueAccess::State {
 public:
  /// A null stream makes one, which goes with the queue.
  QueueState(Vendor& vendor, int device, QueueOptions options, Stream stream);
  ~QueueState() override;

  void* stream() const override { return stream_; }
  void synchronize() const override { vendor_.synchronize(device.index, stream_); }
  void fetch(void* host, const void* from, std::size_t bytes) const override;

  Vendor& vendor() const { return vendor_; }
  const Facts& facts() const { return facts_; }
  Kernels& kernels() const { return kernels_; }

 private:
  Vendor& vendor_;
  const Facts& facts_;
  Kernels& kernels_;
  Stream stream_;
  bool owned_;
};

/// The state of a queue that is on a GPU or on the emulator.
inline const QueueState& state_of(const Queue& queue) {
  return static_cast<const QueueState&>(core::QueueAccess::state(queue));
}

}  // namespace isomer::gpu
