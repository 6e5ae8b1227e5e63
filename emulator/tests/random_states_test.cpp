// The states of quasirandom generators that kernels draw from: each dimension is a sequence that meets every interval of
// 1/2ⁿ once in 2ⁿ numbers, scrambled or not, wherever it begins.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

constexpr const char* kSource = R"(#include <curand_kernel.h>
#include <curand.h>
#include <vector>
constexpr int kDimensions = 6, kEach = 64, kPoints = 4 * kEach;
template <class State, class Vectors>
__global__ void begins(State* states, const Vectors* vectors) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(const_cast<Vectors&>(vectors[blockIdx.x]), kEach * threadIdx.x, &states[i]);
}
template <class State, class Vectors, class Word>
__global__ void begins_scrambled(State* states, const Vectors* vectors, const Word* scrambles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  curand_init(const_cast<Vectors&>(vectors[blockIdx.x]), scrambles[blockIdx.x], Word(0), &states[i]);
  skipahead(Word(kEach * threadIdx.x), &states[i]);
}
template <class State>
__global__ void draws(State* states, float* points, float* normals) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  State state = states[i];
  for (int k = 0; k < kEach; ++k) points[i * kEach + k] = curand_uniform(&state);
  normals[i] = curand_normal(&state);
  states[i] = state;
}
template <class T>
T* copied(const T* from, std::size_t count) {
  T* to;
  cudaMalloc(&to, count * sizeof(T));
  cudaMemcpy(to, from, count * sizeof(T), cudaMemcpyHostToDevice);
  return to;
}
template <class State>
bool is_even(State* states, int more) {
  float *points, *normals;
  std::vector<float> h(kDimensions * kPoints), n(kDimensions * 4);
  cudaMalloc(&points, h.size() * 4), cudaMalloc(&normals, n.size() * 4);
  draws<<<kDimensions + more, 4>>>(states, points, normals);
  cudaMemcpy(h.data(), points, h.size() * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(n.data(), normals, n.size() * 4, cudaMemcpyDeviceToHost);
  for (int d = 0; d < kDimensions; ++d) {
    std::vector<int> met(kPoints);
    for (int k = 0; k < kPoints; ++k) {
      const float x = h[d * kPoints + k];
      if (!(x > 0 && x <= 1) || ++met[x < 1 ? int(x * kPoints) : kPoints - 1] > 1) return false;
    }
  }
  for (float x : n)
    if (!(x > -7 && x < 7)) return false;
  return true;
}
int main(int argc, char**) {
  curandDirectionVectors32_t* v32;
  curandDirectionVectors64_t* v64;
  unsigned* c32;
  if (curandGetDirectionVectors32(&v32, CURAND_DIRECTION_VECTORS_32_JOEKUO6) || v32[0][0] != 0x80000000u) return 1;
  if (curandGetDirectionVectors64(&v64, CURAND_DIRECTION_VECTORS_64_JOEKUO6) || curandGetScrambleConstants32(&c32)) return 2;
  if (curandGetDirectionVectors32(&v32, CURAND_DIRECTION_VECTORS_64_JOEKUO6) != CURAND_STATUS_OUT_OF_RANGE) return 3;
  curandStateSobol32_t* s32;
  curandStateSobol64_t* s64;
  curandStateScrambledSobol32_t* scrambled;
  const int all = kDimensions * 4;
  cudaMalloc(&s32, all * sizeof *s32), cudaMalloc(&s64, all * sizeof *s64), cudaMalloc(&scrambled, all * sizeof *scrambled);
  const auto* vectors = copied(v32, kDimensions);
  begins<<<kDimensions, 4>>>(s32, vectors);
  begins<<<kDimensions, 4>>>(s64, copied(v64, kDimensions));
  begins_scrambled<<<kDimensions, 4>>>(scrambled, vectors, copied(c32, kDimensions));
  if (!is_even(s32, argc - 1) || !is_even(s64, 0) || !is_even(scrambled, 0)) return 4;
  return cudaDeviceSynchronize();
}
)";

TEST(RandomStates, OfSobolsSequencesAreEvenAndAStateTooManyIsTold) {
  const WrittenSource source(kSource);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one more block"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read) << faulty.reports[0].text;
}

constexpr const char* kTwister = R"(#include <curand_kernel.h>
#include <curand_mtgp32_host.h>
#include <curand_mtgp32dc_p_11213.h>
#include <algorithm>
#include <cmath>
#include <vector>
constexpr int kBlocks = 3, kThreads = 64, kEach = 4, kAll = kBlocks * kThreads * kEach;
__global__ void draws(curandStateMtgp32* states, unsigned* out, float* sums, int apart) {
  for (int k = 0; k < kEach; ++k) out[(blockIdx.x * kThreads + threadIdx.x) * kEach + k] = curand(&states[blockIdx.x % (kBlocks - apart)]);
  sums[blockIdx.x * kThreads + threadIdx.x] = curand_normal(&states[blockIdx.x % (kBlocks - apart)]) + curand_poisson(&states[blockIdx.x % (kBlocks - apart)], 2);
}
int main(int count, char**) {
  curandStateMtgp32* states;
  mtgp32_kernel_params* k;
  unsigned* out;
  float* sums;
  cudaMalloc(&states, kBlocks * sizeof *states), cudaMalloc(&k, sizeof *k), cudaMalloc(&out, kAll * 4), cudaMalloc(&sums, kAll);
  if (curandMakeMTGP32Constants(mtgp32dc_params_fast_11213, k)) return 1;
  if (curandMakeMTGP32KernelState(states, mtgp32dc_params_fast_11213, k, kBlocks, 1234)) return 2;
  draws<<<kBlocks, kThreads>>>(states, out, sums, count - 1);
  std::vector<unsigned> h(kAll);
  std::vector<float> n(kAll / kEach);
  cudaMemcpy(h.data(), out, kAll * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(n.data(), sums, kAll, cudaMemcpyDeviceToHost);
  double mean = 0;
  for (float x : n) mean += x / n.size();
  std::sort(h.begin(), h.end());
  if (std::unique(h.begin(), h.end()) != h.end()) return 3;
  return std::fabs(mean - 2) > 0.5;
}
)";

TEST(RandomStates, ABlockDrawsTogetherAndTwoBlocksOfOneStateRace) {
  const WrittenSource source(kTwister);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one state for two blocks"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::race) << faulty.reports[0].text;
}

}  // namespace
}  // namespace isomer::emulator::tests
