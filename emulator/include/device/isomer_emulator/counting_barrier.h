// cuda::barrier of a wider scope than the block, or with a function that the last thread calls: two counters in whatever
// memory it lies.
#pragma once

// Included by cuda_barrier.h.

namespace cuda {

template <thread_scope Scope, class Completion>
class barrier {
  struct Nothing {
    void operator()() const {}
  };
  using Function = ::std::conditional_t<::std::is_void_v<Completion>, Nothing, Completion>;
  using Reach = ::std::conditional_t<Scope == thread_scope_block, ::isomer::emulator::Reach_block,
                                     ::isomer::emulator::Reach>;

 public:
  using arrival_token = unsigned;
  barrier() = default;
  explicit barrier(::std::ptrdiff_t expected, Function completion = Function()) { start(expected, completion); }
  barrier(const barrier&) = delete;
  barrier& operator=(const barrier&) = delete;

  arrival_token arrive(::std::ptrdiff_t count = 1) {
    [[maybe_unused]] const Reach reach;
    const arrival_token token = __atomic_load_n(&phase_, __ATOMIC_RELAXED);
    // Whoever comes last knows what all others did, and the phase carries it to those who wait.
    if (__atomic_fetch_sub(&missing_, static_cast<int>(count), __ATOMIC_ACQ_REL) == count) {
      completion_();
      __atomic_store_n(&missing_, __atomic_load_n(&expected_, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
      __atomic_fetch_add(&phase_, 1u, __ATOMIC_ACQ_REL);
    }
    return token;
  }
  void wait(arrival_token token) const {
    while (!try_wait(token)) isomer_emulator_yield();
  }
  void wait_parity(bool parity) const {
    while (!try_wait_parity(parity)) isomer_emulator_yield();
  }
  void arrive_and_wait() { wait(arrive()); }
  void arrive_and_drop() {
    {
      [[maybe_unused]] const Reach reach;
      __atomic_fetch_sub(&expected_, 1, __ATOMIC_RELAXED);
    }
    arrive();
  }
  bool try_wait(arrival_token token) const { return phase() != token; }
  bool try_wait_parity(bool parity) const { return (phase() & 1) != static_cast<unsigned>(parity); }
  static constexpr ::std::ptrdiff_t max() { return (1 << 20) - 1; }

  friend void init(barrier* b, ::std::ptrdiff_t expected) { b->start(expected, Function()); }
  friend void init(barrier* b, ::std::ptrdiff_t expected, Function completion) { b->start(expected, completion); }

 private:
  void start(::std::ptrdiff_t expected, Function completion) {
    expected_ = missing_ = static_cast<int>(expected);
    phase_ = 0;
    completion_ = completion;
  }
  unsigned phase() const {
    [[maybe_unused]] const Reach reach;
    return __atomic_load_n(&phase_, __ATOMIC_ACQUIRE);
  }
  int expected_, missing_;
  unsigned phase_;
  Function completion_;
};

}  // namespace cuda
