// cuda::atomic and cuda::atomic_ref: the host's own atomics with the order that is asked for; the watch is told
// whom they reach.
#pragma once

#include <atomic>

#include "device.h"

namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;

template <class T, thread_scope Scope>
class atomic_operations {
 public:
  using value_type = T;
  using difference_type = ::std::conditional_t<::std::is_pointer_v<T>, ::std::ptrdiff_t, T>;
  static constexpr bool is_always_lock_free = sizeof(T) <= 8;
  bool is_lock_free() const { return is_always_lock_free; }
  /// Looks until another value is there; whoever changes it need not tell.
  void wait(T old, memory_order order = memory_order_seq_cst) const {
    for (T now = load(order); __builtin_memcmp(&now, &old, sizeof now) == 0; now = load(order))
      isomer::emulator::patience();
  }
  void notify_one() const {}
  void notify_all() const {}
  T load(memory_order order = memory_order_seq_cst) const {
    const Reach reach;
    T out;
    __atomic_load(at(), &out, static_cast<int>(order));
    return out;
  }
  void store(T v, memory_order order = memory_order_seq_cst) const {
    const Reach reach;
    __atomic_store(at(), &v, static_cast<int>(order));
  }
  T exchange(T v, memory_order order = memory_order_seq_cst) const {
    const Reach reach;
    T out;
    __atomic_exchange(at(), &v, &out, static_cast<int>(order));
    return out;
  }
  bool compare_exchange_strong(T& expected, T v, memory_order order = memory_order_seq_cst,
                               memory_order failed = memory_order_relaxed) const {
    const Reach reach;
    return __atomic_compare_exchange(at(), &expected, &v, false, static_cast<int>(order),
                                     static_cast<int>(failed));
  }
  bool compare_exchange_weak(T& expected, T v, memory_order order = memory_order_seq_cst,
                             memory_order failed = memory_order_relaxed) const {
    return compare_exchange_strong(expected, v, order, failed);
  }
  T fetch_add(difference_type v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return static_cast<T>(old + v); }, order);
  }
  T fetch_sub(difference_type v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return static_cast<T>(old - v); }, order);
  }
  T fetch_and(T v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return static_cast<T>(old & v); }, order);
  }
  T fetch_or(T v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return static_cast<T>(old | v); }, order);
  }
  T fetch_xor(T v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return static_cast<T>(old ^ v); }, order);
  }
  T fetch_min(T v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return v < old ? v : old; }, order);
  }
  T fetch_max(T v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return old < v ? v : old; }, order);
  }
  T operator++() const { return static_cast<T>(fetch_add(1) + 1); }
  T operator++(int) const { return fetch_add(1); }
  T operator--() const { return static_cast<T>(fetch_sub(1) - 1); }
  T operator--(int) const { return fetch_sub(1); }
  T operator+=(difference_type v) const { return static_cast<T>(fetch_add(v) + v); }
  T operator-=(difference_type v) const { return static_cast<T>(fetch_sub(v) - v); }
  operator T() const { return load(); }

 protected:
  explicit atomic_operations(T* p) : at_(p) {}
  T* at() const { return at_; }

 private:
  using Reach = ::std::conditional_t<Scope == thread_scope_block, isomer::emulator::Reach_block,
                                   isomer::emulator::Reach>;
  template <class F>
  T updated(F change, memory_order order) const {
    const Reach reach;
    isomer::emulator::patience();
    T old, wanted;
    __atomic_load(at(), &old, __ATOMIC_RELAXED);
    do {
      wanted = change(old);
    } while (!__atomic_compare_exchange(at(), &old, &wanted, false, static_cast<int>(order), __ATOMIC_RELAXED));
    return old;
  }
  T* at_;
};

template <class T, thread_scope Scope = thread_scope_system>
struct atomic_ref : atomic_operations<T, Scope> {
  explicit atomic_ref(T& v) : atomic_operations<T, Scope>(&v) {}
  atomic_ref(const atomic_ref&) = default;
};

template <class T, thread_scope Scope = thread_scope_system>
struct atomic {
  using value_type = T;
  using difference_type = typename atomic_operations<T, Scope>::difference_type;
  static constexpr bool is_always_lock_free = atomic_operations<T, Scope>::is_always_lock_free;
  T value;
  atomic() = default;
  constexpr atomic(T v) : value(v) {}
  atomic_ref<T, Scope> ref() const { return atomic_ref<T, Scope>(const_cast<T&>(value)); }
  T load(memory_order order = memory_order_seq_cst) const { return ref().load(order); }
  void store(T v, memory_order order = memory_order_seq_cst) { ref().store(v, order); }
  T exchange(T v, memory_order order = memory_order_seq_cst) { return ref().exchange(v, order); }
  bool compare_exchange_strong(T& e, T v, memory_order order = memory_order_seq_cst,
                               memory_order failed = memory_order_relaxed) {
    return ref().compare_exchange_strong(e, v, order, failed);
  }
  bool compare_exchange_weak(T& e, T v, memory_order order = memory_order_seq_cst,
                             memory_order failed = memory_order_relaxed) {
    return ref().compare_exchange_strong(e, v, order, failed);
  }
  bool is_lock_free() const { return is_always_lock_free; }
  void wait(T old, memory_order order = memory_order_seq_cst) const { ref().wait(old, order); }
  void notify_one() {}
  void notify_all() {}
  T fetch_add(difference_type v, memory_order order = memory_order_seq_cst) { return ref().fetch_add(v, order); }
  T fetch_sub(difference_type v, memory_order order = memory_order_seq_cst) { return ref().fetch_sub(v, order); }
  T fetch_and(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_and(v, order); }
  T fetch_or(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_or(v, order); }
  T fetch_xor(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_xor(v, order); }
  T fetch_min(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_min(v, order); }
  T fetch_max(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_max(v, order); }
  T operator++() { return ++ref(); }
  T operator++(int) { return ref()++; }
  T operator--() { return --ref(); }
  T operator--(int) { return ref()--; }
  T operator+=(difference_type v) { return ref() += v; }
  T operator-=(difference_type v) { return ref() -= v; }
  T operator=(T v) {
    store(v);
    return v;
  }
  operator T() const { return load(); }
};

inline void atomic_thread_fence(memory_order, thread_scope scope = thread_scope_system) {
  isomer_emulator_fence(scope == thread_scope_block ? 0 : scope == thread_scope_device ? 1 : 2);
}

/// A flag alone: set or not.
struct atomic_flag {
  unsigned set = 0;
  bool test(memory_order order = memory_order_seq_cst) const { return ref().load(order) != 0; }
  bool test_and_set(memory_order order = memory_order_seq_cst) { return ref().exchange(1, order) != 0; }
  void clear(memory_order order = memory_order_seq_cst) { ref().store(0, order); }
  void wait(bool old, memory_order order = memory_order_seq_cst) const { ref().wait(old, order); }
  void notify_one() {}
  void notify_all() {}

 private:
  atomic_ref<unsigned> ref() const { return atomic_ref<unsigned>(const_cast<unsigned&>(set)); }
};

namespace std {
template <class T>
using atomic = ::cuda::atomic<T>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T>;
using ::cuda::atomic_flag;
using ::std::memory_order;
using ::std::memory_order_acq_rel;
using ::std::memory_order_acquire;
using ::std::memory_order_consume;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
using ::std::memory_order_seq_cst;
inline void atomic_thread_fence(memory_order order) { ::cuda::atomic_thread_fence(order); }
using atomic_bool = atomic<bool>;
using atomic_int = atomic<int>;
using atomic_uint = atomic<unsigned>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<unsigned long>;
using atomic_llong = atomic<long long>;
using atomic_ullong = atomic<unsigned long long>;
using atomic_size_t = atomic<::std::size_t>;
}  // namespace std

}  // namespace cuda

#define LIBCUDACXX_ATOMIC_FLAG_INIT {}
