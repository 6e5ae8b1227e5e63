// Cases of the ops on the stand-ins' devices, by the command line and the drivers' ordinary road.
#include "vendor_calls.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <sstream>
#include <string>

#ifdef ISOMER_HAS_EMULATOR
namespace isomer {
namespace {

class Check : public testing::TestWithParam<StandIn> {};

INSTANTIATE_TEST_SUITE_P(Of, Check, testing::ValuesIn(kStandIns),
                         [](const auto& info) { return std::string(info.param.vendor); });

TEST_P(Check, Holds) {
  // Kernels that were compiled once serve the next run of this test.
  ::setenv("ISOMER_CACHE", ISOMER_STAND_IN_CACHE, 1);
  const char* asked = std::getenv("ISOMER_STAND_IN_CHECK");
  const std::string words = asked == nullptr ? "sin act_quant --sample 8" : asked;
  const std::string command =
      std::string(ISOMER_CLI " check --jobs 2 --backend ") + GetParam().vendor + " " + words + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  std::string said;
  char chunk[4096];
  while (const std::size_t count = std::fread(chunk, 1, sizeof chunk, pipe)) said.append(chunk, count);
  EXPECT_EQ(WEXITSTATUS(::pclose(pipe)), 0) << said;
  EXPECT_NE(said.find(std::string(GetParam().vendor) + "/portable"), said.npos) << said;
  // Kernels that take some calls only leave the others to the portable one. That one takes all, but for cases
  // of a sample whose pages lie farther apart than the stand-in has memory.
  const std::string portable = std::string(GetParam().vendor) + "/portable";
  int refused = 0, spans = 0;
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream row(line);
    std::string op, implementation;
    int cases = 0, passed = 0, failed = 0, left = 0;
    if (line.starts_with("refused " + portable)) {
      spans += line.find("the case's buffers span") != line.npos;
    } else if (row >> op >> implementation >> cases >> passed >> failed >> left &&
               implementation == portable) {
      refused += left;
      EXPECT_EQ(passed + left, cases) << line;
    }
  }
  EXPECT_EQ(refused, spans) << said;
  EXPECT_NE(said.find(" 0 failed, "), said.npos) << said;
  EXPECT_NE(said.find(" hold"), said.npos) << said;
}

}  // namespace
}  // namespace isomer
#endif
