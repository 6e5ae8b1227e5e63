// The functions that the compiler calls at every load and store of a watched module. They carry the names of
// the thread sanitizer's run time with a prefix that the linker's --wrap puts there, so that a program which
// is itself built with that sanitizer keeps its own.
#include <cstdint>
#include <cstring>

#include "execution/block.hpp"
#include "execution/worker.hpp"
#include "watch/quick_atomics.hpp"
#include "watch/shadow.hpp"

using isomer::emulator::current_block;
using isomer::emulator::current_thread;
namespace watch = isomer::emulator::watch;

#define HOOK(NAME) __attribute__((visibility("default"))) __wrap___tsan_##NAME
#define SITE __builtin_return_address(0)

namespace {
/// A volatile access of one word may be of a flag; of more, it is like any other.
constexpr unsigned word(unsigned bytes) { return watch::typed | (bytes <= 8 ? watch::volatile_word : 0u); }
}  // namespace

extern "C" {

void HOOK(init)() {}
void HOOK(func_entry)(void* caller) {
  if (auto* t = current_thread()) t->clock.calls.push_back(caller);
}
void HOOK(func_exit)() {
  if (auto* t = current_thread(); t && !t->clock.calls.empty()) t->clock.calls.pop_back();
}

#define SIZED(BYTES)                                                                                       \
  void HOOK(read##BYTES)(void* a) { watch::plain<BYTES, false>(a, SITE); }                                 \
  void HOOK(write##BYTES)(void* a) { watch::plain<BYTES, true>(a, SITE); }                                 \
  void HOOK(read_write##BYTES)(void* a) {                                                                  \
    watch::access(a, BYTES, watch::read | watch::write | watch::typed, SITE);                              \
  }                                                                                                        \
  void HOOK(unaligned_read##BYTES)(void* a) { watch::access(a, BYTES, watch::read, SITE); }                \
  void HOOK(unaligned_write##BYTES)(void* a) { watch::access(a, BYTES, watch::write, SITE); }              \
  void HOOK(unaligned_read_write##BYTES)(void* a) {                                                        \
    watch::access(a, BYTES, watch::read | watch::write, SITE);                                             \
  }                                                                                                        \
  void HOOK(volatile_read##BYTES)(void* a) { watch::access(a, BYTES, watch::read | word(BYTES), SITE); }   \
  void HOOK(volatile_write##BYTES)(void* a) { watch::access(a, BYTES, watch::write | word(BYTES), SITE); } \
  void HOOK(unaligned_volatile_read##BYTES)(void* a) { watch::access(a, BYTES, watch::read, SITE); }       \
  void HOOK(unaligned_volatile_write##BYTES)(void* a) { watch::access(a, BYTES, watch::write, SITE); }
SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

void HOOK(read_range)(void* a, unsigned long n) { watch::access(a, n, watch::read, SITE); }
void HOOK(write_range)(void* a, unsigned long n) { watch::access(a, n, watch::write, SITE); }
void HOOK(vptr_read)(void** a) { watch::plain<8, false>(a, SITE); }
void HOOK(vptr_update)(void** a, void*) { watch::plain<8, true>(a, SITE); }

// What a compiler makes of copying and filling: calls of the C library, which carry no hooks of their own.
__attribute__((visibility("default"))) void* __wrap_memcpy(void* to, const void* from, std::size_t n) {
  watch::access(from, n, watch::read, SITE);
  watch::access(to, n, watch::write, SITE);
  return std::memcpy(to, from, n);
}
__attribute__((visibility("default"))) void* __wrap_memmove(void* to, const void* from, std::size_t n) {
  watch::access(from, n, watch::read, SITE);
  watch::access(to, n, watch::write, SITE);
  return std::memmove(to, from, n);
}
__attribute__((visibility("default"))) void* __wrap_memset(void* to, int value, std::size_t n) {
  watch::access(to, n, watch::write, SITE);
  return std::memset(to, value, n);
}

// A pointer of a vector type that is not a multiple of its alignment. Only the beginning of what the compiler
// describes is read here: the place is known better from the call.
struct TypeMismatch {
  struct {
    const char* file;
    std::uint32_t line, column;
  } where;
  const void* type;
  unsigned char log_alignment;
  unsigned char kind;
};
__attribute__((visibility("default"))) void __wrap___ubsan_handle_type_mismatch_v1(const TypeMismatch* what,
                                                                                   std::uintptr_t address) {
  watch::misaligned(reinterpret_cast<const void*>(address), std::size_t{1} << what->log_alignment, SITE);
}

// A cast of a value that the integer cannot hold. The types' names stand behind two 16-bit numbers.
struct CastOverflow {
  struct {
    const char* file;
    std::uint32_t line, column;
  } where;
  const char *from, *to;
};
__attribute__((visibility("default"))) void __wrap___ubsan_handle_float_cast_overflow(
    const CastOverflow* what, std::uintptr_t value) {
  constexpr std::size_t kName = 4;
  if (!current_thread() || !current_block()->launch().watch) return;
  double shown = 0;
  float narrow = 0;
  const bool is_float = std::strstr(what->from + kName, "float") != nullptr;
  if (is_float) {
    std::memcpy(&narrow, &value, sizeof narrow);
    shown = narrow;
  } else {
    std::memcpy(&shown, &value, sizeof shown);
  }
  watch::report_cast(SITE, shown, what->from + kName, what->to + kName);
}

void HOOK(atomic_thread_fence)(int);
void HOOK(atomic_signal_fence)(int) {}
}

namespace {

// Which memory orders publish what came before (release, acq_rel, seq_cst), and which take what others
// published (consume, acquire, acq_rel, seq_cst).
unsigned how(unsigned kind, int order) {
  return kind | watch::atomic | (order >= 3 && (kind & watch::write) ? watch::release : 0u) |
         (order != 0 && order != 3 && (kind & watch::read) ? watch::acquire : 0u);
}

}  // namespace

// A thread that changes words does not only wait for one.
namespace {
[[gnu::always_inline]] inline void changes(bool word) {
  if (word)
    if (isomer::emulator::Thread* const thread = current_thread()) {
      thread->clock.deals();
      thread->clock.has_changed = true;
    }
}
}  // namespace

// A block's own shared memory is one worker's.
#define FETCH(BITS, NAME, CHANGED)                                                                           \
  T##BITS HOOK(atomic##BITS##_fetch_##NAME)(volatile T##BITS * a, T##BITS v, int order) {                    \
    T##BITS* const at = const_cast<T##BITS*>(a);                                                             \
    const watch::Judged judged =                                                                             \
        order == __ATOMIC_RELAXED && BITS >= 32 ? watch::atomically<BITS / 8>(at, SITE) : watch::Judged::no; \
    if (judged == watch::Judged::alone) {                                                                    \
      const T##BITS old = *at;                                                                               \
      *at = static_cast<T##BITS>(CHANGED);                                                                   \
      changes(old != static_cast<T##BITS>(CHANGED));                                                         \
      return old;                                                                                            \
    }                                                                                                        \
    if (judged == watch::Judged::no)                                                                         \
      watch::access(at, BITS / 8, how(watch::read | watch::write, order), SITE);                             \
    const T##BITS old = __atomic_fetch_##NAME(a, v, __ATOMIC_SEQ_CST);                                       \
    changes(old != static_cast<T##BITS>(CHANGED));                                                           \
    return old;                                                                                              \
  }

#define ATOMIC(BITS, TYPE)                                                                                 \
  using T##BITS = TYPE;                                                                                    \
  T##BITS HOOK(atomic##BITS##_load)(const volatile T##BITS* a, int order) {                                \
    watch::access(const_cast<T##BITS*>(a), BITS / 8, how(watch::read, order), SITE);                       \
    return __atomic_load_n(a, __ATOMIC_SEQ_CST);                                                           \
  }                                                                                                        \
  void HOOK(atomic##BITS##_store)(volatile T##BITS * a, T##BITS v, int order) {                            \
    watch::access(const_cast<T##BITS*>(a), BITS / 8, how(watch::write, order), SITE);                      \
    __atomic_store_n(a, v, __ATOMIC_SEQ_CST);                                                              \
  }                                                                                                        \
  T##BITS HOOK(atomic##BITS##_exchange)(volatile T##BITS * a, T##BITS v, int order) {                      \
    watch::access(const_cast<T##BITS*>(a), BITS / 8,                                                       \
                  how(watch::read | watch::write | watch::exchange, order), SITE);                         \
    return __atomic_exchange_n(a, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                        \
  int HOOK(atomic##BITS##_compare_exchange_strong)(volatile T##BITS * a, T##BITS * expected, T##BITS v,    \
                                                   int order, int) {                                       \
    watch::access(const_cast<T##BITS*>(a), BITS / 8, how(watch::read | watch::write | watch::lock, order), \
                  SITE);                                                                                   \
    const bool swapped =                                                                                   \
        __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
    changes(swapped);                                                                                      \
    return swapped;                                                                                        \
  }                                                                                                        \
  int HOOK(atomic##BITS##_compare_exchange_weak)(volatile T##BITS * a, T##BITS * expected, T##BITS v,      \
                                                 int order, int) {                                         \
    watch::access(const_cast<T##BITS*>(a), BITS / 8, how(watch::read | watch::write | watch::lock, order), \
                  SITE);                                                                                   \
    const bool swapped =                                                                                   \
        __atomic_compare_exchange_n(a, expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
    changes(swapped);                                                                                      \
    return swapped;                                                                                        \
  }                                                                                                        \
  T##BITS HOOK(atomic##BITS##_compare_exchange_val)(volatile T##BITS * a, T##BITS expected, T##BITS v,     \
                                                    int order, int) {                                      \
    watch::access(const_cast<T##BITS*>(a), BITS / 8, how(watch::read | watch::write | watch::lock, order), \
                  SITE);                                                                                   \
    changes(__atomic_compare_exchange_n(a, &expected, v, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));      \
    return expected;                                                                                       \
  }                                                                                                        \
  FETCH(BITS, add, old + v)                                                                                \
  FETCH(BITS, sub, old - v)                                                                                \
  FETCH(BITS, and, (old & v))                                                                              \
  FETCH(BITS, or, old | v)                                                                                 \
  FETCH(BITS, xor, old ^ v)                                                                                \
  FETCH(BITS, nand, ~(old & v))

extern "C" {
ATOMIC(8, std::uint8_t)
ATOMIC(16, std::uint16_t)
ATOMIC(32, std::uint32_t)
ATOMIC(64, std::uint64_t)

void HOOK(atomic_thread_fence)(int) { isomer_emulator_fence(2); }
}
