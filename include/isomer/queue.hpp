#pragma once

#include <isomer/executor.hpp>
#include <isomer/tensor.hpp>

#include <memory>
#include <string>
#include <utility>

namespace isomer {

namespace core {
struct QueueAccess;
}

/// How ops of a queue are chosen and run.
struct QueueOptions {
  /// Validate device data (cu_seqlens, page tables, lengths, dest) before each op, at the price of a
  /// synchronisation. On the CPU it always is. ISOMER_CHECKED=1 turns it on for every queue.
  bool checked = false;
  /// Take this implementation ("cpu/avx2") or fail; empty lets the registry choose. A name that no op has is
  /// refused when the queue is made.
  std::string implementation = {};
  /// CPU work runs here; null takes Executor::standard().
  std::shared_ptr<Executor> executor = {};
};

/// Where ops run, in order. Copies share the queue. Many queues and threads at once are safe.
class ISOMER_API Queue {
 public:
  /// The GPU where there is one, otherwise the CPU. Throws Error bad_argument for an implementation that no
  /// op has, and for an executor whose concurrency is not 1 to Executor::kMaxConcurrency.
  static Queue best(QueueOptions options = {});
  /// The CPU: an op has finished when its call returns.
  static Queue cpu(QueueOptions options = {});

  /// A stream of that device; `stream` is a CUstream or hipStream_t of the caller's, which outlives the
  /// queue, and null makes one. On the CPU, whose index is 0, the same as cpu(). Throws Error device with
  /// what this machine lacks, bad_argument as best() does.
  static Queue on(Device device, QueueOptions options = {}, void* stream = nullptr);

  /// The same queue for making ready what will run on it. An op called on it does all that a first call does
  /// but computing: it validates, chooses, compiles and loads its kernels and makes the queue's workspace
  /// large enough; it writes nothing. Afterwards a call with tensors of the same shapes, strides, alignment
  /// and dtypes on this queue compiles, loads and allocates nothing, and may be captured into a graph. A
  /// captured graph holds memory of the queue's: the queue must outlive it, and the graph is launched into
  /// the queue's stream. Throws as the op does.
  Queue preparing() const;

  Device device() const;                ///< where its ops run
  void* stream() const;                 ///< null on the CPU
  const QueueOptions& options() const;  ///< as it was made with
  Executor& executor() const;           ///< where its CPU work runs

  /// Waits until everything that was put into the queue has finished.
  void synchronize() const;

  /// Memory for one op call, kept in the queue's pool between calls. Empty leases hold no memory.
  class ISOMER_API Lease {
   public:
    Lease() = default;                            ///< an empty lease
    Lease(Lease&& other) noexcept;                ///< the other is empty afterwards
    Lease& operator=(Lease&& other) noexcept;     ///< gives its memory back and takes the other's
    ~Lease();                                     ///< gives the memory back to the pool
    void* data() const { return data_; }          ///< the memory; null where it is empty
    std::size_t bytes() const { return bytes_; }  ///< at least what was asked for

   private:
    friend class Queue;
    std::shared_ptr<void> state_;
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
  };
  /// At least that many bytes of the queue's device, 64-byte aligned, for work that is put into this queue
  /// while the lease lasts. Throws out_of_memory.
  Lease lease(std::size_t bytes) const;

 private:
  friend struct core::QueueAccess;
  struct State;
  explicit Queue(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
  bool preparing_ = false;
};

}  // namespace isomer
