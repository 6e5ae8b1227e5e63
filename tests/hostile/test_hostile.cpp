// A sample of the hostile candidates: each is told, none reaches outside or hinders its neighbours. The
// second tier has all of them.
#include "hostile.hpp"

namespace isomer::tests {
namespace {

TEST_F(Hostile, AreMoreThanSixty) {
  EXPECT_GE(attacks().size(), 60u);
  std::vector<std::string> names;
  for (const Attack& attack : attacks()) names.push_back(attack.name);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

// Where this machine has every means.
TEST_F(Hostile, Strict) {
  const std::vector<std::string> missing = emulator::missing_means();
  if (!missing.empty()) {
    write_candidate("harmless", {});
    const Said said = isomer("check " + path("cases") + " --isolation strict");
    EXPECT_EQ(said.exit, 2);
    EXPECT_NE(said.err.find("strict isolation cannot be had here: there is no " + missing.front()),
              std::string::npos)
        << said.err;
    return;
  }
  expect_contained(sample(), "strict");
}

// Without namespaces, as on machines that forbid them: by Landlock, seccomp and limits.
TEST_F(Hostile, BestWithoutNamespaces) {
  setenv("ISOMER_NAMESPACES", "never", 1);
  std::vector<Attack> some = sample();
  if (some.size() > 2) some.resize(2);
  expect_contained(some, "best");
  write_candidate("harmless", {});
  const Said said = isomer("check " + path("cases") + " --isolation strict");
  EXPECT_EQ(said.exit, 2);
  EXPECT_NE(said.err.find("there is no namespaces (ISOMER_NAMESPACES=never)"), std::string::npos) << said.err;
  unsetenv("ISOMER_NAMESPACES");
}

}  // namespace
}  // namespace isomer::tests
