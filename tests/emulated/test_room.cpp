// Cases that run at once share the device's memory, and each is checked all the same.
#include "lab/check/suite.hpp"

#include <gtest/gtest.h>

#include "emulated.hpp"
#include "vendor/vendor.hpp"

namespace isomer {
namespace {

TEST(Room, IsFoundByCasesOfWhichTheDeviceHoldsOneAtATime) {
  setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
  emulator::register_vendor();
  lab::Selection selection;
  selection.backends = {"emulated"};
  selection.jobs = 4;
  // Rows so far apart that a tensor spans 3 of the device's 4 GiB.
  for (const char* seed : {"3", "4", "5", "6"})
    selection.lines.push_back(
        std::string("quantize_copy_kv s=3 n=4 f32 scales=f32 dest=i64 group=8 far seed=") + seed);
  const lab::Suite suite = lab::check(selection);
  EXPECT_EQ(suite.count(lab::Status::passed), 8);
  for (const lab::Outcome& outcome : suite.outcomes)
    EXPECT_EQ(outcome.reason, "") << outcome.implementation << ": " << outcome.line;
}

}  // namespace
}  // namespace isomer
