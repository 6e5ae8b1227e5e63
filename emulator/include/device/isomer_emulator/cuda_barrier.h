// cuda::barrier, cuda::pipeline and cuda::memcpy_async. A block's barriers are those of shared memory that the watch
// knows (counting_barrier.h: the others); a copy is done at once, by the thread that asks for it.
#pragma once

#include "cuda_atomic.h"
#include "hopper.h"

namespace cuda {

template <::std::size_t Alignment>
struct aligned_size_t {
  static constexpr ::std::size_t align = Alignment;
  ::std::size_t value;
  explicit constexpr aligned_size_t(::std::size_t bytes) : value(bytes) {}
  constexpr operator ::std::size_t() const { return value; }
};

template <thread_scope Scope, class Completion = void>
class barrier;

/// Of the block: a barrier of shared memory.
template <>
class barrier<thread_scope_block, void> {
 public:
  using arrival_token = unsigned;
  barrier() = default;
  explicit barrier(::std::ptrdiff_t expected) { start(expected); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  arrival_token arrive(::std::ptrdiff_t count = 1) {
    const arrival_token token = isomer_emulator_barrier_parity(address());
    isomer_emulator_barrier_arrive(address(), static_cast<unsigned>(count), 0);
    return token;
  }
  void wait(arrival_token token) const { isomer_emulator_barrier_wait(address(), token, 0); }
  void wait_parity(bool parity) const { wait(parity); }
  void arrive_and_wait() { wait(arrive()); }
  void arrive_and_drop() { isomer_emulator_barrier_drop(address(), 1); }
  bool try_wait(arrival_token token) const { return isomer_emulator_barrier_wait(address(), token, 1) != 0; }
  bool try_wait_parity(bool parity) const { return try_wait(parity); }
  static constexpr ::std::ptrdiff_t max() { return (1 << 20) - 1; }

  friend void init(barrier* b, ::std::ptrdiff_t expected) { b->start(expected); }
  unsigned long long* word() { return &word_; }

 private:
  void start(::std::ptrdiff_t expected) {
    isomer_emulator_barrier_init(address(), static_cast<unsigned>(expected));
  }
  unsigned address() const { return isomer_emulator_shared_address(this); }
  unsigned long long word_;
};

}  // namespace cuda

#include "counting_barrier.h"

namespace cuda {

enum class pipeline_role { producer, consumer };

template <thread_scope Scope, ::std::uint8_t Stages>
struct pipeline_shared_state {
  unsigned long long full[Stages], empty[Stages];
};

/// Of one thread: its copies are done already. Of a block: stages that producers fill and consumers empty.
template <thread_scope Scope>
class pipeline {
 public:
  pipeline() = default;
  template <::std::uint8_t Stages>
  explicit pipeline(pipeline_shared_state<Scope, Stages>* state)
      : full_(isomer_emulator_shared_address(state->full)),
        empty_(isomer_emulator_shared_address(state->empty)),
        stages_(Stages) {}

  void producer_acquire() {
    if (head_ < stages_ || stages_ == 0) return;
    isomer_emulator_barrier_wait(empty_ + 8 * (head_ % stages_), (head_ / stages_ - 1) & 1, 0);
  }
  void producer_commit() {
    if (stages_ > 0) isomer_emulator_barrier_arrive(full_ + 8 * (head_ % stages_), 1, 0);
    ++head_;
  }
  void consumer_wait() { wait_for_stage(tail_); }
  void consumer_release() {
    if (stages_ > 0) isomer_emulator_barrier_arrive(empty_ + 8 * (tail_ % stages_), 1, 0);
    ++tail_;
  }
  bool quit() { return true; }
  void wait_for_all_but(unsigned last) const {
    for (unsigned stage = tail_; stage + last < head_; ++stage) wait_for_stage(stage);
  }

 private:
  void wait_for_stage(unsigned stage) const {
    if (stages_ > 0) isomer_emulator_barrier_wait(full_ + 8 * (stage % stages_), stage / stages_ & 1, 0);
  }
  unsigned full_ = 0, empty_ = 0, stages_ = 0, head_ = 0, tail_ = 0;
};

inline pipeline<thread_scope_thread> make_pipeline() { return {}; }

namespace emulated {
template <class Group, ::std::uint8_t Stages>
ISOMER_EMULATOR_INLINE pipeline<thread_scope_block> started(
    const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, unsigned producers,
    unsigned consumers) {
  if (group.thread_rank() == 0) {
    for (unsigned i = 0; i < Stages; ++i) {
      isomer_emulator_barrier_init(isomer_emulator_shared_address(&state->full[i]), producers);
      isomer_emulator_barrier_init(isomer_emulator_shared_address(&state->empty[i]), consumers);
    }
  }
  group.sync();
  return pipeline<thread_scope_block>(state);
}

/// Every `step`th piece, in words where they are aligned: each is an access that the watch sees.
ISOMER_EMULATOR_INLINE void copy(void* to, const void* from, ::std::size_t bytes, ::std::size_t first,
                                 ::std::size_t step) {
  typedef unsigned __attribute__((may_alias)) Word;
  auto* out = static_cast<char*>(to);
  const auto* in = static_cast<const char*>(from);
  const auto places = reinterpret_cast<::std::uintptr_t>(to) | reinterpret_cast<::std::uintptr_t>(from);
  const ::std::size_t words = places % 4 == 0 ? bytes / 4 : 0;
  for (::std::size_t i = first; i < words; i += step)
    reinterpret_cast<Word*>(out)[i] = reinterpret_cast<const Word*>(in)[i];
  for (::std::size_t i = 4 * words + first; i < bytes; i += step) out[i] = in[i];
}
}  // namespace emulated

/// Every thread of the group fills and empties.
template <class Group, ::std::uint8_t Stages>
ISOMER_EMULATOR_INLINE pipeline<thread_scope_block> make_pipeline(
    const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state) {
  const auto all = static_cast<unsigned>(group.size());
  return emulated::started(group, state, all, all);
}
/// The group is the whole block.
template <class Group, ::std::uint8_t Stages>
ISOMER_EMULATOR_INLINE pipeline<thread_scope_block> make_pipeline(
    const Group& group, pipeline_shared_state<thread_scope_block, Stages>* state, pipeline_role role) {
  const auto producers = static_cast<unsigned>(__syncthreads_count(role == pipeline_role::producer));
  return emulated::started(group, state, producers, static_cast<unsigned>(group.size()) - producers);
}

template <unsigned Last, thread_scope Scope>
ISOMER_EMULATOR_INLINE void pipeline_consumer_wait_prior(pipeline<Scope>& pipe) {
  pipe.wait_for_all_but(Last);
}

template <class Size, class Sync>
ISOMER_EMULATOR_INLINE void memcpy_async(void* to, const void* from, Size bytes, Sync&) {
  emulated::copy(to, from, static_cast<::std::size_t>(bytes), 0, 1);
}
template <class Group, class Size, class Sync>
ISOMER_EMULATOR_INLINE void memcpy_async(const Group& group, void* to, const void* from, Size bytes, Sync&) {
  emulated::copy(to, from, static_cast<::std::size_t>(bytes), group.thread_rank(), group.size());
}

}  // namespace cuda

#include "cuda_bulk.h"
