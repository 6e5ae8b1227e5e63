#pragma once

#include "core/queue_state.hpp"
#include "gpu/kernels.hpp"

#include <mutex>
#include <vector>

namespace isomer::gpu {

/// A stream of one device.
class QueueState : public core::QueueAccess::State {
 public:
  /// A null stream makes one, which goes with the queue.
  QueueState(Vendor& vendor, int device, QueueOptions options, Stream stream);
  ~QueueState() override;

  void* stream() const override { return stream_; }
  void synchronize() const override;
  void fetch(void* host, const void* from, std::size_t bytes) const override;

  Vendor& vendor() const { return vendor_; }
  const Facts& facts() const { return facts_; }
  Kernels& kernels() const { return kernels_; }
  /// Device memory of at least that many bytes, zero before the first kernel of this queue that sees it;
  /// every kernel that ends leaves it zero. The same for all calls, until one asks for more.
  void* zeroed(std::size_t bytes) const;
  void launch(const Launch& launch) const;

 private:
  /// Runs it; where it throws, the scratch is zeroed before the next kernel has it.
  template <class Function>
  void watched(Function&& function) const;

  Vendor& vendor_;
  const Facts& facts_;
  Kernels& kernels_;
  Stream stream_;
  bool owned_;

  struct Zeroed {
    void* data;
    std::size_t bytes;
  };
  mutable std::mutex zeroed_mutex_;
  mutable std::vector<Zeroed> zeroed_;  ///< the last is the largest; a captured graph may have any of them
  mutable bool spoiled_ = false;        ///< a kernel failed, and may have left in them what it counted
};

/// The state of a queue that is on a GPU or on the emulator.
inline const QueueState& state_of(const Queue& queue) {
  return static_cast<const QueueState&>(core::QueueAccess::state(queue));
}

}  // namespace isomer::gpu
