#pragma once

#include <isomer/queue.hpp>

#include "core/fork_mutex.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

namespace isomer::core {

/// Blocks of device memory of one queue that no call holds at the moment. Kept until the queue and its leases
/// go, and longer ones take the place of short ones. A block may be given back while the work that uses it is
/// still queued: the next that takes it comes after it in the queue.
class WorkspacePool {
 public:
  struct Block {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  virtual ~WorkspacePool() = default;
  Block take(std::size_t bytes);
  void give(Block block);

 protected:
  /// A graph is being captured from the queue: nothing may be allocated or freed.
  virtual bool capturing() { return false; }
  /// Null when there is none. Sizes are multiples of 4096 bytes.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;
  /// A derived class calls it in its destructor.
  void release_all() noexcept;

 private:
  ForkMutex mutex_;
  std::vector<Block> free_;
  /// Graphs have their addresses and may run at any time: never freed before the pool.
  std::unordered_set<void*> captured_;
};

/// How the backends make queues and find their own state in them.
struct QueueAccess;

}  // namespace isomer::core

namespace isomer {

/// What a queue is on one kind of device. src/core has the CPU's, src/gpu the GPUs'.
struct Queue::State {
  State(Device on, QueueOptions with);
  virtual ~State() = default;
  virtual void* stream() const { return nullptr; }
  virtual void synchronize() const {}
  /// Copies device memory to the host, after everything that was put into the queue before.
  virtual void fetch(void* host, const void* device, std::size_t bytes) const;

  const std::uint64_t id;  ///< of no other queue of this process
  Device device;
  QueueOptions options;
  std::shared_ptr<core::WorkspacePool> pool;
};

}  // namespace isomer

namespace isomer::core {

struct QueueAccess {
  using State = Queue::State;
  static Queue make(std::shared_ptr<State> state) { return Queue(std::move(state)); }
  static const State& state(const Queue& queue) { return *queue.state_; }
  static bool preparing(const Queue& queue) { return queue.preparing_; }
  /// The queue itself, where it is one that prepares.
  static Queue ready(Queue queue) {
    queue.preparing_ = false;
    return queue;
  }
};

}  // namespace isomer::core
