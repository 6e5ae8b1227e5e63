// Many threads make their first calls at once: they open one driver, compile and load one kernel, and none
// sees another's half-made state.
#include "child.hpp"
#include "vendor_calls.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace isomer {
namespace {

class Threads : public testing::TestWithParam<StandIn> {};

INSTANTIATE_TEST_SUITE_P(Of, Threads, testing::ValuesIn(kStandIns),
                         [](const auto& info) { return std::string(info.param.vendor); });

TEST_P(Threads, MakeTheirFirstCallsAtOnce) {
  const Folder cache;
  const std::string said = in_child({{"ISOMER_STAND_IN_EXECUTE", "0"}, {"ISOMER_CACHE", cache.path()}}, [&] {
    std::atomic<int> waiting{8};
    std::vector<std::string> words(8);
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
      threads.emplace_back([&, i] {
        --waiting;
        while (waiting > 0) std::this_thread::yield();
        words[static_cast<std::size_t>(i)] = said_by([&] {
          SinOnDevice call(GetParam(), i % 2);
          call.run();
          return call.run();
        });
      });
    for (std::thread& thread : threads) thread.join();
    std::string wrong;
    for (const std::string& word : words)
      if (word != "done from compiled" && word != "done from cache") wrong += word + "; ";
    return wrong;
  });
  EXPECT_EQ(said, "");
}

}  // namespace
}  // namespace isomer
