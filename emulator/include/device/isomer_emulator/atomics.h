// Atomics: every width and type through the host's own, relaxed as on the device; floating types by
// compare-and-swap. A thread that keeps spinning on one lets the others run.
#pragma once

#include <type_traits>

#include "language.h"

namespace isomer::emulator {

template <std::size_t N>
struct Word;
template <>
struct Word<1> {
  using type = std::uint8_t;
};
template <>
struct Word<2> {
  using type = std::uint16_t;
};
template <>
struct Word<4> {
  using type = std::uint32_t;
};
template <>
struct Word<8> {
  using type = std::uint64_t;
};

ISOMER_EMULATOR_INLINE void patience() {
#if defined(ISOMER_EMULATOR_WATCH)
  isomer_emulator_patient();  // the counter's own reads and writes would be hooked
#else
  if (--isomer_emulator_patience <= 0) isomer_emulator_yield();
#endif
}

template <class T, class F>
ISOMER_EMULATOR_INLINE T update(T* p, F change) {
  using W = typename Word<sizeof(T)>::type;
  patience();
  W* word = reinterpret_cast<W*>(const_cast<std::remove_volatile_t<T>*>(p));
  W seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    std::remove_volatile_t<T> old;
    __builtin_memcpy(&old, &seen, sizeof(T));
    const std::remove_volatile_t<T> wanted = change(old);
    W bits;
    __builtin_memcpy(&bits, &wanted, sizeof(T));
    if (__atomic_compare_exchange_n(word, &seen, bits, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return old;
  }
}

/// Whom an atomic reaches; the watch alone asks.
struct Reach {};
using Reach_system = Reach;
#if defined(ISOMER_EMULATOR_WATCH)
struct Reach_block {
  Reach_block() { isomer_emulator_scope(1); }
  ~Reach_block() { isomer_emulator_scope(0); }
};
#else
using Reach_block = Reach;
#endif

template <class T>
using Plain = std::remove_volatile_t<T>;

}  // namespace isomer::emulator

#define ISOMER_EMULATOR_ATOMIC_SCOPED(DEFINE) DEFINE() DEFINE(_block) DEFINE(_system)

#define ISOMER_EMULATOR_ATOMIC_ADD(SCOPE)                                                         \
  template <class T, class V>                                                                     \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicAdd##SCOPE(T* p, V v) {                 \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    if constexpr (std::is_integral_v<T>) {                                                        \
      isomer::emulator::patience();                                                               \
      return __atomic_fetch_add(p, static_cast<isomer::emulator::Plain<T>>(v), __ATOMIC_RELAXED); \
    } else {                                                                                      \
      const auto term = static_cast<isomer::emulator::Plain<T>>(v);                               \
      return isomer::emulator::update(p, [&](auto old) { return old + term; });                   \
    }                                                                                             \
  }                                                                                               \
  template <class T, class V>                                                                     \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicSub##SCOPE(T* p, V v) {                 \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    const auto term = static_cast<isomer::emulator::Plain<T>>(v);                                 \
    return isomer::emulator::update(                                                              \
        p, [&](auto old) { return static_cast<isomer::emulator::Plain<T>>(old - term); });        \
  }
ISOMER_EMULATOR_ATOMIC_SCOPED(ISOMER_EMULATOR_ATOMIC_ADD)

#define ISOMER_EMULATOR_ATOMIC_OTHER(SCOPE)                                                              \
  template <class T, class V>                                                                            \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicMin##SCOPE(T* p, V v) {                        \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    const auto other = static_cast<isomer::emulator::Plain<T>>(v);                                       \
    return isomer::emulator::update(p, [&](auto old) { return other < old ? other : old; });             \
  }                                                                                                      \
  template <class T, class V>                                                                            \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicMax##SCOPE(T* p, V v) {                        \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    const auto other = static_cast<isomer::emulator::Plain<T>>(v);                                       \
    return isomer::emulator::update(p, [&](auto old) { return old < other ? other : old; });             \
  }                                                                                                      \
  template <class T, class V>                                                                            \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicAnd##SCOPE(T* p, V v) {                        \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    isomer::emulator::patience();                                                                        \
    return __atomic_fetch_and(p, static_cast<isomer::emulator::Plain<T>>(v), __ATOMIC_RELAXED);          \
  }                                                                                                      \
  template <class T, class V>                                                                            \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicOr##SCOPE(T* p, V v) {                         \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    isomer::emulator::patience();                                                                        \
    return __atomic_fetch_or(p, static_cast<isomer::emulator::Plain<T>>(v), __ATOMIC_RELAXED);           \
  }                                                                                                      \
  template <class T, class V>                                                                            \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicXor##SCOPE(T* p, V v) {                        \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    isomer::emulator::patience();                                                                        \
    return __atomic_fetch_xor(p, static_cast<isomer::emulator::Plain<T>>(v), __ATOMIC_RELAXED);          \
  }                                                                                                      \
  template <class T, class V>                                                                            \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicExch##SCOPE(T* p, V v) {                       \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    const auto wanted = static_cast<isomer::emulator::Plain<T>>(v);                                      \
    using W = typename isomer::emulator::Word<sizeof(T)>::type;                                          \
    W bits;                                                                                              \
    __builtin_memcpy(&bits, &wanted, sizeof(T));                                                         \
    isomer::emulator::patience();                                                                        \
    bits = __atomic_exchange_n(reinterpret_cast<W*>(const_cast<isomer::emulator::Plain<T>*>(p)), bits,   \
                               __ATOMIC_RELAXED);                                                        \
    isomer::emulator::Plain<T> old;                                                                      \
    __builtin_memcpy(&old, &bits, sizeof(T));                                                            \
    return old;                                                                                          \
  }                                                                                                      \
  template <class T, class C, class V>                                                                   \
  ISOMER_EMULATOR_INLINE isomer::emulator::Plain<T> atomicCAS##SCOPE(T* p, C compare, V v) {             \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    using W = typename isomer::emulator::Word<sizeof(T)>::type;                                          \
    const auto expected = static_cast<isomer::emulator::Plain<T>>(compare);                              \
    const auto wanted = static_cast<isomer::emulator::Plain<T>>(v);                                      \
    W seen, bits;                                                                                        \
    __builtin_memcpy(&seen, &expected, sizeof(T));                                                       \
    __builtin_memcpy(&bits, &wanted, sizeof(T));                                                         \
    isomer::emulator::patience();                                                                        \
    __atomic_compare_exchange_n(reinterpret_cast<W*>(const_cast<isomer::emulator::Plain<T>*>(p)), &seen, \
                                bits, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);                        \
    isomer::emulator::Plain<T> old;                                                                      \
    __builtin_memcpy(&old, &seen, sizeof(T));                                                            \
    return old;                                                                                          \
  }                                                                                                      \
  ISOMER_EMULATOR_INLINE unsigned atomicInc##SCOPE(unsigned* p, unsigned limit) {                        \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    return isomer::emulator::update(p, [&](unsigned old) { return old >= limit ? 0u : old + 1; });       \
  }                                                                                                      \
  ISOMER_EMULATOR_INLINE unsigned atomicDec##SCOPE(unsigned* p, unsigned limit) {                        \
    [[maybe_unused]] const isomer::emulator::Reach##SCOPE reach; \
    return isomer::emulator::update(                                                                     \
        p, [&](unsigned old) { return old == 0 || old > limit ? limit : old - 1; });                     \
  }
ISOMER_EMULATOR_ATOMIC_SCOPED(ISOMER_EMULATOR_ATOMIC_OTHER)
#undef ISOMER_EMULATOR_ATOMIC_OTHER
#undef ISOMER_EMULATOR_ATOMIC_ADD
#undef ISOMER_EMULATOR_ATOMIC_SCOPED

#if defined(ISOMER_EMULATOR_HIP)
template <class T, class V>
ISOMER_EMULATOR_INLINE T unsafeAtomicAdd(T* p, V v) {
  return atomicAdd(p, v);
}
template <class T, class V>
ISOMER_EMULATOR_INLINE T safeAtomicAdd(T* p, V v) {
  return atomicAdd(p, v);
}
template <class T, class V>
ISOMER_EMULATOR_INLINE void atomicAddNoRet(T* p, V v) {
  atomicAdd(p, v);
}
#endif
