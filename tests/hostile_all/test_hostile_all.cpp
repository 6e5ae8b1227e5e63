// Every hostile candidate, as this machine contains them.
#include "../hostile/hostile.hpp"

namespace isomer::tests {
namespace {

TEST_F(Hostile, EachIsContainedAndTold) {
  expect_contained(attacks(), emulator::missing_means().empty() ? "strict" : "best");
}

TEST_F(Hostile, EachIsToldWithoutNamespaces) {
  if (!keep_to_itself()) GTEST_SKIP() << "there is no namespace of processes for the checker";
  setenv("ISOMER_NAMESPACES", "never", 1);
  expect_contained(attacks(), "best");
  unsetenv("ISOMER_NAMESPACES");
}

TEST_F(Hostile, NumbersHaveAnEndWithoutACgroup) {
  setenv("ISOMER_CGROUPS", "never", 1);
  expect_contained(attacks_of_numbers(), "best");
  if (!keep_to_itself()) GTEST_SKIP() << "there is no namespace of processes for the checker";
  setenv("ISOMER_NAMESPACES", "never", 1);
  expect_contained(attacks_of_numbers(), "best");
  unsetenv("ISOMER_NAMESPACES");
  unsetenv("ISOMER_CGROUPS");
}

}  // namespace
}  // namespace isomer::tests
