// The process that runs user code: whatever the code does, the caller lives and gets one sentence.
#include <gtest/gtest.h>

#include <chrono>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kUnruly = R"(
#include <cuda_runtime.h>
#include <cstdlib>
#include <cstdio>
#include <unistd.h>
__global__ void endless(volatile int* p) { while (p[0] == 0) {} }
__global__ void endless_without_memory(int* p) { for (int i = 0;; i += 2) if (i == 1) p[0] = 1; }
__global__ void waits_for_ever(int* p) { while (atomicAdd(p, 0) != 12345) {} }
__device__ __noinline__ int deep(int n, int* p) { volatile int a[64]; a[n % 64] = n; return n == 0 ? 0 : deep(n - 1, p) + a[n % 64] + 1; }
__global__ void recursion(int* p) { p[0] = deep(1 << 28, p); }
__global__ void recursion_shallow(int* p) { p[0] = deep(100, p) > 0; }
__global__ void wild(int* p) { p[(1ll << 50) + threadIdx.x] = 1; }
__global__ void through_null(int* p) { if (p[0] == 0) p = nullptr; *(volatile int*)(p + 5) = 1; }
__global__ void divides(int* p, int zero) { p[0] = 7 / zero; }
__global__ void behind_the_end(int* p, int n) { p[n] = 1; }
extern "C" int exits() { exit(3); }
extern "C" int aborts() { abort(); }
extern "C" int crashes() { *(volatile int*)8 = 1; return 0; }
extern "C" int sleeps() { sleep(1000); return 0; }
extern "C" int prints() { for (int i = 0; i < 3000000; ++i) puts("a line of no interest at all"); return 0; }
extern "C" int forks() { for (int i = 0; i < 20; ++i) if (fork() == 0) { sleep(1000); } return 0; }
__global__ void counts(int* p) { while (atomicAdd(p, 1) != -2) {} }
__global__ void reads(volatile int* p, int n) { int sum = 0; for (int i = 0; i < n; ++i) sum += p[0]; if (sum == 1) p[1] = sum; }
__global__ void one_block(volatile int* p) { while (blockIdx.x == 77 && p[0] == 0) {} }
)";

class Child : public testing::Test {
 protected:
  static const Module& module(bool watch) {
    static const WrittenSource source(kUnruly, "unruly.cu");
    static const Module plain = Module::build({.sources = {source.path()}});
    static const Module watched = Module::build({.sources = {source.path()}, .watch = true});
    return watch ? watched : plain;
  }
  static RunResult kernel(const char* name, bool watch, RunOptions options = {.timeout_seconds = 2}) {
    std::vector<int> p(64);
    return module(watch).launch(name, {{1, 1, 1}, {4, 1, 1}}, {Argument::in_out("p", p)}, options);
  }
};

TEST_F(Child, AKernelThatNeverEndsIsStoppedAndItsPlaceNamed) {
  for (const char* name : {"endless", "endless_without_memory"}) {
    const RunResult r = kernel(name, false, {.timeout_seconds = 0.5});
    EXPECT_EQ(r.not_finished, std::string(name) + " did not end within 0.5 s");
    EXPECT_EQ(r.error, 702);
    EXPECT_EQ(r.failure, "");
    EXPECT_TRUE(r.reports.empty()) << r.reports[0].text;
    EXPECT_FALSE(r.ok());
  }
  const RunResult r = kernel("endless", false, {.timeout_seconds = 0.5});
  ASSERT_EQ(r.stopped.size(), 1u);
  EXPECT_EQ(r.stopped[0].kind, Kind::step_limit);
  EXPECT_EQ(r.stopped[0].place.line, 6u) << r.stopped[0].text;
}

// The thread that launches has ended its own blocks and waits for those of another, which never end.
TEST_F(Child, AKernelThatNeverEndsInOneBlockOfManyIsNamedWhoeverRunsIt) {
  for (std::uint64_t seed : {1, 2, 3, 4}) {
    std::vector<int> p(64);
    const RunResult r =
        module(false).launch("one_block", {{256, 1, 1}, {64, 1, 1}}, {Argument::in_out("p", p)},
                             {.seed = seed, .workers = 4, .timeout_seconds = 0.5});
    EXPECT_EQ(r.not_finished, "one_block did not end within 0.5 s");
    ASSERT_EQ(r.stopped.size(), 1u) << seed;
    EXPECT_EQ(r.stopped[0].kind, Kind::step_limit);
    EXPECT_EQ(r.stopped[0].place.line, 24u) << r.stopped[0].text;
  }
}

// Nobody is left who would write what they wait for; the threads of the other kernel count.
TEST_F(Child, AWaitThatNobodyCanEndIsAFindingAndALongOneIsNot) {
  const RunResult wait = kernel("waits_for_ever", false, {.workers = 1, .timeout_seconds = 0.8});
  EXPECT_EQ(wait.not_finished, "");
  ASSERT_EQ(wait.reports.size(), 1u);
  EXPECT_EQ(wait.reports[0].kind, Kind::endless_wait);
  EXPECT_EQ(wait.reports[0].place.line, 8u) << wait.reports[0].text;
  const RunResult count = kernel("counts", false, {.workers = 1, .timeout_seconds = 0.8});
  EXPECT_NE(count.not_finished, "");
  EXPECT_TRUE(count.reports.empty()) << count.reports[0].text;
}

TEST_F(Child, AKernelWhoseBlocksEndIsTooLargeAndNotEndless) {
  std::vector<int> p(64);
  const RunResult r =
      module(false).launch("reads", {{1 << 20, 1, 1}, {1, 1, 1}},
                           {Argument::in_out("p", p), Argument::value(100'000)}, {.timeout_seconds = 0.5});
  EXPECT_EQ(r.not_finished.find("too large to be emulated within 0.5 s: "), 0u) << r.not_finished;
  EXPECT_TRUE(r.reports.empty());
}

TEST_F(Child, AStepLimitEndsAWatchedKernelAtItsLine) {
  const RunResult r = kernel("endless", true, {.timeout_seconds = 30, .step_limit = 100000});
  EXPECT_EQ(r.not_finished, "endless was stopped at the limit of memory accesses");
  EXPECT_TRUE(r.reports.empty());
  ASSERT_EQ(r.stopped.size(), 1u) << r.failure;
  EXPECT_EQ(r.stopped[0].kind, Kind::step_limit);
  EXPECT_EQ(r.stopped[0].place.line, 6u) << r.stopped[0].text;
}

TEST_F(Child, RecursionThatNeverEndsOverflowsTheStackAndShallowRecursionDoesNot) {
  const RunResult deep = kernel("recursion", false);
  EXPECT_EQ(deep.failure, "recursion overflowed a thread's stack");
  ASSERT_EQ(deep.reports.size(), 1u);
  EXPECT_EQ(deep.reports[0].kind, Kind::stack_overflow);
  EXPECT_EQ(deep.reports[0].place.line, 9u) << deep.reports[0].text;
  EXPECT_TRUE(kernel("recursion_shallow", false).ok());
}

TEST_F(Child, AWildAddressIsACrashWhenPlainAndAReportWhenWatched) {
  const RunResult plain = kernel("wild", false);
  EXPECT_EQ(plain.failure, "wild stopped with a segmentation fault");
  ASSERT_EQ(plain.reports.size(), 1u);
  EXPECT_EQ(plain.reports[0].kind, Kind::crash);
  EXPECT_EQ(plain.reports[0].place.line, 12u);
  const RunResult watched = kernel("wild", true);
  EXPECT_EQ(watched.failure, "");
  EXPECT_EQ(watched.error, 700);
  ASSERT_EQ(watched.reports.size(), 1u);
  EXPECT_EQ(watched.reports[0].kind, Kind::out_of_bounds_write);
}

TEST_F(Child, ACrashThroughANullPointerIsToldFromOneFarAway) {
  const RunResult null = kernel("through_null", false);
  ASSERT_EQ(null.reports.size(), 1u);
  EXPECT_EQ(null.reports[0].kind, Kind::crash);
  EXPECT_EQ(null.reports[0].where, Where::null) << null.reports[0].text;
  EXPECT_NE(null.reports[0].text.find("through a null pointer"), std::string::npos) << null.reports[0].text;
  const RunResult wild = kernel("wild", false);
  ASSERT_EQ(wild.reports.size(), 1u);
  EXPECT_EQ(wild.reports[0].where, Where::buffer);
  EXPECT_NE(wild.reports[0].text.find("outside of device memory"), std::string::npos) << wild.reports[0].text;
}

TEST_F(Child, ADivisionByZeroIsNamedAndGoesOnWatchedOrNot) {
  for (const bool watch : {false, true}) {
    std::vector<int> p(4);
    const RunResult r = module(watch).launch("divides", {}, {Argument::in_out("p", p), Argument::value(0)});
    EXPECT_EQ(r.failure, "");
    EXPECT_EQ(p[0], -1);
    ASSERT_EQ(r.reports.size(), 1u);
    EXPECT_EQ(r.reports[0].kind, Kind::integer_division);
    EXPECT_EQ(r.reports[0].place.line, 14u) << r.reports[0].text;
    EXPECT_TRUE(module(watch).launch("divides", {}, {Argument::in_out("p", p), Argument::value(7)}).ok());
  }
}

TEST_F(Child, AWriteBehindABufferIsSeenWithoutTheWatchToo) {
  std::vector<int> p(64);
  const RunResult r =
      module(false).launch("behind_the_end", {}, {Argument::in_out("p", p), Argument::value(64)});
  ASSERT_EQ(r.reports.size(), 1u);
  EXPECT_EQ(r.reports[0].kind, Kind::out_of_bounds_write);
  EXPECT_EQ(r.reports[0].buffer, "p");
  EXPECT_EQ(r.reports[0].offset, 256);
}

TEST_F(Child, HostCodeThatExitsAbortsCrashesOrSleepsIsOneSentence) {
  EXPECT_EQ(module(false).call("exits", {}).failure, "exits: the code ended the process with exit status 3");
  EXPECT_NE(module(false).call("aborts", {}).failure.find("host code stopped with an abort"),
            std::string::npos);
  const RunResult crash = module(false).call("crashes", {});
  EXPECT_NE(crash.failure.find("host code stopped with a segmentation fault at "), std::string::npos)
      << crash.failure;
  EXPECT_NE(crash.failure.find("unruly.cu:18"), std::string::npos) << crash.failure;
  EXPECT_NE(module(false)
                .call("sleeps", {}, {.timeout_seconds = 0.5})
                .not_finished.find("host code did not end within 0.5 s"),
            std::string::npos);
  EXPECT_NE(module(false).call("no_such", {}).failure.find("exports no function no_such"), std::string::npos);
}

TEST_F(Child, FloodsOfOutputAreCutAndForkedChildrenEnd) {
  const RunResult loud = module(false).call("prints", {});
  EXPECT_EQ(loud.failure, "");
  EXPECT_LE(loud.output.size(), std::size_t{1} << 20);
  const auto begin = std::chrono::steady_clock::now();
  const RunResult forked = module(false).call("forks", {}, {.timeout_seconds = 10});
  EXPECT_EQ(forked.failure, "");
  // They sleep for longer.
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(500));
}

TEST_F(Child, AProgramsMainRunsWithItsArgumentsAndStatus) {
  const WrittenSource source(R"(
#include <cuda_runtime.h>
#include <cstdio>
__global__ void hello(int n) { printf("thread %d of %d\n", threadIdx.x, n); }
int main(int argc, char** argv) {
  hello<<<1, 2>>>(2);
  cudaDeviceSynchronize();
  printf("%d %s\n", argc, argv[1]);
  return 5;
}
)");
  const Module m = Module::build({.sources = {source.path()}});
  ASSERT_TRUE(m.has_main());
  const RunResult r = m.run_main({"word"});
  EXPECT_EQ(r.output, "thread 0 of 2\nthread 1 of 2\n2 word\n");
  EXPECT_EQ(r.exit_status, 5);
  ASSERT_EQ(r.launches.size(), 1u);
  EXPECT_EQ(r.launches[0].kernel, "hello");
}

}  // namespace
}  // namespace isomer::emulator::tests
