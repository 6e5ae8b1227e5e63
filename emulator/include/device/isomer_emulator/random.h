// cuRAND's device functions. Every generator is Philox 4×32-10 with the seed as its key and the subsequence as
// the upper half of its counter, but for the quasirandom ones; the other states give other numbers than on a device.
#pragma once

#include "cuda_runtime.h"

namespace isomer::emulator {

struct Philox {
  std::uint32_t counter[4], key[2], block[4];
  std::uint32_t taken;  ///< of the block's four numbers
  float spare;
  double spare_double;
  bool has_spare, has_spare_double;
};

ISOMER_EMULATOR_INLINE void philox_block(Philox& s) {
  std::uint32_t c[4] = {s.counter[0], s.counter[1], s.counter[2], s.counter[3]}, k0 = s.key[0], k1 = s.key[1];
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * c[0], b = std::uint64_t{0xCD9E8D57u} * c[2];
    const std::uint32_t next[4] = {
        static_cast<std::uint32_t>(b >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(b),
        static_cast<std::uint32_t>(a >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(a)};
    __builtin_memcpy(c, next, sizeof c);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  __builtin_memcpy(s.block, c, sizeof c);
}
ISOMER_EMULATOR_INLINE void philox_advance(Philox& s, std::uint64_t blocks) {
  const std::uint64_t low = (std::uint64_t{s.counter[1]} << 32 | s.counter[0]) + blocks;
  if (low < blocks && ++s.counter[2] == 0) ++s.counter[3];
  s.counter[0] = static_cast<std::uint32_t>(low);
  s.counter[1] = static_cast<std::uint32_t>(low >> 32);
}
ISOMER_EMULATOR_INLINE void philox_skip(Philox& s, std::uint64_t numbers) {
  numbers += s.taken;
  philox_advance(s, numbers / 4);
  s.taken = numbers % 4;
  philox_block(s);
}
ISOMER_EMULATOR_INLINE std::uint32_t philox_next(Philox& s) {
  const std::uint32_t number = s.block[s.taken];
  if (++s.taken == 4) {
    s.taken = 0;
    philox_advance(s, 1);
    philox_block(s);
  }
  return number;
}
/// In (0, 1].
ISOMER_EMULATOR_INLINE float unit(std::uint32_t x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
ISOMER_EMULATOR_INLINE double unit(std::uint32_t x, std::uint32_t y) {
  const std::uint64_t z = x ^ std::uint64_t{y} << 21;
  return z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}

}  // namespace isomer::emulator

struct curandStatePhilox4_32_10 : isomer::emulator::Philox {};
struct curandStateXORWOW : isomer::emulator::Philox {};
struct curandStateMRG32k3a : isomer::emulator::Philox {};
using curandStatePhilox4_32_10_t = curandStatePhilox4_32_10;
using curandStateXORWOW_t = curandStateXORWOW;
using curandStateMRG32k3a_t = curandStateMRG32k3a;
using curandState = curandStateXORWOW;
using curandState_t = curandStateXORWOW;

template <class State>
ISOMER_EMULATOR_INLINE void curand_init(unsigned long long seed, unsigned long long subsequence,
                                        unsigned long long offset, State* state) {
  isomer::emulator::Philox& s = *state;
  s = {};
  s.key[0] = static_cast<std::uint32_t>(seed);
  s.key[1] = static_cast<std::uint32_t>(seed >> 32);
  s.counter[2] = static_cast<std::uint32_t>(subsequence);
  s.counter[3] = static_cast<std::uint32_t>(subsequence >> 32);
  isomer::emulator::philox_skip(s, offset);
}
template <class State>
ISOMER_EMULATOR_INLINE void skipahead(unsigned long long n, State* state) {
  isomer::emulator::philox_skip(*state, n);
}
template <class State>
ISOMER_EMULATOR_INLINE unsigned curand(State* state) {
  return isomer::emulator::philox_next(*state);
}
template <class State>
ISOMER_EMULATOR_INLINE uint4 curand4(State* state) {
  const unsigned x = curand(state), y = curand(state), z = curand(state), w = curand(state);
  return uint4{x, y, z, w};
}
template <class State>
ISOMER_EMULATOR_INLINE float curand_uniform(State* state) {
  return isomer::emulator::unit(curand(state));
}
template <class State>
ISOMER_EMULATOR_INLINE double curand_uniform_double(State* state) {
  const unsigned x = curand(state), y = curand(state);
  return isomer::emulator::unit(x, y);
}
template <class State>
ISOMER_EMULATOR_INLINE float4 curand_uniform4(State* state) {
  const float x = curand_uniform(state), y = curand_uniform(state), z = curand_uniform(state),
              w = curand_uniform(state);
  return float4{x, y, z, w};
}
template <class State>
ISOMER_EMULATOR_INLINE float2 curand_normal2(State* state) {
  const float radius = std::sqrt(-2.0f * std::log(curand_uniform(state))),
              angle = 6.28318530717958647f * curand_uniform(state);
  return float2{radius * std::sin(angle), radius * std::cos(angle)};
}
template <class State>
ISOMER_EMULATOR_INLINE float4 curand_normal4(State* state) {
  const float2 a = curand_normal2(state), b = curand_normal2(state);
  return float4{a.x, a.y, b.x, b.y};
}
template <class State>
ISOMER_EMULATOR_INLINE double2 curand_normal2_double(State* state) {
  const double radius = std::sqrt(-2.0 * std::log(curand_uniform_double(state))),
               angle = 6.28318530717958647692 * curand_uniform_double(state);
  return double2{radius * std::sin(angle), radius * std::cos(angle)};
}
template <class State>
ISOMER_EMULATOR_INLINE float curand_normal(State* state) {
  if ((state->has_spare = !state->has_spare)) {
    const float2 both = curand_normal2(state);
    state->spare = both.y;
    return both.x;
  }
  return state->spare;
}
template <class State>
ISOMER_EMULATOR_INLINE double curand_normal_double(State* state) {
  if ((state->has_spare_double = !state->has_spare_double)) {
    const double2 both = curand_normal2_double(state);
    state->spare_double = both.y;
    return both.x;
  }
  return state->spare_double;
}
template <class State>
ISOMER_EMULATOR_INLINE float curand_log_normal(State* state, float mean, float deviation) {
  return std::exp(mean + deviation * curand_normal(state));
}
/// By multiplying until e^-λ: exact, and slow where λ is large.
template <class State>
ISOMER_EMULATOR_INLINE unsigned curand_poisson(State* state, double lambda) {
  const double least = std::exp(-lambda);
  unsigned count = 0;
  for (double product = curand_uniform_double(state); product > least;
       product *= curand_uniform_double(state))
    ++count;
  return count;
}
template <class State>
ISOMER_EMULATOR_INLINE double curand_log_normal_double(State* state, double mean, double deviation) {
  return std::exp(mean + deviation * curand_normal_double(state));
}
template <class State>
ISOMER_EMULATOR_INLINE float2 curand_log_normal2(State* state, float mean, float deviation) {
  const float2 n = curand_normal2(state);
  return float2{std::exp(mean + deviation * n.x), std::exp(mean + deviation * n.y)};
}
template <class State>
ISOMER_EMULATOR_INLINE float4 curand_log_normal4(State* state, float mean, float deviation) {
  const float2 a = curand_log_normal2(state, mean, deviation), b = curand_log_normal2(state, mean, deviation);
  return float4{a.x, a.y, b.x, b.y};
}
template <class State>
ISOMER_EMULATOR_INLINE double2 curand_uniform2_double(State* state) {
  const double x = curand_uniform_double(state), y = curand_uniform_double(state);
  return double2{x, y};
}
template <class State>
ISOMER_EMULATOR_INLINE uint4 curand_poisson4(State* state, double lambda) {
  const unsigned x = curand_poisson(state, lambda), y = curand_poisson(state, lambda),
                 z = curand_poisson(state, lambda), w = curand_poisson(state, lambda);
  return uint4{x, y, z, w};
}
/// A subsequence is 2⁶⁶ numbers, as the upper half of the counter counts them.
template <class State>
ISOMER_EMULATOR_INLINE void skipahead_sequence(unsigned long long n, State* state) {
  const unsigned long long at = (static_cast<unsigned long long>(state->counter[3]) << 32 | state->counter[2]) + n;
  state->counter[2] = static_cast<std::uint32_t>(at);
  state->counter[3] = static_cast<std::uint32_t>(at >> 32);
  isomer::emulator::philox_block(*state);
}
template <class State>
ISOMER_EMULATOR_INLINE void skipahead_subsequence(unsigned long long n, State* state) {
  skipahead_sequence(n, state);
}

#include "random_sobol.h"
#include "random_types.inc"
