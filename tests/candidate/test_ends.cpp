// However a candidate ends, the caller goes on: one sentence each.
#include "written.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>

namespace isomer::lab::tests {
namespace {

constexpr const char* kMany = R"(#include <hip/hip_runtime.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>
__global__ void endless(volatile int* y) { while (y[0] == 0) y[1] = y[1] + 1; }
__global__ void null(int* y) { *(y[0] == 0 ? (int*)nullptr : y) = 1; }
void spin(int* y) { endless<<<1, 1>>>(y); }
void host_spin(int* y) { volatile int n = 0; while (true) n = n + 1; }
void host_null(int* y) { *(volatile int*)8 = y[0]; }
void device_null(int* y) { null<<<1, 1>>>(y); }
void divide(int* y) { volatile int zero = 0; y[0] = 100 / zero; }
void leave(int* y) { exit(3); }
void leave_at_once(int* y) { _exit(4); }
void throws(int* y) { throw std::runtime_error("the rank is wrong\nand more"); }
void throws_int(int* y) { throw 7; }
void aborts(int* y) { abort(); }
void forks(int* y) { while (true) fork(); }
void shell(int* y) { system("true"); }
void eats(int* y) { std::vector<std::string> all; while (true) all.push_back(std::string(1 << 20, 'x')); }
void prints(int* y) { while (true) puts("all work and no play"); }
void prints_binary(int* y) { char bytes[] = {0, 1, (char)0xff, 27, '[', '3', '1', 'm', 0}; fwrite(bytes, 1, sizeof bytes, stdout); y[0] = 1; }
void writes(int* y) {
  FILE* f = tmpfile();
  std::vector<char> chunk(1 << 20, 'x');
  for (int i = 0; i < 10240; ++i) fwrite(chunk.data(), 1, chunk.size(), f);
  y[0] = 1;
}
void trusts_malloc(int* y) { auto* p = (volatile char*)malloc(10ull << 30); p[y[0]] = 1; y[0] = p[0]; }
void trusts_hip_malloc(int* y) { int* p; hipMalloc(&p, 10ull << 30); hipMemset(p, 0, 4); y[0] = 1; }
void gives_up(int* y) {
  int* p;
  if (hipMalloc(&p, 10ull << 30) != hipSuccess) { fprintf(stderr, "no memory\n"); exit(1); }
}
void asks_and_goes_on(int* y) { void* volatile p = malloc(10ull << 30); y[0] = p == nullptr; }
void says_why(int* y) { fprintf(stderr, "first\n\x1b[31mcheck failed:\x1b[0m y\a is null\n\n"); abort(); }
void recurses(int* y) { volatile char page[4096]; page[0] = y[0]; recurses(y); y[0] = page[0]; }
static int calls = 0;
void counts(int* y) { y[0] = ++calls; y[1] += 1; }
__global__ void reads(volatile int* y, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += y[0];
  if (blockIdx.x == 0) y[1] = sum + 7;
}
void much(int* y) { reads<<<1500, 1>>>(y, 1000000); }
void far_too_much(int* y) { reads<<<1 << 20, 1>>>(y, 20000); }
)";

class CandidateEnds : public testing::Test {
 protected:
  static const Candidate& many() {
    static const auto c = built("candidate.hip.cpp", kMany);
    return *c;
  }
  static Answer call(const std::string& name, CallSettings settings = {}) {
    if (settings.timeout_seconds == CallSettings().timeout_seconds) settings.timeout_seconds = 1;
    return many().call(entry_named(many(), name), {tensor_value("y", DType::i32, {2})}, settings);
  }
  // After whatever happened, the next call works.
  static void TearDownTestSuite() { EXPECT_TRUE(call("counts").ok()); }
};

TEST_F(CandidateEnds, EndlessLoopsAreTimedOutOnDeviceAndHost) {
  const Answer device = call("spin", {.timeout_seconds = 3});  // a busy machine may take a second to begin
  EXPECT_EQ(device.end, Answer::End::timed_out);
  // Its rounds in vain are over before its second is, or after it, as fast as the machine is.
  if (device.waits_for_ever)
    EXPECT_NE(device.message.find("waits for ever in a loop"), std::string::npos) << device.message;
  else
    EXPECT_EQ(device.message, "endless did not end within 3 s");
  EXPECT_EQ(device.place.line, 10);
  const Answer host = call("host_spin");
  EXPECT_EQ(host.end, Answer::End::timed_out);
  EXPECT_EQ(host.place.line, 13);
  EXPECT_EQ(host.message.find("host code did not end within 1 s"), 0u) << host.message;
}

TEST_F(CandidateEnds, ASmallCallIsGivenUpBeforeItsLimitAndAWaitForNobodyAtOnce) {
  const Answer host = call("host_spin", {.timeout_seconds = 19});
  EXPECT_EQ(host.end, Answer::End::timed_out);
  EXPECT_EQ(host.message.find("host code did not end within 3.8 s"), 0u) << host.message;
  EXPECT_GT(host.worked_seconds, 3);
  const auto c = built("candidate.cu", R"(
__global__ void waits(int* y) {
  if (threadIdx.x == 0) while (atomicAdd(y, 0) < 1) {}
  __syncthreads();
  y[1] = 1;
}
// launch: waits<<<1, 64>>>(y)
)");
  Value y = tensor_value("y", DType::i32, {2});
  const Answer waits = c->call(c->entries().at(0), {y}, {});
  EXPECT_EQ(waits.end, Answer::End::timed_out);
  EXPECT_TRUE(waits.waits_for_ever);
  EXPECT_EQ(waits.place.line, 3);
  EXPECT_NE(waits.message.find("waits for ever in a loop"), std::string::npos) << waits.message;
}

TEST_F(CandidateEnds, BlocksThatEndOneAfterTheOtherAreNoEndlessLoop) {
  const Answer a = call("far_too_much");
  EXPECT_EQ(a.end, Answer::End::too_large);
  EXPECT_EQ(a.message.find("too large to be emulated within 1 s: "), 0u) << a.message;
  EXPECT_NE(a.message.find(" of the 1048576 blocks of reads had ended"), std::string::npos) << a.message;
  EXPECT_TRUE(a.seen.empty());
}

TEST_F(CandidateEnds, WhatIsTooLargeToBeWatchedIsAskedWithoutTheWatch) {
  const Answer a = call("much", {.timeout_seconds = 8});
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_TRUE(a.unwatched);
  EXPECT_EQ(data_of<std::int32_t>(a.arguments[0])[1], 7);
  EXPECT_FALSE(call("counts").unwatched);
}

TEST_F(CandidateEnds, CrashesTellTheirPlace) {
  for (const auto& [name, line] :
       std::vector<std::pair<std::string, int>>{{"host_null", 14}, {"divide", 16}, {"recurses", 41}}) {
    const Answer a = call(name);
    EXPECT_EQ(a.end, Answer::End::crashed) << name << ": " << a.message;
    EXPECT_EQ(a.place.line, line) << name << ": " << a.message;
    EXPECT_FALSE(a.message.empty()) << name;
  }
}

TEST_F(CandidateEnds, HostCodeThatAbortsRefusesWhatItIsGiven) {
  const Answer a = call("aborts");
  EXPECT_EQ(a.end, Answer::End::refused) << a.message;
  EXPECT_TRUE(a.message.starts_with("host code stopped with an abort")) << a.message;
  EXPECT_EQ(a.place.line, 21);
}

TEST_F(CandidateEnds, ANullPointerInAKernelIsSeenOrCrashesUnwatched) {
  const Answer seen = call("device_null");
  ASSERT_EQ(seen.seen.size(), 1u) << seen.message;
  EXPECT_EQ(seen.seen[0].kind, "out-of-bounds-write");
  EXPECT_EQ(seen.seen[0].place.line, 11);
  CallSettings unwatched;
  unwatched.watch = false;
  const Answer crashed = call("device_null", unwatched);
  EXPECT_EQ(crashed.end, Answer::End::crashed);
  EXPECT_EQ(crashed.message, "null stopped with a segmentation fault");
  EXPECT_EQ(crashed.place.line, 11);
}

TEST_F(CandidateEnds, ExitIsAnEndWithItsStatus) {
  const Answer a = call("leave");
  EXPECT_EQ(a.end, Answer::End::exited);
  EXPECT_EQ(a.message, "the code ended the process with exit status 3");
  EXPECT_EQ(a.place.line, 17);
  const Answer b = call("leave_at_once");
  EXPECT_EQ(b.end, Answer::End::exited);
  EXPECT_EQ(b.message, "the code ended the process with exit status 4");
}

TEST_F(CandidateEnds, ExceptionsAreRefusalsWithTheirFirstLineAndPlace) {
  const Answer a = call("throws");
  EXPECT_EQ(a.end, Answer::End::refused);
  EXPECT_EQ(a.message, "the rank is wrong");
  EXPECT_EQ(a.place.line, 19);
  const Answer b = call("throws_int");
  EXPECT_EQ(b.end, Answer::End::refused);
  EXPECT_EQ(b.place.line, 20);
}

TEST_F(CandidateEnds, StartingProcessesIsALimit) {
  for (const char* name : {"forks", "shell"}) {
    const Answer a = call(name);
    EXPECT_EQ(a.end, Answer::End::over_limit) << name << ": " << a.message;
    EXPECT_NE(a.message.find("starts another process"), std::string::npos) << a.message;
  }
}

TEST_F(CandidateEnds, MemoryWithoutEndIsALimit) {
  CallSettings settings;
  settings.memory_limit = 256 << 20;
  settings.timeout_seconds = 10;  // touched within it on a busy machine
  const Answer a = call("eats", settings);
  EXPECT_EQ(a.end, Answer::End::over_limit) << a.message;
}

TEST_F(CandidateEnds, MemoryThatIsDeniedIsTheCauseOfWhatFollows) {
  for (const char* name : {"trusts_malloc", "trusts_hip_malloc", "gives_up"}) {
    const Answer a = call(name);
    EXPECT_EQ(a.end, Answer::End::over_limit) << name << ": " << a.message;
    EXPECT_NE(a.message.find("10737418240 bytes"), std::string::npos) << name << ": " << a.message;
    EXPECT_TRUE(a.refused_launches.empty()) << name << ": " << a.refused_launches.front().text;
  }
  const Answer lives = call("asks_and_goes_on");
  ASSERT_TRUE(lives.ok()) << lives.message;
  EXPECT_EQ(data_of<int>(lives.arguments[0])[0], 1);
}

TEST_F(CandidateEnds, WhatItPrintedLastIsToldWithoutWhatATerminalObeys) {
  const Answer a = call("says_why");
  EXPECT_EQ(a.end, Answer::End::refused);  // by abort(), behind a sentence of its own
  EXPECT_TRUE(a.message.ends_with("; the last that it printed: check failed: y is null")) << a.message;
}

TEST_F(CandidateEnds, OutputWithoutEndIsALimitAndKeptToAMebibyte) {
  const Answer a = call("prints");
  EXPECT_TRUE(a.end == Answer::End::over_limit || a.end == Answer::End::timed_out) << a.message;
  EXPECT_LE(a.output.size(), std::size_t{1} << 20);
  EXPECT_EQ(a.output.find("all work and no play\n"), 0u);
}

TEST_F(CandidateEnds, BinaryOutputIsKeptAsItIs) {
  const Answer a = call("prints_binary");
  ASSERT_TRUE(a.ok()) << a.message;
  EXPECT_EQ(a.output, std::string("\0\1\xff\x1b[31m\0", 9));
}

TEST_F(CandidateEnds, AFileOfTenGigabytesIsALimit) {
  const Answer a = call("writes");
  EXPECT_EQ(a.end, Answer::End::over_limit) << a.message;
  EXPECT_EQ(a.message, "it wrote a file larger than the limit");
}

TEST_F(CandidateEnds, EachCallBeginsAfreshAndRepeatsShareOneProcess) {
  EXPECT_EQ(data_of<int>(call("counts").arguments[0])[0], 1);
  EXPECT_EQ(data_of<int>(call("counts").arguments[0])[0], 1);
  CallSettings thrice;
  thrice.repeats = 3;
  const Answer a = call("counts", thrice);
  EXPECT_EQ(data_of<int>(a.arguments[0])[0], 3);
  EXPECT_EQ(data_of<int>(a.arguments[0])[1], 1) << "each repeat has its own copy of the arguments";
}

TEST_F(CandidateEnds, AWarmCallTakesMilliseconds) {
  call("counts");
  // The quickest of some: the others may have waited for the processor.
  double quickest = 1e9;
  for (int i = 0; i < 20; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    ASSERT_TRUE(call("counts").ok());
    quickest =
        std::min(quickest, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  EXPECT_LT(quickest, 0.2);
}

}  // namespace
}  // namespace isomer::lab::tests
