// The pool behind isomer::Executor: every piece once, from any number of threads, nested, in a forked child,
// and with as many threads as the environment grants.
#include <gtest/gtest.h>

#include <isomer/error.hpp>
#include <isomer/executor.hpp>
#include <isomer/queue.hpp>
#include <isomer/sin.hpp>

#include "cpu/thread_count.hpp"

#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace isomer {
namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(thread_sanitizer) || __has_feature(address_sanitizer);
#else
constexpr bool kSanitized = false;
#endif
/// The thread sanitizer does not follow it, and locks of the address sanitizer's allocator stay held in the
/// child.
constexpr const char* kNoForks = "no sanitizer follows the fork of a process with threads";

/// Runs `count` pieces and says what went wrong: a piece not once, a worker number out of range or in use
/// twice.
std::string run_and_count(Executor& executor, std::int64_t count) {
  std::vector<std::atomic<int>> done(static_cast<std::size_t>(count));
  std::vector<std::atomic<int>> busy(static_cast<std::size_t>(executor.concurrency()));
  std::atomic<int> bad_worker{0}, shared_worker{0};
  parallel_for(executor, count, [&](std::int64_t i, int worker) {
    if (worker < 0 || worker >= executor.concurrency()) {
      bad_worker.fetch_add(1);
      return;
    }
    if (busy[static_cast<std::size_t>(worker)].fetch_add(1) != 0) shared_worker.fetch_add(1);
    done[static_cast<std::size_t>(i)].fetch_add(1);
    busy[static_cast<std::size_t>(worker)].fetch_sub(1);
  });
  if (bad_worker.load() != 0) return "a worker number out of range";
  if (shared_worker.load() != 0) return "two pieces at once with one worker number";
  for (const auto& times : done)
    if (times.load() != 1) return "a piece ran " + std::to_string(times.load()) + " times";
  return "every piece once";
}

TEST(Executor, RunsEveryPieceOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    const auto executor = Executor::with_threads(threads);
    EXPECT_EQ(executor->concurrency(), threads);
    for (const std::int64_t count : {0, 1, 2, 3, 7, 64, 1000})
      EXPECT_EQ(run_and_count(*executor, count), "every piece once");
  }
}

TEST(Executor, TakesAtLeastOneThread) {
  for (const int threads : {0, -1, INT32_MIN}) EXPECT_EQ(Executor::with_threads(threads)->concurrency(), 1);
}

TEST(Executor, OfOneThreadRunsOnTheCallerInOrder) {
  const auto executor = Executor::with_threads(1);
  std::vector<std::int64_t> order;
  parallel_for(*executor, 5, [&](std::int64_t i, int worker) {
    EXPECT_EQ(worker, 0);
    order.push_back(i);
  });
  EXPECT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
}

TEST(Executor, UsesItsThreadsAtOnce) {
  // Two pieces that wait for each other end only if two threads run them.
  const auto executor = Executor::with_threads(2);
  std::atomic<int> arrived{0};
  parallel_for(*executor, 2, [&](std::int64_t, int) {
    arrived.fetch_add(1);
    while (arrived.load() < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived.load(), 2);
}

TEST(Executor, RunsNestedPiecesOnTheThreadThatAsks) {
  const auto executor = Executor::with_threads(3);
  std::atomic<int> inner{0}, elsewhere{0};
  parallel_for(*executor, 16, [&](std::int64_t, int) {
    const std::thread::id here = std::this_thread::get_id();
    parallel_for(*executor, 8, [&](std::int64_t, int) {
      inner.fetch_add(1);
      if (std::this_thread::get_id() != here) elsewhere.fetch_add(1);
      parallel_for(*executor, 2, [&](std::int64_t, int) { inner.fetch_add(1); });
    });
  });
  EXPECT_EQ(inner.load(), 16 * 8 * 3);
  EXPECT_EQ(elsewhere.load(), 0);
}

TEST(Executor, ServesManyThreadsAtOnce) {
  const auto executor = Executor::with_threads(4);
  std::vector<std::string> answers(8);
  std::vector<std::thread> threads;
  for (std::string& answer : answers)
    threads.emplace_back([&answer, &executor] {
      answer = "every piece once";
      for (int round = 0; round < 200 && answer == "every piece once"; ++round)
        answer = run_and_count(*executor, 1 + round % 17);
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& answer : answers) EXPECT_EQ(answer, "every piece once");
}

TEST(Executor, IsMadeAndUnmadeManyTimes) {
  for (int i = 0; i < 50; ++i) {
    const auto executor = Executor::with_threads(1 + i % 4);
    EXPECT_EQ(run_and_count(*executor, 10), "every piece once");
  }
}

TEST(Executor, KeepsWorkingInAForkedChild) {
  if (kSanitized) GTEST_SKIP() << kNoForks;
  const auto own = Executor::with_threads(3);
  const auto standard = Executor::standard();
  ASSERT_EQ(run_and_count(*own, 20), "every piece once");
  ASSERT_EQ(run_and_count(*standard, 20), "every piece once");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);
    const bool good = run_and_count(*standard, 50) == "every piece once" &&
                      run_and_count(*own, 50) == "every piece once" &&
                      run_and_count(*Executor::with_threads(2), 50) == "every piece once" &&
                      standard->concurrency() == Executor::standard()->concurrency();
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  EXPECT_EQ(run_and_count(*standard, 20), "every piece once");
}

TEST(Queue, GivesWorkspaceInAChildThatIsForkedWhileThreadsTakeIt) {
  if (kSanitized) GTEST_SKIP() << kNoForks;
  const Queue queue = Queue::cpu();
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      while (!stop.load()) queue.lease(4096);
    });
  int answered = 0;
  for (int i = 0; i < 200; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(30);
      _exit(queue.lease(4096).data() != nullptr ? 0 : 1);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) break;
    ++answered;
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(answered, 200);
}

/// Sets an environment variable for the length of a test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    if (value != nullptr)
      setenv(name, value, 1);
    else
      unsetenv(name);
  }
  ~Environment() {
    if (had_)
      setenv(name_, before_.c_str(), 1);
    else
      unsetenv(name_);
  }

 private:
  const char* name_;
  bool had_ = false;
  std::string before_;
};

TEST(ThreadCount, IsThatOfOmpNumThreads) {
  for (const auto& [text, threads] :
       {std::pair{"1", 1}, std::pair{"3", 3}, std::pair{"7,2", 7}, std::pair{" 6 , 2 ", 6},
        std::pair{"64", 64}, std::pair{"5000", 4096}}) {
    const Environment set("OMP_NUM_THREADS", text);
    EXPECT_EQ(cpu::thread_count(), threads) << text;
  }
}

TEST(ThreadCount, IsTheUsualOneWhereOmpNumThreadsIsEmpty) {
  const Environment none("OMP_NUM_THREADS", nullptr);
  const int usual = cpu::thread_count();
  EXPECT_GE(usual, 1);
  const Environment set("OMP_NUM_THREADS", "");
  EXPECT_EQ(cpu::thread_count(), usual);
}

TEST(ThreadCount, RefusesAnOmpNumThreadsThatIsNoListOfThreads) {
  for (const std::string text :
       {"0", "-2", "many", "4 threads", "4,", ",4", "4,none", "99999999999", "0x4", " "}) {
    const Environment set("OMP_NUM_THREADS", text.c_str());
    try {
      cpu::thread_count();
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument);
      EXPECT_EQ(error.what(),
                "OMP_NUM_THREADS expects positive numbers separated by commas, got '" + text + "'");
    }
  }
}

TEST(ThreadCount, IsAtMostTheCpusOfTheAffinityMask) {
  const Environment none("OMP_NUM_THREADS", nullptr);
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  CPU_ZERO(&one);
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &before)) {
      CPU_SET(i, &one);
      break;
    }
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  const int threads = cpu::thread_count();
  ASSERT_EQ(sched_setaffinity(0, sizeof before, &before), 0);
  EXPECT_EQ(threads, 1);
}

TEST(StandardExecutorDeathTest, HasAsManyThreadsAsOmpNumThreadsSays) {
  if (kSanitized) GTEST_SKIP() << kNoForks;
  // A process of its own: the standard pool reads the environment once.
  const std::string style = GTEST_FLAG_GET(death_test_style);
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const Environment set("OMP_NUM_THREADS", "5");
  EXPECT_EXIT(_exit(run_and_count(*Executor::standard(), 100) == "every piece once"
                        ? Executor::standard()->concurrency()
                        : 99),
              testing::ExitedWithCode(5), "");
  GTEST_FLAG_SET(death_test_style, style);
}

/// Counts what it is asked to do and does it on the caller.
class Counting : public Executor {
 public:
  int concurrency() const override { return 2; }
  void parallel_for(std::int64_t count, Task task, void* context) override {
    calls.fetch_add(1);
    for (std::int64_t i = 0; i < count; ++i) task(context, i, static_cast<int>(i % 2));
  }
  std::atomic<int> calls{0};
};

TEST(Queue, RunsOnTheExecutorThatItWasGiven) {
  const auto counting = std::make_shared<Counting>();
  const Queue queue = Queue::cpu({.executor = counting});
  std::vector<float> x(100000, 0.5f), y(x.size());
  const auto count = static_cast<std::int64_t>(x.size());
  sin(queue, {.x = Tensor(x.data(), DType::f32, {count}), .y = Tensor(y.data(), DType::f32, {count})});
  EXPECT_GT(counting->calls.load(), 0);
  EXPECT_NEAR(y.back(), 0.47942554f, 1e-7f);
}

TEST(Queue, ServesManyThreadsAtOnceWithTheSameBits) {
  std::vector<float> x(40000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) * 0.37f - 5000.0f;
  const auto count = static_cast<std::int64_t>(x.size());
  const auto run = [&](const Queue& queue) {
    std::vector<float> y(x.size());
    sin(queue, {.x = Tensor(x.data(), DType::f32, {count}), .y = Tensor(y.data(), DType::f32, {count})});
    return y;
  };
  const Queue shared = Queue::cpu({.executor = Executor::with_threads(3)});
  const std::vector<float> expected = run(Queue::cpu());
  std::vector<std::thread> threads;
  std::atomic<int> different{0};
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 10; ++i) {
        const std::vector<float> y = t % 2 == 0 ? run(shared) : run(Queue::cpu());
        if (std::memcmp(y.data(), expected.data(), y.size() * sizeof(float)) != 0) different.fetch_add(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(different.load(), 0);
}

}  // namespace
}  // namespace isomer
