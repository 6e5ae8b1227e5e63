// cuda::barrier and cuda::pipeline of a block: what they order, and what is seen where nobody waits.
#include <gtest/gtest.h>

#include <algorithm>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kProgram = R"(#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;
// Warps 1 to 3 hand their parts to warp 0, twice.
__global__ void handed(int* out, bool waits) {
  __shared__ Barrier full, empty;
  __shared__ int parts[96];
  if (threadIdx.x == 0) init(&full, 128), init(&empty, 128);
  __syncthreads();
  for (int n = 0; n < 2; ++n) {
    if (threadIdx.x >= 32) {
      if (n > 0) empty.wait_parity(n - 1 & 1);
      parts[threadIdx.x - 32] = threadIdx.x + n;
      (void)full.arrive();
      (void)empty.arrive();
    } else {
      Barrier::arrival_token token = full.arrive();
      if (waits) full.wait(std::move(token));
      int sum = parts[threadIdx.x] + parts[threadIdx.x + 32] + parts[threadIdx.x + 64];
      out[32 * n + threadIdx.x] = sum;
      (void)empty.arrive();
    }
  }
}
// Two stages, filled two tiles ahead.
__global__ void staged(const float* in, float* out, int tiles, bool waits) {
  __shared__ float stage[2][64];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const cg::thread_block block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  for (int filled = 0, tile = 0; tile < tiles; ++tile) {
    for (; filled < tiles && filled < tile + 2; ++filled) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, stage[filled % 2], in + filled * 64, cuda::aligned_size_t<16>(256), pipe);
      pipe.producer_commit();
    }
    if (waits) pipe.consumer_wait();
    out[tile * 64 + threadIdx.x] = 2 * stage[tile % 2][63 - threadIdx.x];
    pipe.consumer_release();
  }
}
__global__ void alone(const int4* in, int4* out) {
  __shared__ int4 mine[32];
  cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&mine[threadIdx.x], in + threadIdx.x, cuda::aligned_size_t<16>(16), pipe);
  pipe.producer_commit();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  out[threadIdx.x] = mine[threadIdx.x];
  pipe.consumer_release();
}
int main(int, char** words) {
  int *p, *q; float *in, *out;
  cudaMallocManaged(&p, 512); cudaMallocManaged(&q, 512); cudaMallocManaged(&in, 4 * 256); cudaMallocManaged(&out, 4 * 256);
  for (int i = 0; i < 256; ++i) in[i] = i;
  for (int i = 0; i < 128; ++i) q[i] = i;
  const char how = words[1][0];
  handed<<<1, 128>>>(p, how != 'h');
  staged<<<1, 64>>>(in, out, 4, how != 's');
  cudaDeviceSynchronize();
  if (p[5] != 37 + 69 + 101 || p[37] != 38 + 70 + 102) return 1;
  if (out[3 * 64 + 1] != 2 * (3 * 64 + 62)) return 2;
  alone<<<1, 32>>>((int4*)q, (int4*)p);
  cudaDeviceSynchronize();
  return p[77] != 77;
}
)";

class Pipelines : public testing::Test {
 protected:
  static RunResult run(const char* how) {
    static const WrittenSource source(kProgram, "pipelines.cu");
    static const Module module = Module::build({.sources = {source.path()}, .watch = true});
    return module.run_main({how});
  }
  static bool races_on(const RunResult& r, const char* array) {
    return std::any_of(r.reports.begin(), r.reports.end(),
                       [&](const Report& each) { return each.kind == Kind::race && each.buffer == array; });
  }
};

TEST_F(Pipelines, OrderWhatIsHandedOver) {
  const RunResult r = run("all");
  EXPECT_EQ(r.exit_status, 0) << r.failure;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
}

TEST_F(Pipelines, OrderNothingForWhoDoesNotWaitForABarrier) { EXPECT_TRUE(races_on(run("handed"), "parts")); }

TEST_F(Pipelines, OrderNothingForWhoDoesNotWaitForAStage) { EXPECT_TRUE(races_on(run("staged"), "stage")); }

// Each warp takes one round more than the one before it, and drops out; half of the threads by the instruction.
const char* const kLeaves = R"(#include <cuda/barrier>
using Barrier = cuda::barrier<cuda::thread_scope_block>;
__global__ void leaves(int* out, char how) {
  __shared__ Barrier both;
  __shared__ int parts[2][128];
  if (threadIdx.x == 0) init(&both, 128);
  __syncthreads();
  const unsigned warp = threadIdx.x / 32, rounds = warp + 1;
  int sum = 0;
  for (unsigned n = 0; n < rounds; ++n) {
    parts[n % 2][threadIdx.x] = threadIdx.x + n;
    if (n + 1 == rounds && how != 'n') {
      if (threadIdx.x % 2) both.arrive_and_drop();
      else asm volatile("mbarrier.arrive_drop.shared.b64 _, [%0];" ::"r"((unsigned)__cvta_generic_to_shared(&both)) : "memory");
      break;
    }
    both.arrive_and_wait();
    if (how != 'r') sum += parts[n % 2][threadIdx.x ^ 1];
  }
  if (how == 'r' && threadIdx.x == 127) sum = parts[1][126];
  out[threadIdx.x] = sum;
}
int main(int, char** words) {
  int *d, h[128];
  cudaMalloc(&d, sizeof h);
  leaves<<<1, 128>>>(d, words[1][0]);
  cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
  return h[31] != 0 || h[127] != 126 + 127 + 128;
}
)";

TEST(Barriers, GoOnWithoutWhoHasDroppedOut) {
  const WrittenSource source(kLeaves, "leaves.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main({"drop"});
  EXPECT_EQ(good.exit_status, 0) << good.failure;
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  // Without a drop the others wait for ever; a drop waits for nobody.
  const RunResult never = module.run_main({"never"});
  ASSERT_FALSE(never.reports.empty()) << never.failure;
  EXPECT_EQ(never.reports[0].kind, Kind::barrier_divergence);
  const RunResult race = module.run_main({"reads"});
  ASSERT_FALSE(race.reports.empty()) << race.failure;
  EXPECT_EQ(race.reports[0].kind, Kind::race);
  EXPECT_EQ(race.reports[0].buffer, "parts");
}

// Two blocks meet at a barrier of the device's scope; the last thread of a block's barrier calls a function.
const char* const kWide = R"(#include <cuda/barrier>
#include <cstdlib>
using wide = cuda::barrier<cuda::thread_scope_device>;
struct Counts { int* n; __device__ void operator()() { ++*n; } };
using counting = cuda::barrier<cuda::thread_scope_block, Counts>;
__global__ void start(wide* b, int n) { init(b, n); }
__global__ void sums(wide* b, int* y, int how) {
  const int me = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
  for (int round = 0; round < 3; ++round) {
    y[me] += me + round;
    if (how == 1 && round == 2) b->arrive();
    else b->arrive_and_wait();
    const int other = y[all - 1 - me];
    b->arrive_and_wait();
    y[me] += other;
  }
}
__global__ void counts(int* n) {
  __shared__ counting b;
  __shared__ int part[32];
  if (threadIdx.x == 0) init(&b, blockDim.x, Counts{n});
  __syncthreads();
  part[threadIdx.x] = threadIdx.x;
  b.arrive_and_wait();
  if (part[31 - threadIdx.x] != 31 - threadIdx.x) n[1] = 1;
  auto token = b.arrive();
  b.wait(std::move(token));
}
int main(int argc, char** argv) {
  wide* b; int *y, *n, h[64], k[2];
  cudaMalloc(&b, sizeof *b); cudaMalloc(&y, sizeof h); cudaMemset(y, 0, sizeof h); cudaMalloc(&n, 8); cudaMemset(n, 0, 8);
  start<<<1, 1>>>(b, 64);
  sums<<<2, 32>>>(b, y, argc > 1 ? std::atoi(argv[1]) : 0);
  counts<<<1, 32>>>(n);
  if (cudaDeviceSynchronize()) return 1;
  cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost); cudaMemcpy(k, n, 8, cudaMemcpyDeviceToHost);
  int v[64] = {};
  for (int r = 0; r < 3; ++r) { int o[64]; for (int i = 0; i < 64; ++i) v[i] += i + r; for (int i = 0; i < 64; ++i) o[i] = v[63 - i]; for (int i = 0; i < 64; ++i) v[i] += o[i]; }
  for (int i = 0; i < 64; ++i) if (h[i] != v[i] && argc < 2) return 2;
  return k[0] == 2 && k[1] == 0 ? 0 : 3;
}
)";

TEST(Barriers, OfTheDeviceOrderItsBlocksAndOthersCallAFunction) {
  const WrittenSource source(kWide);
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"1"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::race) << faulty.reports[0].text;
}

const char* const kCopies = R"(
#include <cstring>
struct Six { int v[6]; };
__global__ void copies(Six* out, const Six* in, int count) {
  __shared__ Six here[4];
  memcpy(&here[threadIdx.x], in + threadIdx.x, sizeof(Six));
  __syncthreads();
  Six mine = here[3 - threadIdx.x];
  std::memcpy(out + count - 1 - threadIdx.x, &mine, sizeof mine);
}
int main(int, char** words) {
  Six *in, *out;
  cudaMalloc(&in, 96), cudaMalloc(&out, 96), cudaMemset(in, 0, 96);
  copies<<<1, 4>>>(out, in, words[1][0] - '0');
}
)";

TEST(Copies, OfAFewBytesAreSeen) {
  const WrittenSource source(kCopies, "copies.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  for (const Report& report : module.run_main({"4"}).reports) ADD_FAILURE() << report.text;
  const RunResult r = module.run_main({"5"});
  ASSERT_EQ(r.reports.size(), 1u);
  EXPECT_EQ(r.reports[0].kind, Kind::out_of_bounds_write);
  EXPECT_EQ(r.reports[0].bytes, 24u);
}

}  // namespace
}  // namespace isomer::emulator::tests
