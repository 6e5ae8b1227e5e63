// Relaxed atomics that agree, in shared and in global memory, and the plain access or the narrow reach that
// does not agree with them.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

constexpr const char* kHistogram = R"(#include <cuda_runtime.h>
#include <cstdlib>
__global__ void count(const int* v, int* out, int n, int how) {
  __shared__ int bins[8];
  if (threadIdx.x < 8 && how != 3) bins[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (how == 1 && i == 77) bins[v[i]] += 1; else atomicAdd(&bins[v[i]], 1);
  }
  if (how != 4) __syncthreads();
  if (threadIdx.x < 8) {
    if (how == 2) atomicAdd_block(&out[threadIdx.x], bins[threadIdx.x]); else atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
  }
}
int main(int words, char** word) {
  const int n = 512, how = words > 1 ? std::atoi(word[1]) : 0;
  int host[n], sums[8] = {}, *v, *out;
  for (int i = 0; i < n; ++i) host[i] = (i * 5 + i / 8) % 8;
  cudaMalloc(&v, sizeof host);
  cudaMalloc(&out, sizeof sums);
  cudaMemcpy(v, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemcpy(out, sums, sizeof sums, cudaMemcpyHostToDevice);
  count<<<2, 64>>>(v, out, n, how);
  cudaMemcpy(sums, out, sizeof sums, cudaMemcpyDeviceToHost);
  return sums[0] != 64 || sums[5] != 64;
}
)";

TEST(Atomics, AgreeAmongThemselvesAndWithNothingElse) {
  const WrittenSource source(kHistogram);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const struct {
    const char *how, *what;
    Kind kind;
  } faulty[] = {{"1", "a plain addition among them", Kind::race},
                {"2", "the block's reach from two blocks", Kind::race},
                {"3", "bins that nothing has set", Kind::uninitialised_read},
                {"4", "plain reads with no barrier behind them", Kind::race}};
  for (const auto& fault : faulty) {
    const RunResult result = module.run_main({fault.how});
    ASSERT_FALSE(result.reports.empty()) << fault.what;
    EXPECT_EQ(result.reports[0].kind, fault.kind) << fault.what << ": " << result.reports[0].text;
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
