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
  T fetch_add(T v, memory_order order = memory_order_seq_cst) const {
    return updated([v](T old) { return static_cast<T>(old + v); }, order);
  }
  T fetch_sub(T v, memory_order order = memory_order_seq_cst) const {
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
  T operator+=(T v) const { return static_cast<T>(fetch_add(v) + v); }
  T operator-=(T v) const { return static_cast<T>(fetch_sub(v) - v); }
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
  T value;
  atomic() = default;
  constexpr atomic(T v) : value(v) {}
  atomic_ref<T, Scope> ref() const { return atomic_ref<T, Scope>(const_cast<T&>(value)); }
  T load(memory_order order = memory_order_seq_cst) const { return ref().load(order); }
  void store(T v, memory_order order = memory_order_seq_cst) { ref().store(v, order); }
  T exchange(T v, memory_order order = memory_order_seq_cst) { return ref().exchange(v, order); }
  bool compare_exchange_strong(T& e, T v, memory_order order = memory_order_seq_cst) {
    return ref().compare_exchange_strong(e, v, order);
  }
  bool compare_exchange_weak(T& e, T v, memory_order order = memory_order_seq_cst) {
    return ref().compare_exchange_strong(e, v, order);
  }
  T fetch_add(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_add(v, order); }
  T fetch_sub(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_sub(v, order); }
  T fetch_and(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_and(v, order); }
  T fetch_or(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_or(v, order); }
  T fetch_xor(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_xor(v, order); }
  T fetch_min(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_min(v, order); }
  T fetch_max(T v, memory_order order = memory_order_seq_cst) { return ref().fetch_max(v, order); }
  T operator++() { return ++ref(); }
  T operator++(int) { return ref()++; }
  T operator--() { return --ref(); }
  T operator--(int) { return ref()--; }
  T operator+=(T v) { return ref() += v; }
  T operator-=(T v) { return ref() -= v; }
  T operator=(T v) {
    store(v);
    return v;
  }
  operator T() const { return load(); }
};

inline void atomic_thread_fence(memory_order, thread_scope scope = thread_scope_system) {
  isomer_emulator_fence(scope == thread_scope_block ? 0 : scope == thread_scope_device ? 1 : 2);
}
namespace std {
template <class T>
using atomic = ::cuda::atomic<T>;
template <class T>
using atomic_ref = ::cuda::atomic_ref<T>;
using ::std::memory_order;
using ::std::memory_order_acquire;
using ::std::memory_order_relaxed;
using ::std::memory_order_release;
}  // namespace std

}  // namespace cuda
