// Cases of the ops on the stand-ins' devices, by the command line and the drivers' ordinary road.
#include "vendor_calls.hpp"

#include <gtest/gtest.h>

#include <cstdio>

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
  // A sample may draw cases whose pages lie farther apart than the stand-in has memory, and cases of few
  // queries, which cuda/sm80 leaves to the decode kernel. Nothing else is refused.
  int refused = 0;
  for (const char* sentence :
       {"the case's buffers span", "the decode kernel, which splits their keys, is faster"})
    for (std::size_t at = 0; (at = said.find(sentence, at)) != said.npos; ++at) ++refused;
  EXPECT_NE(said.find(" 0 failed, " + std::to_string(refused) + " refused"), said.npos) << said;
  EXPECT_NE(said.find(" hold"), said.npos) << said;
}

}  // namespace
}  // namespace isomer
#endif
