// Eight processes at a time fill one empty cache for two architectures while some of them are killed: whoever
// lives gets the right code, and every entry that stands is whole.
#include "child.hpp"
#include "vendor_calls.hpp"

#include "core/sha256.hpp"
#include "gpu/binary_folder.hpp"

#include <gtest/gtest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <thread>

namespace isomer::gpu {
namespace {

constexpr int kProcesses = 8;
constexpr const char* kArchitectures[] = {"sm_80", "sm_90a"};
constexpr const char* kElements[] = {"f32", "f16", "bf16"};

Program program_of(const char* element) {
  return {"ops/sin/kernels/sin.cu",
          "isomer_sin",
          {{"element", element}, {"vector", "1"}, {"threads", "256"}, {"unroll", "4"}}};
}

/// What a process does: each program for each architecture, in an order of its own. 0 where all are right.
int race(const std::map<std::string, std::string>& hash_of_key, unsigned seed) {
  Vendor& vendor = *find_vendor(DeviceType::cuda);
  std::vector<std::pair<const char*, const char*>> all;
  for (const char* architecture : kArchitectures)
    for (const char* element : kElements) all.emplace_back(architecture, element);
  std::shuffle(all.begin(), all.end(), std::mt19937(seed));
  int wrong = 0;
  for (const auto& [architecture, element] : all) try {
      const Binary binary = find_binary(vendor, program_of(element), architecture);
      wrong += hash_of_key.at(binary.key) != core::sha256(binary.image.bytes) || !binary.not_kept.empty();
    } catch (const std::exception&) {
      ++wrong;
    }
  return wrong;
}

TEST(CacheRace, OfKilledProcessesNeverFails) {
  const char* asked = std::getenv("ISOMER_CACHE_RACE_ROUNDS");
  const int rounds = asked == nullptr ? 12 : std::atoi(asked);
  // Large enough for a kill to meet a half-written file.
  const Environment environment = {{"ISOMER_STAND_IN_EXECUTE", "0"},
                                   {"ISOMER_STAND_IN_FAULT", "padded:200000"}};
  std::map<std::string, std::string> hash_of_key;
  std::istringstream words(in_child(environment, [] {
    std::string text;
    for (const char* architecture : kArchitectures)
      for (const char* element : kElements) {
        const Binary binary =
            compile_binary(*find_vendor(DeviceType::cuda), program_of(element), architecture);
        text += binary.key + " " + binary.hash + "\n";
      }
    return text;
  }));
  for (std::string key, hash; words >> key >> hash;) hash_of_key[key] = hash;
  ASSERT_EQ(hash_of_key.size(), 6u) << words.str();

  std::mt19937 random(20260731);
  int killed = 0, parts = 0, entries = 0;
  for (int round = 0; round < rounds; ++round) {
    const Folder folder;
    std::vector<pid_t> processes;
    for (int i = 0; i < kProcesses; ++i) {
      const unsigned seed = random();
      const pid_t child = ::fork();
      if (child == 0) {
        for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
        ::setenv("ISOMER_CACHE", folder.path().c_str(), 1);
        ::_exit(race(hash_of_key, seed));
      }
      processes.push_back(child);
    }
    std::vector<pid_t> victims = processes;
    std::shuffle(victims.begin(), victims.end(), random);
    victims.resize(3);
    for (const pid_t victim : victims) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
      ::kill(victim, SIGKILL);
    }
    for (const pid_t process : processes) {
      int status = 0;
      ::waitpid(process, &status, 0);
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        ++killed;
      else
        EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
            << "round " << round << ", status " << status;
    }
    // Five have lived, so every entry is there; and each is whole.
    const BinaryFolder cache(folder.path());
    for (const auto& [key, hash] : hash_of_key) {
      const auto binary = cache.find(key);
      ASSERT_TRUE(binary) << "round " << round << ": " << key;
      EXPECT_EQ(binary->hash, hash) << "round " << round;
    }
    for (const auto& file : std::filesystem::directory_iterator(folder.path())) {
      const bool entry = file.path().extension() == ".isomer";
      entries += entry;
      parts += file.path().extension() == ".part";
      EXPECT_TRUE(!entry || hash_of_key.contains(file.path().stem())) << file.path();
    }
  }
  EXPECT_EQ(entries, 6 * rounds);
  std::printf("%d processes, %d rounds: %d killed, %d of them while they wrote\n", kProcesses, rounds, killed,
              parts);
  EXPECT_GT(killed, 0);
}

}  // namespace
}  // namespace isomer::gpu
