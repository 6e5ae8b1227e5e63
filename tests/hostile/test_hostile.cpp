// A sample of the hostile candidates: each is told, none reaches outside or hinders its neighbours. The
// second tier has all of them.
#include "hostile.hpp"

#include "../first_tier.hpp"

#include <isomer/emulator/leftovers.hpp>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
  expect_contained(every_nth(sample(), 2), "strict");
}

// Without namespaces, as on machines that forbid them: by Landlock, seccomp and limits.
TEST_F(Hostile, BestWithoutNamespaces) {
  if (!keep_to_itself()) GTEST_SKIP() << "there is no namespace of processes for the checker";
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

// Where no cgroup can be made, root's processes are counted by nobody.
TEST_F(Hostile, NoProcessIsStartedWithoutACgroup) {
  setenv("ISOMER_CGROUPS", "never", 1);
  std::vector<Attack> some;
  for (const Attack& attack : attacks_of_numbers())
    if (attack.cheap) some.push_back(attack);
  expect_contained(some, "best");
  unsetenv("ISOMER_CGROUPS");
}

// Unfinished builds and empty groups of whoever was killed are removed by the next one; those of the living
// stay.
TEST_F(Hostile, LeftoversAreThoseOfTheDead) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  const std::string own = emulator::owners_mark(),
                    dead = own.substr(0, own.rfind('.') + 1) + std::to_string(child);
  EXPECT_FALSE(emulator::is_of_ended_process(own));
  EXPECT_TRUE(emulator::is_of_ended_process(dead));
  for (const char* none : {"", ".", "1", "x.1", "zzzzzzzz.99999999"})
    EXPECT_FALSE(emulator::is_of_ended_process(none)) << none;
  setenv("ISOMER_CACHE", path("cache").c_str(), 1);
  std::vector<std::string> stay = {path("cache/emulator/key." + own + ".abcdef"),
                                   path("cache/emulator/0123")},
                           go = {path("cache/emulator/key." + dead + ".abcdef")};
  for (const std::string& root : {"/sys/fs/cgroup/pids/isomer-", "/sys/fs/cgroup/isomer-"}) {
    if (mkdir((root + own + ".7777").c_str(), 0755) != 0) continue;
    stay.push_back(root + own + ".7777");
    go.push_back(root + dead + ".7777");
    mkdir(go.back().c_str(), 0755);
  }
  for (const std::string& folder : {stay[0], stay[1], go[0]}) std::filesystem::create_directories(folder);
  emulator::remove_leftovers();
  unsetenv("ISOMER_CACHE");
  for (const std::string& folder : stay) EXPECT_TRUE(std::filesystem::exists(folder)) << folder;
  for (const std::string& folder : go) EXPECT_FALSE(std::filesystem::exists(folder)) << folder;
  for (std::size_t i = 2; i < stay.size(); ++i) rmdir(stay[i].c_str());
}

}  // namespace
}  // namespace isomer::tests
