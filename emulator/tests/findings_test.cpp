// What the watch tells of whole programs: each defect with its clean twin, chosen by the program's first
// word.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "isomer/emulator/module.hpp"
#include "isomer/emulator/suppressions.hpp"
#include "isomer/emulator/written.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kProgram = R"(
#include <climits>
#include <cstdlib>
#include <string>
__global__ void fill(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = n; }
__global__ void flag(int* p, int step) { p[0] = 7 + step * threadIdx.x; }
__global__ void greatest(int* p) {
  int old = *p;
  while (old < int(threadIdx.x)) {
    const int seen = atomicCAS(p, old, int(threadIdx.x));
    if (seen == old) break;
    old = seen;
  }
}
__global__ void counts(int* p, int* q) {
  const int before = *p;
  atomicAdd(p, 1);
  q[threadIdx.x] = before;
}
__global__ void cast(int* p, float x) { p[threadIdx.x] = static_cast<int>(x); }
__global__ void behind(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void numbers(int* index) { index[blockIdx.x * 32 + threadIdx.x] = blockIdx.x * 32 + threadIdx.x; }
__global__ void follows(const int* index, int* p, int past) {
  const int i = index[(blockIdx.x * 32 + threadIdx.x) * 7 % 1024];
  p[i + past] = 1;
}
__global__ void halves(int* p, bool returns) {
  if (returns && threadIdx.x >= 32) return;
  for (int i = threadIdx.x; i < 32; i += blockDim.x) {
    p[i] = i;
    __syncthreads();
  }
}
__device__ void half(int* p) {
  if (threadIdx.x >= 32) return;
  __syncthreads();
  p[threadIdx.x] = 1;
}
__global__ void through(int* p) { half(p); }
struct Shape {
  int sides;
  __device__ explicit Shape(int n) : sides(n) {}
  __device__ virtual int corners() const { return sides; }
};
__global__ void makes(Shape** shapes) { shapes[threadIdx.x] = new Shape(threadIdx.x + 3); }
__global__ void uses(Shape** shapes, int* p, int past) {
  int* const room = static_cast<int*>(malloc(8));
  room[1] = shapes[threadIdx.x]->corners();
  p[threadIdx.x] = room[past];
  free(room);
  if (threadIdx.x == 0) delete shapes[0];
}
__global__ void saturates(int* p, unsigned* u, float x, double y) {
  p[0] = (int)x, p[1] = static_cast<int>(-x), p[2] = -(int)x + 1, p[3] = (int)(x - x), p[4] = (int)(y - y);
  u[0] = (unsigned)x, u[1] = unsigned(-x), u[2] = int(x) / 2;
}
__global__ void one_after_another(int* turn) {
  while (atomicAdd(turn, 0) != int(blockIdx.x)) {}
  __threadfence();
  atomicAdd(turn, 1);
}
template <class T>
__device__ void divide(T* p, const T* with) {
  p[0] = with[0] / with[1], p[1] = with[0] % with[1];
}
__global__ void divides(int* p, unsigned* u, long long* l, unsigned long long* ul, const long long* with) {
  const int i[] = {int(with[0]), int(with[1])};
  const unsigned n[] = {unsigned(with[0]), unsigned(with[1])};
  const unsigned long long m[] = {static_cast<unsigned long long>(with[0]), static_cast<unsigned long long>(with[1])};
  divide(p, i);
  divide(u, n);
  divide(l, with);
  divide(ul, m);
  p[2] = p[2] / int(blockDim.y - 1 + with[1]);
  if (with[1] == 0) p[3] = int(with[0]) / int(with[1]);
}
int main(int count, char** words) {
  const std::string what = words[1];
  const bool bad = words[2][0] == 'b';
  int *p, *q;
  cudaMalloc(&p, 4096);
  cudaMalloc(&q, 4096);
  cudaMemset(p, 0, 4096);
  if (what == "freed") {
    if (bad) cudaFree(p);
    fill<<<1, 32>>>(p, 32);
    cudaDeviceSynchronize();
    if (bad) return 0;
  }
  if (what == "leak" && bad) { cudaFree(p); return 0; }
  if (what == "same") flag<<<1, 32>>>(p, bad ? 1 : 0);
  if (what == "look") { if (bad) counts<<<1, 32>>>(p, q); else greatest<<<1, 32>>>(p); }
  if (what == "cast") cast<<<1, 32>>>(p, bad ? 3e9f : 3e8f);
  if (what == "blocks") { behind<<<1000, 1>>>(p); behind<<<bad ? 1025 : 1024, 1>>>(p); }
  if (what == "index") {
    int* index;
    cudaMalloc(&index, 4096);
    numbers<<<32, 32>>>(index);
    follows<<<32, 32>>>(index, p, bad ? 1024 : 0);
    cudaFree(index);
  }
  if (what == "believed") {
    int got[1024];
    numbers<<<32, 32>>>(p);
    cudaMemcpy(got, p, 4096, cudaMemcpyDefault);
    if (got[300] != 300) *(volatile int*)8 = 1;
  }
  if (what == "returned") {
    int *index, zeros[1024] = {}, got[1024];
    cudaMalloc(&index, 4096);
    cudaMemcpy(index, zeros, 4096, cudaMemcpyDefault);
    numbers<<<32, 32>>>(index);
    cudaMemcpy(got, index, 4096, cudaMemcpyDefault);
    for (int i = 0; i < 1024; ++i) got[i] = 2 * got[i] - i;
    cudaMemcpy(index, got, 4096, cudaMemcpyDefault);
    follows<<<32, 32>>>(index, p, 0);
    cudaMemcpy(index, zeros, 4096, cudaMemcpyDefault);
    if (bad) follows<<<1, 1>>>(index, p, 1024);
    cudaFree(index);
  }
  if (what == "much") {
    int* more = nullptr;
    const bool got = cudaMalloc(&more, size_t{3} << 30) == cudaSuccess;
    if (got || !bad) fill<<<1, 32>>>(got ? more : nullptr, 32);
    if (got || !bad) fill<<<1, 32>>>((got ? more : nullptr) + (size_t{1} << 28), 32);  // far behind null
    cudaFree(more);
  }
  if (what == "left out") { halves<<<1, 64>>>(p, !bad); if (!bad) through<<<1, 64>>>(p); }
  if (what == "heap") {
    Shape** shapes;
    cudaMalloc(&shapes, 64);
    makes<<<1, 2>>>(shapes);
    uses<<<1, 2>>>(shapes, p, bad ? 2 : 1);
    if (words[2][1] == '2') uses<<<1, 1>>>(shapes, p, 1);
    cudaFree(shapes);
  }
  if (what == "turns") one_after_another<<<10, 1>>>(p);
  if (what == "division") {
    // The lowest number of 32 bits by zero, that of 64 bits by -1, and what fits.
    const long long with[] = {words[2][0] == 'b' ? -2147483648ll : words[2][0] == 'l' ? LLONG_MIN : 7,
                              words[2][0] == 'b' ? 0 : words[2][0] == 'l' ? -1 : 2};
    cudaMemcpy(q, with, 16, cudaMemcpyDefault);
    divides<<<1, 1>>>(p, reinterpret_cast<unsigned*>(p + 4), reinterpret_cast<long long*>(p + 8),
                      reinterpret_cast<unsigned long long*>(p + 12), reinterpret_cast<long long*>(q));
    int got[16];
    cudaMemcpy(got, p, 64, cudaMemcpyDefault);
    for (int x : got) printf("%d ", x);
  }
  if (what == "saturated") {
    saturates<<<1, 1>>>(p, reinterpret_cast<unsigned*>(q), 3e10f, INFINITY);
    int got[8];
    cudaMemcpy(got, p, 20, cudaMemcpyDefault);
    cudaMemcpy(got + 5, q, 12, cudaMemcpyDefault);
    for (int x : got) printf("%d ", x);
  }
  cudaFree(p);
  cudaFree(q);
}
)";

class Findings : public testing::Test {
 protected:
  static const std::string& path() {
    static const WrittenSource source(kProgram, "findings.cu");
    static const std::string path = source.path();
    return path;
  }
  static RunResult run(const char* what, const char* how, const RunOptions& options = {}) {
    static const Module module = Module::build({.sources = {path()}, .watch = true});
    return module.run_main({what, how}, options);
  }
  static std::uint32_t line_of(const char* text) {
    const std::string program = kProgram;
    return 1 + static_cast<std::uint32_t>(std::count(
                   program.begin(), program.begin() + static_cast<long>(program.find(text)), '\n'));
  }
  static std::string all(const RunResult& r) {
    std::string text = r.failure;
    for (const Report& report : r.reports) text += "\n" + report.text;
    return text;
  }
};

TEST_F(Findings, WhoUsesFreedMemoryIsToldWhereItWasFreed) {
  const RunResult bad = run("freed", "bad");
  ASSERT_EQ(bad.reports.size(), 1u) << all(bad);
  EXPECT_EQ(bad.reports[0].kind, Kind::use_after_free) << all(bad);
  EXPECT_EQ(bad.reports[0].place.line, line_of("p[threadIdx.x] = n"));
  EXPECT_NE(bad.reports[0].text.find("findings.cu:" + std::to_string(line_of("if (bad) cudaFree(p);"))),
            std::string::npos)
      << all(bad);
  EXPECT_TRUE(run("freed", "ok").ok()) << all(run("freed", "ok"));
}

TEST_F(Findings, WhatNobodyFreesIsToldWhereItWasAllocatedAndOnlyIfAskedFor) {
  const RunResult bad = run("leak", "bad", {.leaks = true});
  ASSERT_EQ(bad.reports.size(), 1u) << all(bad);
  EXPECT_EQ(bad.reports[0].kind, Kind::leak);
  EXPECT_EQ(bad.reports[0].place.line, line_of("cudaMalloc(&q"));
  EXPECT_TRUE(run("leak", "ok", {.leaks = true}).ok());
  EXPECT_TRUE(run("leak", "bad").ok());
}

TEST_F(Findings, WhatComesOfBlocksThatWereLeftOutIsNoFindingAndWhatDoesNotIs) {
  EXPECT_EQ(run("index", "ok", {.blocks = 3}).reports.size(), 0u) << all(run("index", "ok", {.blocks = 3}));
  const RunResult bad = run("index", "bad", {.blocks = 3});
  ASSERT_EQ(bad.reports.size(), 1u) << all(bad);
  EXPECT_EQ(bad.reports[0].kind, Kind::out_of_bounds_write);
}

TEST_F(Findings, WhoGoesOnWithoutTheMemoryThatWasRefusedIsToldOfTheRefusalAlone) {
  const RunResult bad = run("much", "ok", {.memory_limit = std::uint64_t{1} << 30});
  EXPECT_EQ(bad.reports.size(), 0u) << all(bad);
  ASSERT_EQ(bad.refusals.empty(), false);
  EXPECT_NE(bad.refusals[0].text.find("malloc: 3221225472 bytes wanted"), std::string::npos)
      << bad.refusals[0].text;
}

TEST_F(Findings, StoresOfOneValueAreAClassOfTheirOwnWithBothValues) {
  const RunResult same = run("same", "ok");
  ASSERT_EQ(same.reports.size(), 1u) << all(same);
  EXPECT_EQ(same.reports[0].kind, Kind::benign_race);
  EXPECT_FALSE(same.reports[0].looks_again);
  EXPECT_NE(same.reports[0].text.find("the values are 0x00000007 and 0x00000007"), std::string::npos)
      << all(same);
  const RunResult different = run("same", "bad");
  ASSERT_EQ(different.reports.size(), 1u) << all(different);
  EXPECT_EQ(different.reports[0].kind, Kind::race);
  EXPECT_NE(different.reports[0].text.find("0x00000007 and 0x00000008"), std::string::npos) << all(different);
}

TEST_F(Findings, TheFirstLookOfACompareAndSwapIsBenignAndAnyOtherReadIsNot) {
  const RunResult look = run("look", "ok");
  EXPECT_FALSE(look.reports.empty());
  for (const Report& r : look.reports) {
    EXPECT_EQ(r.kind, Kind::benign_race) << r.text;
    EXPECT_TRUE(r.looks_again) << r.text;
  }
  const RunResult counts = run("look", "bad");
  ASSERT_EQ(counts.reports.size(), 1u) << all(counts);
  EXPECT_EQ(counts.reports[0].kind, Kind::race) << all(counts);
}

TEST_F(Findings, ACastThatTheIntegerCannotHoldIsReported) {
  const RunResult bad = run("cast", "bad");
  ASSERT_EQ(bad.reports.size(), 1u) << all(bad);
  EXPECT_EQ(bad.reports[0].kind, Kind::float_to_integer);
  EXPECT_NE(bad.reports[0].text.find("casts 3e+09 from 'float' to 'int'"), std::string::npos) << all(bad);
  EXPECT_TRUE(run("cast", "ok").ok());
}

TEST_F(Findings, ACastSaturatesAsTheDeviceDoes) {
  const RunResult r = run("saturated", "ok");
  // A NaN of 32 bits is 0, and of 64 bits the highest bit.
  EXPECT_EQ(r.output, "2147483647 -2147483648 -2147483646 0 -2147483648 -1 0 1073741823 ") << all(r);
}

TEST_F(Findings, ADivisionByZeroIsReportedAndSetsEveryBitOfQuotientAndRemainder) {
  const RunResult bad = run("division", "bad");
  EXPECT_EQ(bad.output, "-1 -1 -1 -1 -1 -1 0 0 -1 -1 -1 -1 -1 -1 -1 -1 ") << all(bad);
  ASSERT_EQ(bad.reports.size(), 3u) << all(bad);  // of four types in one line, and of two lines more
  for (const Report& r : bad.reports) EXPECT_EQ(r.kind, Kind::integer_division) << all(bad);
  EXPECT_NE(bad.reports[0].text.find("divides -2147483648 by zero"), std::string::npos) << all(bad);
  const RunResult ok = run("division", "ok");
  EXPECT_TRUE(ok.ok()) << all(ok);
  EXPECT_EQ(ok.output, "3 1 0 0 3 1 0 0 3 0 1 0 3 0 1 0 ") << all(ok);
}

TEST_F(Findings, TheLowestNumberDividedByMinusOneIsItselfAsOnADevice) {
  const RunResult lowest = run("division", "lowest");
  EXPECT_EQ(lowest.output, "0 0 0 0 0 0 0 0 0 -2147483648 0 0 0 0 0 -2147483648 ") << all(lowest);
  ASSERT_EQ(lowest.reports.size(), 1u) << all(lowest);
  EXPECT_NE(lowest.reports[0].text.find("by -1, and no integer of its type holds the result"),
            std::string::npos)
      << all(lowest);
}

TEST_F(Findings, WhoeverComesToTheEndWhileOthersWaitHasLeftABarrierOut) {
  const RunResult bad = run("left out", "bad");
  ASSERT_EQ(bad.reports.size(), 1u) << all(bad);
  EXPECT_EQ(bad.reports[0].kind, Kind::barrier_divergence);
  EXPECT_NE(bad.reports[0].text.find("thread (32,0,0) has left out"), std::string::npos) << all(bad);
  // A thread that has returned is not waited for.
  EXPECT_TRUE(run("left out", "ok").ok()) << all(run("left out", "ok"));
}

TEST_F(Findings, WhatADeviceThreadAllocatesIsWatched) {
  EXPECT_TRUE(run("heap", "ok").ok()) << all(run("heap", "ok"));
  const RunResult past = run("heap", "bad");
  ASSERT_EQ(past.reports.size(), 1u) << all(past);
  EXPECT_EQ(past.reports[0].kind, Kind::out_of_bounds_read) << all(past);
  EXPECT_NE(past.reports[0].text.find("at offset 8"), std::string::npos) << all(past);
  const RunResult deleted = run("heap", "o2");
  ASSERT_EQ(deleted.reports.size(), 1u) << all(deleted);
  EXPECT_EQ(deleted.reports[0].kind, Kind::use_after_free) << all(deleted);
  EXPECT_EQ(deleted.reports[0].place.line, line_of("room[1] = shapes"));
  EXPECT_NE(deleted.reports[0].text.find(":" + std::to_string(line_of("delete shapes[0]"))),
            std::string::npos)
      << all(deleted);
}

TEST_F(Findings, SampledBlocksAreTheFirstTheLastAndSomeBetween) {
  const RunResult all_blocks = run("blocks", "bad");
  ASSERT_EQ(all_blocks.reports.size(), 1u) << all(all_blocks);
  const RunResult sampled = run("blocks", "bad", {.blocks = 8});
  ASSERT_EQ(sampled.reports.size(), 1u) << all(sampled);
  EXPECT_EQ(sampled.launches[1].blocks, 8u);
  EXPECT_EQ(sampled.reports[0].block[0], 1024u);
  EXPECT_NE(to_text(sampled).find("sampled: 16 of 2025 blocks ran in 2 launches"), std::string::npos)
      << to_text(sampled);
}

TEST_F(Findings, AWaitForBlocksThatWereLeftOutIsNoFindingAndEndsTheRun) {
  const RunResult sampled = run("turns", "ok", {.blocks = 3});
  EXPECT_TRUE(sampled.reports.empty()) << all(sampled);
  EXPECT_EQ(sampled.not_finished, "one_after_another waits for blocks that the run left out") << all(sampled);
  EXPECT_TRUE(run("turns", "ok").ok()) << all(run("turns", "ok"));
}

TEST_F(Findings, AHostThatFailsOnASampleHasNotFinished) {
  const RunResult sampled = run("believed", "ok", {.blocks = 3});
  EXPECT_EQ(sampled.failure, "");
  EXPECT_NE(sampled.not_finished.find("in a run of which blocks were left out"), std::string::npos)
      << sampled.not_finished;
  EXPECT_TRUE(run("believed", "ok").ok()) << all(run("believed", "ok"));
}

TEST_F(Findings, WhatTheHostMakesOfASampleIsAGuess) {
  for (const std::uint64_t blocks : {0, 5}) {
    const RunResult good = run("returned", "good", {.blocks = blocks});
    EXPECT_TRUE(good.ok()) << good.failure << good.not_finished << all(good);
    // What it had sent before it saw a result is none.
    const RunResult faulty = run("returned", "bad", {.blocks = blocks});
    ASSERT_EQ(faulty.reports.size(), 1u) << all(faulty);
    EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_write);
  }
}

TEST_F(Findings, FiltersSayWhichLaunchesAreWatched) {
  EXPECT_TRUE(run("blocks", "bad", {.last_watched = 1}).ok());
  EXPECT_EQ(run("blocks", "bad", {.first_watched = 2}).reports.size(), 1u);
  EXPECT_TRUE(run("blocks", "bad", {.watched_kernel = "fill"}).ok());
  EXPECT_EQ(run("blocks", "bad", {.watched_kernel = "behind"}).reports.size(), 1u);
}

TEST_F(Findings, ASuppressionsFileLeavesOutWhatItNames) {
  const auto left = [](const std::string& text) {
    const WrittenSource file(text, "known.txt");
    RunResult r = run("same", "bad");
    EXPECT_EQ(r.reports.size(), 1u);
    return r.reports.size() - suppress(r, read_suppressions(file.path()));
  };
  const std::string line = std::to_string(line_of("p[0] = 7"));
  EXPECT_EQ(left("race # all of them\n"), 0u);
  EXPECT_EQ(left("\nrace kernel=flag file=findings.cu:" + line + "\n"), 0u);
  EXPECT_EQ(left("* file=findings.cu\n"), 0u);
  EXPECT_EQ(left("race kernel=fill\nbenign-race\nrace file=indings.cu\nrace file=findings.cu:1\n"), 1u);
  try {
    left("race\nrase\n");
    ADD_FAILURE() << "no error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("known.txt:2: rase is no kind of finding"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
