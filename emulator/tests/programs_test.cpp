// Whole programs, with a main of their own: what they find stays found however they end.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kEnds = R"(
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <unistd.h>
__global__ void fill(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] = n; }
int main(int count, char** words) {
  int* p;
  cudaMalloc(&p, 40);
  fill<<<1, 32>>>(p, atoi(words[2]));
  cudaDeviceSynchronize();
  std::ios::sync_with_stdio(false);
  std::cout << "on the way";
  switch (words[1][0]) {
    case 'e': exit(atoi(words[3]));
    case 'E': _exit(atoi(words[3]));
    case 'a': abort();
    case 'f': if (fork() == 0) exit(9); return 0;
  }
  return atoi(words[3]);
}
)";

class Ends : public testing::Test {
 protected:
  static RunResult run(const std::vector<std::string>& words) {
    static const WrittenSource source(kEnds, "ends.cu");
    static const Module module = Module::build({.sources = {source.path()}, .watch = true});
    return module.run_main(words);
  }
};

TEST_F(Ends, WhatWasFoundStaysFoundHoweverMainEnds) {
  for (const char* how : {"return", "exit", "Exit", "abort", "fork"}) {
    const RunResult r = run({how, "11", "0"});
    ASSERT_EQ(r.reports.size(), 1u) << how << ": " << r.failure;
    EXPECT_EQ(r.reports[0].kind, Kind::out_of_bounds_write);
    EXPECT_EQ(r.reports[0].place.line, 6u);
    EXPECT_EQ(r.launches.size(), 1u) << how;
  }
}

TEST_F(Ends, StatusZeroIsSuccessAndAnyOtherIsHandedOn) {
  for (const char* how : {"return", "exit", "Exit", "fork"}) {
    const RunResult r = run({how, "10", "0"});
    EXPECT_TRUE(r.ok()) << how << ": " << r.failure;
    EXPECT_EQ(r.exit_status, 0) << how;
    EXPECT_EQ(r.output.find("on the way"), 0u) << how;
  }
  for (const char* how : {"return", "exit", "Exit"}) EXPECT_EQ(run({how, "10", "7"}).exit_status, 7) << how;
  const RunResult aborted = run({"abort", "10", "0"});
  EXPECT_NE(aborted.failure.find("host code stopped with an abort"), std::string::npos) << aborted.failure;
  EXPECT_EQ(aborted.launches.size(), 1u);
}

}  // namespace
}  // namespace isomer::emulator::tests
