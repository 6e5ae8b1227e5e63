// What a test expects of the program that its faulty twin is compared with.
#pragma once

#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"

namespace isomer::emulator::tests {

/// It ends with status 0, and nothing is found or refused.
inline void expect_good(const Module& module) {
  const RunResult good = module.run_main();
  EXPECT_TRUE(good.ok()) << good.failure;
  EXPECT_EQ(good.exit_status, 0) << good.output;
  for (const Refusal& refusal : good.refusals) ADD_FAILURE() << refusal.text;
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
}

}  // namespace isomer::emulator::tests
