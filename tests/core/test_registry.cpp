// The way of a call: validated once, offered to the implementations in order, planned, given workspace, run,
// recorded.
#include <gtest/gtest.h>

#include <isomer/sin.hpp>

#include "core/record.hpp"
#include "core/registry.hpp"
#include "probe.hpp"

#include <atomic>
#include <thread>

// A sanitizer's allocator ends the program where more is asked than it can give, which a test below does.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" __attribute__((visibility("default"))) const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}

namespace isomer::core {
namespace {

/// What a planted implementation saw of its run.
struct Seen {
  int planned = 0, ran = 0;
  void* workspace = nullptr;
};

class PlantedPlan : public Plan {
 public:
  PlantedPlan(std::size_t workspace, Seen& seen) : workspace_(workspace), seen_(seen) {}
  void describe(Description& out) const override {
    out.variant = {{"target", "planted"}};
    out.parameters = {{"elements", "48"}};
    out.launches = {{.kernel = "planted", .grid = {3, 1, 1}}};
  }
  std::size_t workspace_bytes() const override { return workspace_; }
  void run(const Queue&, const Call&, void* workspace) const override {
    ++seen_.ran;
    seen_.workspace = workspace;
    if (workspace_ > 0) std::memset(workspace, 0x5A, workspace_);
  }

 private:
  std::size_t workspace_;
  Seen& seen_;
};

struct Setting {
  std::string name = "cpu/planted";
  DeviceType device = DeviceType::cpu;
  std::string unavailable = {};
  std::string refusal = {};
  std::size_t workspace = 0;
};

class Planted : public Implementation {
 public:
  Planted(Setting setting, Seen& seen) : setting_(std::move(setting)), seen_(seen) {}
  const std::string& name() const override { return setting_.name; }
  DeviceType device() const override { return setting_.device; }
  std::string unavailable() const override { return setting_.unavailable; }
  PlanOrRefusal plan(const Call&, const Queue&) const override {
    ++seen_.planned;
    if (!setting_.refusal.empty()) return Refusal{setting_.refusal};
    return std::make_unique<PlantedPlan>(setting_.workspace, seen_);
  }

 private:
  Setting setting_;
  Seen& seen_;
};

/// A registry of one op with these implementations.
Registry registry_of(std::vector<Setting> settings, Seen& seen) {
  std::vector<std::unique_ptr<const Implementation>> list;
  for (Setting& setting : settings) list.push_back(std::make_unique<Planted>(std::move(setting), seen));
  Registry registry;
  registry.add(probe_contract(), std::move(list));
  return registry;
}

std::string text(const std::vector<Explanation::Refusal>& refusals) {
  std::string all;
  for (const Explanation::Refusal& refusal : refusals)
    all += refusal.implementation + ": " + refusal.reason + "\n";
  return all;
}

TEST(Choose, TakesTheFirstThatAcceptsAndKeepsEveryRefusalOnTheWay) {
  Seen seen;
  const Registry registry = registry_of({{.name = "cuda/sm90", .device = DeviceType::cuda},
                                         {.name = "cpu/amx", .unavailable = "this CPU has no AMX"},
                                         {.name = "cpu/odd", .refusal = "K is 8, expected an odd number"},
                                         {.name = "cpu/any"},
                                         {.name = "cpu/never asked"}},
                                        seen);
  const ProbeCall probe;
  const Choice choice = choose(*registry.find("probe"), probe.call(), Queue::cpu());
  ASSERT_NE(choice.implementation, nullptr);
  EXPECT_EQ(choice.implementation->name(), "cpu/any");
  EXPECT_NE(choice.plan, nullptr);
  EXPECT_EQ(text(choice.refusals),
            "cpu/amx: this CPU has no AMX\n"
            "cpu/odd: K is 8, expected an odd number\n");
  EXPECT_EQ(seen.planned, 2) << "only those that can run here are asked for a plan";
  EXPECT_EQ(seen.ran, 0);
}

TEST(Choose, GivesNothingWhereNoneAccepts) {
  Seen seen;
  const Registry registry = registry_of({{.name = "cpu/odd", .refusal = "not this one"}}, seen);
  const ProbeCall probe;
  const Choice choice = choose(*registry.find("probe"), probe.call(), Queue::cpu());
  EXPECT_EQ(choice.implementation, nullptr);
  EXPECT_EQ(choice.plan, nullptr);
  EXPECT_EQ(text(choice.refusals), "cpu/odd: not this one\n");
}

TEST(Choose, AsksOnlyTheImplementationThatTheQueueNames) {
  Seen seen;
  const Registry registry = registry_of({{.name = "cpu/first"}, {.name = "cpu/scalar"}}, seen);
  const ProbeCall probe;
  const Choice second =
      choose(*registry.find("probe"), probe.call(), Queue::cpu({.implementation = "cpu/scalar"}));
  ASSERT_NE(second.implementation, nullptr);
  EXPECT_EQ(second.implementation->name(), "cpu/scalar");
  EXPECT_TRUE(second.refusals.empty());
  const Choice third =
      choose(*registry.find("probe"), probe.call(), Queue::cpu({.implementation = "hip/portable"}));
  EXPECT_EQ(third.implementation, nullptr);
  EXPECT_TRUE(third.refusals.empty());
}

TEST(Registry, FindsOpsAndImplementationsByName) {
  Seen seen;
  const Registry registry = registry_of({{.name = "cpu/first"}}, seen);
  ASSERT_NE(registry.find("probe"), nullptr);
  EXPECT_EQ(registry.find("Probe"), nullptr);
  EXPECT_NE(registry.find("probe")->find("cpu/first"), nullptr);
  EXPECT_EQ(registry.find("probe")->find("cpu/second"), nullptr);
}

TEST(Registry, OfTheLibraryHasOneImplementationOfEveryOpThatRunsHere) {
  for (const Registry::Op& op : Registry::builtin().ops()) {
    int runs = 0;
    for (const auto& implementation : op.implementations)
      runs += implementation->unavailable().empty() ? 1 : 0;
    EXPECT_GE(runs, 1) << op.contract->op;
    EXPECT_EQ(Registry::builtin().find(op.contract->op), &op) << op.contract->op << " is there twice";
  }
}

std::string sentence(ErrorCode code, const std::function<void()>& act) {
  try {
    act();
    return "nothing thrown";
  } catch (const Error& error) {
    return error.code() == code ? error.what() : std::string("another code: ") + error.what();
  }
}

TEST(Dispatch, RunsThePlanOnceWithItsWorkspace) {
  const Queue queue = Queue::cpu();
  const ProbeCall probe;
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{64}, std::size_t{100000}}) {
    Seen seen;
    dispatch(queue, probe.call(), Planted({.workspace = bytes}, seen));
    EXPECT_EQ(seen.ran, 1);
    ASSERT_NE(seen.workspace, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(seen.workspace) % 64, 0u);
  }
  Seen seen;
  dispatch(queue, probe.call(), Planted({}, seen));
  EXPECT_EQ(seen.ran, 1);
}

TEST(Dispatch, GivesTheSameWorkspaceToTheNextCall) {
  const Queue queue = Queue::cpu();
  const ProbeCall probe;
  Seen first, second;
  dispatch(queue, probe.call(), Planted({.workspace = 5000}, first));
  dispatch(queue, probe.call(), Planted({.workspace = 5000}, second));
  EXPECT_EQ(first.workspace, second.workspace);
}

TEST(Dispatch, ThatFindsNoMemoryRunsNothing) {
  const ProbeCall probe;
  Seen seen;
  EXPECT_EQ(
      sentence(
          ErrorCode::out_of_memory,
          [&] { dispatch(Queue::cpu(), probe.call(), Planted({.workspace = std::size_t{1} << 60}, seen)); }),
      "queue: no memory for a workspace of 1152921504606846976 bytes; free some, or make the call smaller");
  EXPECT_EQ(
      sentence(ErrorCode::out_of_memory,
               [&] { dispatch(Queue::cpu(), probe.call(), Planted({.workspace = SIZE_MAX}, seen)); }),
      "queue: no memory for a workspace of 18446744073709551615 bytes; free some, or make the call smaller");
  EXPECT_EQ(seen.ran, 0);
}

TEST(Dispatch, OfABadCallAsksNobody) {
  ProbeCall probe;
  probe.args.x.data = nullptr;
  Seen seen;
  EXPECT_EQ(
      sentence(ErrorCode::bad_argument, [&] { dispatch(Queue::cpu(), probe.call(), Planted({}, seen)); }),
      "probe: x has null data, expected 48 elements");
  EXPECT_EQ(seen.planned, 0);
}

TEST(Dispatch, ToAnImplementationThatRefusesSaysWhy) {
  const ProbeCall probe;
  Seen seen;
  EXPECT_EQ(sentence(ErrorCode::unsupported,
                     [&] {
                       dispatch(Queue::cpu(), probe.call(), Planted({.refusal = "K is 8, expected 7"}, seen));
                     }),
            "probe: cpu/planted: K is 8, expected 7");
  EXPECT_EQ(
      sentence(ErrorCode::unsupported,
               [&] { dispatch(Queue::cpu(), probe.call(), Planted({.device = DeviceType::hip}, seen)); }),
      "probe: cpu/planted: runs on hip:0 and the queue is on cpu");
}

TEST(Dispatch, OfAnOpThatTheLibraryLacksIsAFaultOfTheLibrary) {
  const ProbeCall probe;
  EXPECT_EQ(sentence(ErrorCode::internal, [&] { dispatch(Queue::cpu(), probe.call()); }),
            "probe: not in the registry");
}

TEST(Queue, RefusesAnImplementationThatNoOpHas) {
  const std::string said =
      sentence(ErrorCode::bad_argument, [&] { Queue::cpu({.implementation = "cpu/quantum"}); });
  EXPECT_TRUE(said.starts_with("queue: an implementation expected (cpu/")) << said;
  EXPECT_TRUE(said.ends_with("), got 'cpu/quantum'")) << said;
  for (const char* known : {"cpu/scalar", "cuda/portable", "hip/portable"})
    EXPECT_NE(said.find(known), std::string::npos) << said;
}

TEST(Queue, RefusesACpuOfAnotherIndex) {
  EXPECT_EQ(sentence(ErrorCode::device,
                     [] {
                       Queue::on({DeviceType::cpu, 5});
                     }),
            "queue: a cpu of index 0 expected, got index 5");
  EXPECT_EQ(sentence(ErrorCode::device,
                     [] {
                       Queue::on({DeviceType::cpu, -1});
                     }),
            "queue: a cpu of index 0 expected, got index -1");
}

TEST(LaunchRecord, IsPublishedForEveryPlanThatRunsWhileSomebodyListens) {
  const Queue queue = Queue::cpu();
  const ProbeCall probe;
  Seen seen;
  std::vector<LaunchRecord> records;
  EXPECT_FALSE(somebody_listens());
  dispatch(queue, probe.call(), Planted({}, seen));
  {
    const Listening listening([&](const LaunchRecord& record) { records.push_back(record); });
    EXPECT_TRUE(somebody_listens());
    dispatch(queue, probe.call(), Planted({.name = "cpu/a"}, seen));
    dispatch(queue, probe.call(), Planted({.name = "cpu/b", .workspace = 8}, seen));
    EXPECT_ANY_THROW(dispatch(queue, probe.call(), Planted({.refusal = "no"}, seen)));
  }
  EXPECT_FALSE(somebody_listens());
  dispatch(queue, probe.call(), Planted({}, seen));
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].op, "probe");
  EXPECT_EQ(records[0].implementation, "cpu/a");
  EXPECT_EQ(records[0].description.variant, (Named{{"target", "planted"}}));
  ASSERT_EQ(records[0].description.launches.size(), 1u);
  EXPECT_EQ(records[0].description.launches[0].kernel, "planted");
  EXPECT_EQ(records[0].description.launches[0].grid[0], 3);
  EXPECT_EQ(records[0].description.launches[0].binary.source, "built in");
  EXPECT_GE(records[0].seconds, 0.0);
  EXPECT_LT(records[0].seconds, 60.0);
  EXPECT_EQ(records[1].implementation, "cpu/b");
}

TEST(LaunchRecord, ReachesEveryListenerFromEveryThread) {
  std::atomic<int> first{0}, second{0};
  const Listening one([&](const LaunchRecord&) { first.fetch_add(1); });
  {
    const Listening two([&](const LaunchRecord&) { second.fetch_add(1); });
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        const Queue queue = Queue::cpu();
        const ProbeCall probe;
        Seen seen;
        for (int i = 0; i < 25; ++i) dispatch(queue, probe.call(), Planted({}, seen));
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(first.load(), 100);
  EXPECT_EQ(second.load(), 100);
}

TEST(Queue, LeasesMemoryOfItsOwnToEachCallAndTakesItBack) {
  const Queue queue = Queue::cpu();
  void* data = nullptr;
  {
    const Queue::Lease a = queue.lease(100), b = queue.lease(100);
    EXPECT_NE(a.data(), b.data());
    EXPECT_GE(a.bytes(), 100u);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 64, 0u);
    std::memset(a.data(), 1, a.bytes());
    std::memset(b.data(), 2, b.bytes());
    EXPECT_EQ(*static_cast<unsigned char*>(a.data()), 1);
    data = a.data();
  }
  const Queue::Lease again = queue.lease(50), more = queue.lease(50);
  EXPECT_TRUE(again.data() == data || more.data() == data);
}

TEST(Queue, LeaseOfNothingHoldsNoMemory) {
  const Queue::Lease lease = Queue::cpu().lease(0);
  EXPECT_EQ(lease.data(), nullptr);
  EXPECT_EQ(lease.bytes(), 0u);
}

TEST(Queue, LeaseOutlivesItsQueueAndMoves) {
  Queue::Lease lease = Queue::cpu().lease(4096);
  std::memset(lease.data(), 3, lease.bytes());
  void* data = lease.data();
  Queue::Lease moved = std::move(lease);
  EXPECT_EQ(moved.data(), data);
  EXPECT_EQ(lease.data(), nullptr);
  Queue::Lease other;
  other = std::move(moved);
  EXPECT_EQ(other.data(), data);
}

TEST(Queue, LeasesToManyThreadsNeverShareMemory) {
  const Queue queue = Queue::cpu();
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 1; t <= 6; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const Queue::Lease lease = queue.lease(static_cast<std::size_t>(100 * (1 + i % 7)));
        std::memset(lease.data(), t, lease.bytes());
        const auto* bytes = static_cast<const unsigned char*>(lease.data());
        for (std::size_t b = 0; b < lease.bytes(); b += 97)
          if (bytes[b] != t) wrong.fetch_add(1);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(Queue, IsSharedByItsCopies) {
  const Queue queue = Queue::cpu({.checked = true, .implementation = "cpu/scalar"});
  const Queue copy = queue;
  EXPECT_EQ(copy.options().implementation, "cpu/scalar");
  EXPECT_TRUE(copy.options().checked);
  EXPECT_EQ(&copy.executor(), &queue.executor());
  EXPECT_EQ(copy.device(), Device{});
}

TEST(Queue, IsCheckedWhereTheEnvironmentSaysSo) {
  ASSERT_EQ(unsetenv("ISOMER_CHECKED"), 0);
  EXPECT_FALSE(Queue::cpu().options().checked);
  ASSERT_EQ(setenv("ISOMER_CHECKED", "1", 1), 0);
  EXPECT_TRUE(Queue::cpu().options().checked);
  ASSERT_EQ(setenv("ISOMER_CHECKED", "0", 1), 0);
  EXPECT_FALSE(Queue::cpu().options().checked);
  ASSERT_EQ(setenv("ISOMER_CHECKED", "yes", 1), 0);
  EXPECT_EQ(sentence(ErrorCode::bad_argument, [] { Queue::cpu(); }),
            "ISOMER_CHECKED expects 0 or 1, got 'yes'");
  unsetenv("ISOMER_CHECKED");
}

}  // namespace
}  // namespace isomer::core
