// A case that does not come to its end is named while it is at work.
#include "lab/check/overdue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace isomer::lab {
namespace {

using namespace std::chrono_literals;

TEST(Overdue, NamesOnceWhatHasNotEnded) {
  std::mutex mutex;
  std::condition_variable told;
  std::vector<std::string> names;
  {
    Overdue overdue(500ms, [&](const std::string& line, const std::string& implementation, double seconds) {
      const std::lock_guard lock(mutex);
      names.push_back(line + " on " + implementation);
      EXPECT_GE(seconds, 0.5);
      told.notify_all();
    });
    const Overdue::Work hangs(overdue, "sin n=2", "cpu/scalar");
    { const Overdue::Work ends(overdue, "sin n=1", "cpu/scalar"); }
    std::unique_lock lock(mutex);
    ASSERT_TRUE(told.wait_for(lock, 60s, [&] { return !names.empty(); }));
    lock.unlock();
    std::this_thread::sleep_for(700ms);
  }
  EXPECT_EQ(names, std::vector<std::string>{"sin n=2 on cpu/scalar"});
}

TEST(Overdue, WatchesNothingWhereNobodyIsTold) {
  Overdue overdue(0s, {});
  const Overdue::Work work(overdue, "sin n=1", "cpu/scalar");
}

}  // namespace
}  // namespace isomer::lab
