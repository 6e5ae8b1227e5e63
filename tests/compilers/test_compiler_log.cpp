// What is read from the logs of ptxas.
#include "gpu/vendors/compiler_log.hpp"

#include <gtest/gtest.h>

namespace isomer::gpu {
namespace {

constexpr const char* kLog =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'f' for 'sm_90a'\n"
    "ptxas info    : Function properties for f\n"
    "    24 bytes stack frame, 24 bytes spill stores, 68 bytes spill loads\n"
    "ptxas info    : Used 168 registers, used 16 barriers, 24 bytes cumulative stack size\n";

TEST(CompilerLog, SpillsAreStoresAndLoads) {
  const Resources resources = ptxas_resources(kLog);
  EXPECT_EQ(resources.registers, 168);
  EXPECT_EQ(resources.spill_bytes, 92);
  EXPECT_FALSE(resources.serialized);
}

TEST(CompilerLog, ProductsThatWaitForOneAnotherAreSeenWhateverTheReason) {
  for (const char* reason : {"insufficient register resources for the function 'f'",
                             "non wgmma instructions defining input registers of a wgmma between start and "
                             "end of the pipeline stage in the function 'f'"}) {
    const std::string line =
        std::string("ptxas info    : (C7512) Potential Performance Loss: wgmma.mma_async instructions are "
                    "serialized due to ") +
        reason + "\n";
    EXPECT_TRUE(ptxas_resources(line + kLog).serialized) << reason;
  }
}

}  // namespace
}  // namespace isomer::gpu
