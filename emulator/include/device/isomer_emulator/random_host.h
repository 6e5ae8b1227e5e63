// cuRAND's generators of the host. Every kind is Philox 4×32-10: a device's numbers are others.
#pragma once

#include "host_library.h"

#include <vector>

#include "random.h"

#define CURAND_H_  // as headers of others ask whether cuRAND is there
#define CURAND_VER_MAJOR 10
#define CURAND_VER_MINOR 3
#define CURAND_VER_PATCH 0
#define CURAND_VERSION (CURAND_VER_MAJOR * 1000 + CURAND_VER_MINOR * 100 + CURAND_VER_PATCH)

#include "random_types.inc"
typedef curandStatus_t curandStatus;
typedef struct isomer_emulator_random {
  curandStatePhilox4_32_10_t state;
  unsigned long long seed = 0, offset = 0;
} * curandGenerator_t;

static inline curandStatus_t curandCreateGenerator(curandGenerator_t* g, curandRngType_t) {
  *g = new isomer_emulator_random;
  curand_init(0, 0, 0, &(*g)->state);
  return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandCreateGeneratorHost(curandGenerator_t* g, curandRngType_t type) {
  return curandCreateGenerator(g, type);
}
static inline curandStatus_t curandDestroyGenerator(curandGenerator_t g) {
  delete g;
  return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetQuasiRandomGeneratorDimensions(curandGenerator_t, unsigned dimensions) {
  return dimensions >= 1 && dimensions <= 20000 ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
static inline curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g,
                                                                unsigned long long seed) {
  g->seed = seed;
  curand_init(seed, 0, g->offset, &g->state);
  return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
  g->offset = offset;
  curand_init(g->seed, 0, offset, &g->state);
  return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetGeneratorOrdering(curandGenerator_t, curandOrdering_t) {
  return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandSetStream(curandGenerator_t, cudaStream_t) {
  return CURAND_STATUS_SUCCESS;
}
static inline curandStatus_t curandGenerateSeeds(curandGenerator_t) { return CURAND_STATUS_SUCCESS; }
static inline curandStatus_t curandGetVersion(int* version) {
  *version = 10300;
  return CURAND_STATUS_SUCCESS;
}

namespace isomer::emulator {
/// `to` may lie on the host or on the device.
template <class T, class Draw>
curandStatus_t generate(T* to, std::size_t count, Draw draw) {
  std::vector<T> numbers(count);
  for (T& x : numbers) x = draw();
  return isomer_emulator_copy(to, numbers.data(), count * sizeof(T), 4) == 0 ? CURAND_STATUS_SUCCESS
                                                                             : CURAND_STATUS_LAUNCH_FAILURE;
}
}  // namespace isomer::emulator

static inline curandStatus_t curandGenerate(curandGenerator_t g, unsigned* to, std::size_t n) {
  return isomer::emulator::generate(to, n, [g] { return curand(&g->state); });
}
static inline curandStatus_t curandGenerateUniform(curandGenerator_t g, float* to, std::size_t n) {
  return isomer::emulator::generate(to, n, [g] { return curand_uniform(&g->state); });
}
static inline curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* to, std::size_t n) {
  return isomer::emulator::generate(to, n, [g] { return curand_uniform_double(&g->state); });
}
/// Normal numbers come in pairs.
static inline curandStatus_t curandGenerateNormal(curandGenerator_t g, float* to, std::size_t n, float mean,
                                                  float deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return isomer::emulator::generate(to, n, [=] { return mean + deviation * curand_normal(&g->state); });
}
static inline curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* to, std::size_t n,
                                                        double mean, double deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return isomer::emulator::generate(to, n,
                                    [=] { return mean + deviation * curand_normal_double(&g->state); });
}
static inline curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float* to, std::size_t n,
                                                     float mean, float deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return isomer::emulator::generate(to, n, [=] { return curand_log_normal(&g->state, mean, deviation); });
}
static inline curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double* to, std::size_t n,
                                                           double mean, double deviation) {
  if (n % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
  return isomer::emulator::generate(to, n,
                                    [=] { return curand_log_normal_double(&g->state, mean, deviation); });
}
static inline curandStatus_t curandGenerateLongLong(curandGenerator_t g, unsigned long long* to,
                                                    std::size_t n) {
  return isomer::emulator::generate(to, n, [g] {
    const unsigned long long high = curand(&g->state);
    return high << 32 | curand(&g->state);
  });
}
static inline curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned* to, std::size_t n,
                                                   double lambda) {
  return isomer::emulator::generate(to, n, [=] { return curand_poisson(&g->state, lambda); });
}

#include "random_directions.h"
