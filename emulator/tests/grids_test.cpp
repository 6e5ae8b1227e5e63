// The grid's barrier where some threads or blocks have ended: what holds, what hangs, and what is told of it.
#include <gtest/gtest.h>

#include <algorithm>

#include "isomer/emulator/module.hpp"
#include "isomer/emulator/written.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// Each block reads what the next one wrote, on the two sides of the grid's barrier.
const char* const kKernel = R"(#include <cooperative_groups.h>
namespace cg = cooperative_groups;
enum { whole, ends_early, block_ends, first_ends, first_of_one_ends, leaves_second, goes_around, parts };
__global__ void turns(int* out, int how) {
  const cg::grid_group grid = cg::this_grid();
  const int me = blockIdx.x * blockDim.x + threadIdx.x;
  const int next = (blockIdx.x + 1) % gridDim.x * blockDim.x + threadIdx.x;
  if (how == ends_early && threadIdx.x >= 20) return;
  if (how == block_ends && blockIdx.x == 1) return;
  if (how == first_ends && threadIdx.x == 0) return;
  if (how == first_of_one_ends && threadIdx.x + blockIdx.x == 0) return;
  out[me] = me;
  if (how == goes_around) {
    if (threadIdx.x < 40)
      grid.sync();
  } else if (how == parts && threadIdx.x < 32) {
    grid.sync();
  } else {
    grid.sync();
  }
  if (how == leaves_second && blockIdx.x == 2) return;
  const int got = how == whole || how == ends_early || how == first_ends ? out[next] : 0;
  if (how != goes_around) grid.sync();
  out[me] = got;
}
)";
enum How { whole, ends_early, block_ends, first_ends, first_of_one_ends, leaves_second, goes_around, parts };

class Grids : public testing::Test {
 protected:
  static RunResult run(How how, unsigned blocks = 3, bool watch = true) {
    static const WrittenSource source(kKernel);
    static const Module watched = Module::build({.sources = {source.path()}, .watch = true});
    static const Module plain = Module::build({.sources = {source.path()}});
    const WrittenArgument out = parse_argument("out=inout:i32:192:zero", 1),
                          number = parse_argument("how=i32:" + std::to_string(how), 1);
    return (watch ? watched : plain)
        .launch("turns", {{blocks, 1, 1}, {64, 1, 1}, 0, true}, {out.argument, number.argument}, {});
  }
  static void expect_clean(const RunResult& r) {
    EXPECT_EQ(r.failure, "");
    EXPECT_EQ(r.error, 0);
    for (const Report& each : r.reports) ADD_FAILURE() << each.text;
  }
  static void expect_told(const RunResult& r, unsigned line, const char* words) {
    for (const Report& each : r.reports)
      if (each.kind == Kind::barrier_divergence && each.place.line == line &&
          each.text.find(words) != std::string::npos)
        return;
    ADD_FAILURE() << "not told at line " << line << ": " << words;
    for (const Report& each : r.reports) ADD_FAILURE() << each.text;
  }
};

TEST_F(Grids, HoldWhereThreadsHaveReturnedAndTheFirstOfEachBlockHasNot) {
  expect_clean(run(whole));
  expect_clean(run(ends_early));
  expect_clean(run(ends_early, 3, false));
}

TEST_F(Grids, OfOneBlockNeedNobodyToCountItIn) { expect_clean(run(first_ends, 1)); }

TEST_F(Grids, HangWhereABlockHasEndedAndThatIsTold) {
  for (const bool watch : {true, false}) {
    const RunResult r = run(block_ends, 3, watch);
    EXPECT_EQ(r.error, 719);
    EXPECT_FALSE(r.reports.empty());
    EXPECT_NE(run(leaves_second, 3, watch).error, 0);
  }
  expect_told(run(block_ends), 19, "waits for ever in the grid's barrier");
  expect_told(run(leaves_second), 23, "waits for ever in the grid's barrier");
}

TEST_F(Grids, DoNotCountABlockWhoseFirstThreadHasEnded) {
  const RunResult all = run(first_ends), one = run(first_of_one_ends);
  expect_told(all, 19, "this block is not counted");
  EXPECT_EQ(all.error, 0);  // nobody waits, and so nothing is ordered
  EXPECT_EQ(std::count_if(all.reports.begin(), all.reports.end(),
                          [](const Report& each) { return each.kind == Kind::race; }),
            2);
  expect_told(one, 19, "this block is not counted");
  EXPECT_EQ(one.error, 719);  // the other blocks wait for it
}

TEST_F(Grids, AreDivergentWhereThreadsGoAroundThemOrWaitElsewhere) {
  expect_told(run(goes_around), 15, "which thread (40,0,0) has left out");
  expect_told(run(goes_around, 1), 15, "which thread (40,0,0) has left out");
  expect_told(run(parts), 17, "while thread (32,0,0) waits at another one");
}

// A scatter by places that another kernel has counted into memory that the host had set to zero.
const char* const kScatter = R"(
__global__ void place(int* places, int n) {
  if (threadIdx.x == 0 && blockIdx.x < n) places[blockIdx.x] = blockIdx.x;
}
__global__ void scatter(const int* places, int* out, int shift) {
  out[places[blockIdx.x * 32 + threadIdx.x] + shift] = threadIdx.x;
}
int main(int count, char**) {
  int *places, *out;
  cudaMalloc(&places, 256 * sizeof(int)), cudaMalloc(&out, 256 * sizeof(int));
  cudaMemset(places, 0, 256 * sizeof(int));
  place<<<256, 32>>>(places, 256);
  scatter<<<8, 32>>>(places, out, count - 1);
  return cudaDeviceSynchronize();
}
)";

TEST_F(Grids, WhatBlocksLeftOutWouldHaveWrittenOverTheHostsValuesIsAGuess) {
  const WrittenSource source(kScatter, "scatter.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  for (const std::uint64_t blocks : {0, 8}) {
    const RunResult good = module.run_main({}, {.blocks = blocks});
    for (const Report& report : good.reports) ADD_FAILURE() << report.text;
    // The last block has run: what it left is no guess.
    const RunResult faulty = module.run_main({"one further"}, {.blocks = blocks});
    ASSERT_EQ(faulty.reports.size(), 1u) << blocks;
    EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_write);
    EXPECT_EQ(faulty.reports[0].thread[0], 31u);
  }
}

// Sums of what blocks have counted, through a warp's shuffles and over values of the host's, as places to
// write to.
const char* const kSums = R"(
__global__ void count(int* counts) {
  if (threadIdx.x == 0) counts[blockIdx.x] = 1;
}
__global__ void add(const int* counts, int* places) {
  int sum = threadIdx.x == 0 ? 0 : counts[threadIdx.x - 1];
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(~0u, sum, d);
    if (threadIdx.x >= d) sum += other;
  }
  places[threadIdx.x] = __shfl_sync(~0u, sum, threadIdx.x);
}
__global__ void put(const int* places, int* out, int by) { out[places[blockIdx.x] * by] = blockIdx.x; }
int main(int argc, char**) {
  int *counts, *places, *out;
  cudaMalloc(&counts, 128 * sizeof(int)), cudaMalloc(&places, 32 * sizeof(int)), cudaMalloc(&out, 32 * sizeof(int));
  cudaMemset(places, 0, 32 * sizeof(int));
  count<<<128, 32>>>(counts);
  add<<<1, 32>>>(counts, places);
  put<<<32, 1>>>(places, out, argc == 1);
  return cudaDeviceSynchronize();
}
)";

TEST_F(Grids, WhatLanesMakeOfAGuessIsOne) {
  const WrittenSource source(kSums, "sums.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  for (const std::uint64_t blocks : {0, 64}) {
    const RunResult good = module.run_main({}, {.blocks = blocks});
    for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  }
  const RunResult faulty = module.run_main({"all to one place"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kernel, "put");
}

// Whoever counts last sums what all have written; the counter goes on from launch to launch, in memory of the
// host's making and in a variable.
const char* const kLast = R"(
__device__ unsigned done;
__global__ void sum(int* parts, int* total, unsigned* count, int missing) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = blockIdx.x;
    __threadfence();
    const unsigned n = count ? atomicAdd(count, 1) : atomicAdd(&done, 1);
    last = n % gridDim.x == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  if (threadIdx.x == 0) *total = 0;
  if (!missing) __syncthreads();
  for (unsigned i = threadIdx.x; i < gridDim.x; i += blockDim.x) atomicAdd(total, parts[i]);
}
int main(int words, char**) {
  int *parts, *total, result;
  unsigned* count;
  cudaMalloc(&parts, 32 * sizeof(int)), cudaMalloc(&total, sizeof(int)), cudaMalloc(&count, sizeof(unsigned));
  cudaMemset(count, 0, sizeof(unsigned));
  for (int i = 0; i < 30; ++i) sum<<<32, 32>>>(parts, total, i % 2 ? count : 0, words > 1);
  cudaMemcpy(&result, total, sizeof result, cudaMemcpyDeviceToHost);
  return 0;
}
)";

TEST_F(Grids, WhatBlocksLeftOutWouldHaveCountedOnIsAGuess) {
  const WrittenSource source(kLast, "last.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  for (const std::uint64_t blocks : {0, 5, 31}) {
    const RunResult good = module.run_main({}, {.blocks = blocks});
    for (const Report& report : good.reports) ADD_FAILURE() << blocks << ": " << report.text;
  }
  const RunResult faulty = module.run_main({"no barrier"});
  const auto races = [](const Report& report) { return report.kind == Kind::race && report.place.line == 14; };
  EXPECT_EQ(std::count_if(faulty.reports.begin(), faulty.reports.end(), races), 1);
}

}  // namespace
}  // namespace isomer::emulator::tests
