// cuRAND's state that a whole block draws from (the Mersenne Twister for GPUs). As on a device every thread of the block
// comes to each call, and each gets another number; the numbers are Philox's, as those of the other states are.
#pragma once

#include "random.h"

#define CURAND_NUM_MTGP32_PARAMS 200

struct mtgp32_params_fast_t {
  int mexp;
};
using mtgp32_params_fast = mtgp32_params_fast_t;
struct mtgp32_kernel_params_t {
  int unused;
};
using mtgp32_kernel_params = mtgp32_kernel_params_t;
struct curandStateMtgp32 {
  unsigned long long seed, number, drawn;
  mtgp32_kernel_params_t* k;
};
using curandStateMtgp32_t = curandStateMtgp32;
static inline mtgp32_params_fast_t mtgp32dc_params_fast_11213[CURAND_NUM_MTGP32_PARAMS] = {};

namespace isomer::emulator {

ISOMER_EMULATOR_INLINE curandStatePhilox4_32_10 at_place(const curandStateMtgp32& s, unsigned long long place) {
  curandStatePhilox4_32_10 own;
  curand_init(s.seed, (s.number << 40) + place, 0, &own);
  return own;
}
/// What the thread draws from, where `n` threads come and it is the one of that index.
ISOMER_EMULATOR_INLINE curandStatePhilox4_32_10 drawn_together(curandStateMtgp32* s, unsigned index, unsigned n) {
  const curandStatePhilox4_32_10 own = at_place(*s, s->drawn + index);
  __syncthreads();
  if (index == 0) s->drawn += n;
  __syncthreads();
  return own;
}
ISOMER_EMULATOR_INLINE curandStatePhilox4_32_10 drawn_by_block(curandStateMtgp32* s) {
  return drawn_together(s, threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z),
                        blockDim.x * blockDim.y * blockDim.z);
}

}  // namespace isomer::emulator

#define ISOMER_EMULATOR_DRAWS(TYPE, NAME)                                        \
  ISOMER_EMULATOR_INLINE TYPE NAME(curandStateMtgp32* state) {                   \
    curandStatePhilox4_32_10 own = isomer::emulator::drawn_by_block(state);      \
    return NAME(&own);                                                           \
  }
ISOMER_EMULATOR_DRAWS(unsigned, curand)
ISOMER_EMULATOR_DRAWS(float, curand_uniform)
ISOMER_EMULATOR_DRAWS(double, curand_uniform_double)
ISOMER_EMULATOR_DRAWS(float, curand_normal)
ISOMER_EMULATOR_DRAWS(double, curand_normal_double)
#undef ISOMER_EMULATOR_DRAWS
ISOMER_EMULATOR_INLINE float curand_log_normal(curandStateMtgp32* state, float mean, float deviation) {
  return std::exp(mean + deviation * curand_normal(state));
}
ISOMER_EMULATOR_INLINE double curand_log_normal_double(curandStateMtgp32* state, double mean, double deviation) {
  return std::exp(mean + deviation * curand_normal_double(state));
}
ISOMER_EMULATOR_INLINE unsigned curand_poisson(curandStateMtgp32* state, double lambda) {
  curandStatePhilox4_32_10 own = isomer::emulator::drawn_by_block(state);
  return curand_poisson(&own, lambda);
}
/// By so many threads of the block, of which this is the one with that index.
ISOMER_EMULATOR_INLINE unsigned curand_mtgp32_specific(curandStateMtgp32* state, unsigned char index, unsigned char n) {
  curandStatePhilox4_32_10 own = isomer::emulator::drawn_together(state, index, n);
  return curand(&own);
}
/// By one thread alone.
ISOMER_EMULATOR_INLINE unsigned curand_mtgp32_single(curandStateMtgp32* state) {
  curandStatePhilox4_32_10 own = isomer::emulator::at_place(*state, state->drawn++);
  return curand(&own);
}

static inline curandStatus_t curandMakeMTGP32Constants(const mtgp32_params_fast_t*, mtgp32_kernel_params_t* to) {
  const mtgp32_kernel_params_t none{};
  return cudaMemcpy(to, &none, sizeof none, cudaMemcpyHostToDevice) == cudaSuccess ? CURAND_STATUS_SUCCESS
                                                                                   : CURAND_STATUS_INITIALIZATION_FAILED;
}
static inline curandStatus_t curandMakeMTGP32KernelState(curandStateMtgp32* states, mtgp32_params_fast_t*,
                                                         mtgp32_kernel_params_t* k, int count, unsigned long long seed) {
  for (int i = 0; i < count; ++i) {
    const curandStateMtgp32 state{seed, static_cast<unsigned long long>(i), 0, k};
    if (cudaMemcpy(states + i, &state, sizeof state, cudaMemcpyHostToDevice) != cudaSuccess)
      return CURAND_STATUS_INITIALIZATION_FAILED;
  }
  return CURAND_STATUS_SUCCESS;
}
