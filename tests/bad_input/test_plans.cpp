// Plans of every op: they give what the op gives, with tensors elsewhere, and refuse what they were not made
// for.
#include "attempt.hpp"
#include "first_tier.hpp"
#include "oracle/oracle.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

namespace isomer::bad_input {
namespace {

std::string sentence_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::bad_argument) << error.what();
    return error.what();
  }
  return "";
}

/// A plan in C and its queue, which it outlives.
class CPlan {
 public:
  explicit CPlan(const Attempt& attempt) {
    isomer_queue* queue = nullptr;
    EXPECT_EQ(isomer_queue_cpu(nullptr, &queue), ISOMER_OK);
    CTensors tensors(attempt.call());
    tensors.planned = &plan_;
    EXPECT_EQ(attempt.function().c(queue, attempt.call(), tensors), ISOMER_OK) << isomer_last_error();
    isomer_queue_free(queue);
  }
  ~CPlan() { isomer_plan_free(plan_); }
  CPlan(const CPlan&) = delete;
  CPlan& operator=(const CPlan&) = delete;

  const isomer_plan* get() const { return plan_; }
  std::string run(const Attempt& attempt, const CTensors& given) const {
    CTensors tensors = given;
    tensors.run = plan_;
    const isomer_status status = attempt.function().c(nullptr, attempt.call(), tensors);
    if (status == ISOMER_OK) return "";
    EXPECT_EQ(status, ISOMER_BAD_ARGUMENT) << isomer_last_error();
    return isomer_last_error();
  }

 private:
  isomer_plan* plan_ = nullptr;
};

class EveryPlan : public testing::TestWithParam<std::string> {
 protected:
  const Function& function() const { return function_of(GetParam()); }
};

TEST_P(EveryPlan, GivesElsewhereWhatTheOpGives) {
  for (const oracle::Case& each : tests::cases_of_tier(*oracle::find_oracle(function().op), 24)) {
    Attempt made(each.line());
    const Planned planned = function().plan(Queue::cpu(), made.call());
    const CPlan planned_in_c(made);
    const std::string untouched = made.bytes();
    ASSERT_EQ(made.cxx(), "") << each.line();
    Attempt elsewhere(each.line());
    ASSERT_TRUE(elsewhere.bytes() == untouched) << each.line();
    planned.run(elsewhere.call(), nullptr, 0);
    EXPECT_TRUE(elsewhere.bytes() == made.bytes()) << each.line();
    elsewhere.restore(untouched);
    EXPECT_EQ(planned_in_c.run(elsewhere, CTensors(elsewhere.call())), "") << each.line();
    EXPECT_TRUE(elsewhere.bytes() == made.bytes()) << each.line() << " in C";
  }
}

TEST_P(EveryPlan, SaysWhatItRunsAsExplainDoes) {
  for (const std::string& line : function().good) {
    const Attempt attempt(line);
    const Queue queue = Queue::cpu();
    const AnyPlan plan = function().plan(queue, attempt.call()).plan;
    const Explanation by_plan = plan.explain(), by_call = function().explain(queue, attempt.call());
    EXPECT_EQ(by_plan.op, by_call.op);
    EXPECT_EQ(by_plan.implementation, by_call.implementation);
    EXPECT_EQ(plan.implementation(), by_call.implementation);
    EXPECT_EQ(by_plan.refusals.size(), by_call.refusals.size());
    EXPECT_EQ(by_plan.workspace_bytes, by_call.workspace_bytes);
    EXPECT_EQ(plan.workspace_bytes(), by_call.workspace_bytes);
    EXPECT_EQ(by_plan.description.variant, by_call.description.variant);
    EXPECT_EQ(by_plan.description.parameters, by_call.description.parameters);
    EXPECT_EQ(by_plan.description.constants, by_call.description.constants);
    const CPlan in_c(attempt);
    const char* name = nullptr;
    isomer_uint64 bytes = 0;
    ASSERT_EQ(isomer_plan_implementation(in_c.get(), &name), ISOMER_OK);
    ASSERT_EQ(isomer_plan_workspace_bytes(in_c.get(), &bytes), ISOMER_OK);
    EXPECT_EQ(name, by_call.implementation);
    EXPECT_EQ(bytes, by_call.workspace_bytes);
  }
}

TEST_P(EveryPlan, IsNotMadeOfACallThatTheOpRefuses) {
  for (const std::string& line : function().good) {
    Attempt attempt(line);
    for (int i = 0; i < attempt.call().count; ++i) {
      const Tensor good = attempt.tensor(i);
      if (good.empty() || !good.defined()) continue;
      attempt.tensor(i).data = nullptr;
      const std::string said = attempt.cxx();
      EXPECT_NE(said, "") << line;
      EXPECT_EQ(sentence_of([&] { function().plan(Queue::cpu(), attempt.call()); }), said) << line;
      attempt.tensor(i) = good;
    }
  }
}

/// The ways in which a tensor is not as its plan was made for, or lies where it must not.
struct Spoiled {
  std::string what;
  std::function<bool(Tensor&)> spoil;  ///< false where that tensor cannot be spoiled so
  bool in_c = true;
};

const std::vector<Spoiled> kSpoiled = {
    {"absent", [](Tensor& t) { return t = {}, true; }},
    {"of another dtype",
     [](Tensor& t) { return t.dtype = t.dtype == DType::f64 ? DType::f32 : DType::f64, true; }},
    {"on another device",
     [](Tensor& t) {
       return t.device = {DeviceType::cuda, 0}, true;
     }},
    {"on another index", [](Tensor& t) { return t.device.index = 1, true; }, false},
    {"of negative rank", [](Tensor& t) { return t.rank = -1, true; }, false},
    {"of rank 9", [](Tensor& t) { return t.rank = 9, true; }, false},
    {"longer", [](Tensor& t) { return t.rank > 0 && ++t.shape[0] > 0; }},
    {"of negative size", [](Tensor& t) { return t.rank > 0 && (t.shape[0] = -1) < 0; }},
    {"in other strides", [](Tensor& t) { return t.rank > 0 && t.size(0) > 1 && ++t.strides[0] != 0; }},
    {"null", [](Tensor& t) { return !t.empty() && (t.data = nullptr, true); }},
    {"misaligned",
     [](Tensor& t) {
       t.data = static_cast<std::byte*>(t.data) + 1;
       return !t.empty() && size_of(t.dtype) > 1;
     }},
};

TEST_P(EveryPlan, RefusesTensorsThatAreNotAsItWasMadeFor) {
  for (const std::string& line : function().good) {
    Attempt attempt(line);
    const Planned planned = function().plan(Queue::cpu(), attempt.call());
    const CPlan planned_in_c(attempt);
    const std::string before = attempt.bytes();
    for (int i = 0; i < attempt.call().count; ++i) {
      const Tensor good = attempt.tensor(i);
      if (!good.defined()) continue;
      const std::string& name = attempt.call().contract->args[static_cast<std::size_t>(i)].name;
      for (const Spoiled& way : kSpoiled) {
        if (way.spoil(attempt.tensor(i))) {
          const std::string what = line + ": " + name + " " + way.what;
          const std::string said = sentence_of([&] { planned.run(attempt.call(), nullptr, 0); });
          EXPECT_TRUE(said.starts_with(function().op + ": " + name + " ")) << what << " gave: " << said;
          EXPECT_EQ(said.find('\n'), std::string::npos) << said;
          if (way.in_c) {
            EXPECT_EQ(planned_in_c.run(attempt, CTensors(attempt.call())), said) << what;
          }
        }
        attempt.tensor(i) = good;
      }
    }
    EXPECT_TRUE(attempt.bytes() == before) << line;
    // The contents of lengths, tables and indices are looked at in each run.
    for (int i = 0; i < attempt.call().count; ++i) {
      const Tensor& t = attempt.call().tensor(i);
      if (t.dtype != DType::i32 || t.empty()) continue;
      std::int32_t& first = *static_cast<std::int32_t*>(t.data);
      const std::int32_t good = first;
      first = INT32_MAX;
      const std::string said = sentence_of([&] { planned.run(attempt.call(), nullptr, 0); });
      EXPECT_EQ(said, attempt.cxx()) << line;
      first = good;
    }
    EXPECT_EQ(sentence_of([&] { planned.run(attempt.call(), nullptr, 0); }), "") << line;
  }
}

TEST_P(EveryPlan, RefusesAnOutputOverAnotherTensor) {
  Attempt attempt(function().good.front());
  const Planned planned = function().plan(Queue::cpu(), attempt.call());
  for (int i = 0; i < attempt.call().count; ++i) {
    if (core::role_in(attempt.call(), static_cast<std::size_t>(i)) == core::Role::in) continue;
    for (int j = 0; j < attempt.call().count; ++j) {
      const Tensor good = attempt.tensor(i);
      if (i == j || !good.defined() || good.empty() || !attempt.tensor(j).defined()) continue;
      attempt.tensor(i).data = attempt.tensor(j).data;
      const std::string said = attempt.cxx();
      const std::string before = attempt.bytes();
      EXPECT_EQ(sentence_of([&] { planned.run(attempt.call(), nullptr, 0); }), said);
      EXPECT_TRUE(said.empty() || attempt.bytes() == before);
      attempt.tensor(i) = good;
    }
  }
}

TEST_P(EveryPlan, WorksInMemoryOfTheCallers) {
  for (const std::string& line : function().good) {
    Attempt made(line), elsewhere(line);
    const Planned planned = function().plan(Queue::cpu(), made.call());
    ASSERT_EQ(made.cxx(), "");
    const std::size_t bytes = planned.plan.workspace_bytes();
    std::vector<std::byte> memory(bytes + 256, std::byte{0x5a});
    auto* begin = memory.data() + 64 + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64);
    planned.run(elsewhere.call(), begin, bytes);
    EXPECT_TRUE(elsewhere.bytes() == made.bytes()) << line;
    for (auto* at = memory.data(); at < memory.data() + memory.size(); ++at)
      if (at < begin || at >= begin + bytes) {
        ASSERT_EQ(*at, std::byte{0x5a}) << line << ": " << at - begin << " of " << bytes;
      }
    const auto refused = [&](void* workspace, std::size_t given, const std::string& expected) {
      EXPECT_EQ(sentence_of([&] { planned.run(elsewhere.call(), workspace, given); }),
                function().op + expected);
    };
    refused(begin + 8, bytes, ": workspace is misaligned: its address must be a multiple of 64 bytes");
    refused(nullptr, bytes + 1, ": workspace has 0 bytes, expected " + std::to_string(bytes));
    if (bytes > 0)
      refused(begin, bytes - 1,
              ": workspace has " + std::to_string(bytes - 1) + " bytes, expected " + std::to_string(bytes));
  }
}

TEST_P(EveryPlan, RunsInManyThreadsAtOnce) {
  const std::string& line = function().good.back();
  Attempt expected(line);
  const Planned planned = function().plan(Queue::cpu(), expected.call());
  const std::string untouched = expected.bytes();
  ASSERT_EQ(expected.cxx(), "");
  std::vector<std::unique_ptr<Attempt>> attempts;
  for (int i = 0; i < 4; ++i) attempts.push_back(std::make_unique<Attempt>(line));
  std::vector<std::thread> threads;
  for (const auto& attempt : attempts)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        attempt->restore(untouched);
        planned.run(attempt->call(), nullptr, 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const auto& attempt : attempts) EXPECT_TRUE(attempt->bytes() == expected.bytes()) << line;
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryPlan, testing::ValuesIn([] {
                           std::vector<std::string> names;
                           for (const Function& function : functions()) names.push_back(function.op);
                           return names;
                         }()),
                         [](const auto& parameter) { return parameter.param; });

TEST(APlan, OutlivesEverythingItWasMadeWith) {
  std::vector<float> x(100, 0.5f), y(100), expected(100);
  std::vector<std::int64_t> shape = {100};
  const auto made = [&] {
    std::vector<float> gone(100), also_gone(100);
    Queue queue = Queue::cpu();
    return plan(queue, SinArgs{.x = Tensor(gone.data(), DType::f32, shape),
                               .y = Tensor(also_gone.data(), DType::f32, shape)});
  }();
  const SinArgs args = {.x = Tensor(x.data(), DType::f32, shape), .y = Tensor(y.data(), DType::f32, shape)};
  made.run(args);
  sin(Queue::cpu(), {.x = args.x, .y = Tensor(expected.data(), DType::f32, shape)});
  EXPECT_EQ(y, expected);
  const Plan<SinArgs> copy = made;
  EXPECT_EQ(copy.queue().device(), Device{});
}

TEST(APlan, KeepsItsOptions) {
  std::vector<float> x(256, 1e-6f), s(2), expected(2);
  std::vector<std::uint8_t> y(256);
  const auto args = [&](std::vector<float>& scales) {
    return ActQuantArgs{.x = Tensor(x.data(), DType::f32, {1, 256}),
                        .y = Tensor(y.data(), DType::e4m3fn, {1, 256}),
                        .s = Tensor(scales.data(), DType::f32, {1, 2})};
  };
  auto options = std::make_unique<ActQuantOptions>(ActQuantOptions{.amax_floor = 0.5f});
  act_quant(Queue::cpu(), args(expected), *options);
  const Plan made = plan(Queue::cpu(), args(s), *options);
  std::memset(static_cast<void*>(options.get()), 0xff, sizeof *options);
  options.reset();
  made.run(args(s));
  EXPECT_EQ(s, expected);
}

TEST(APlanInC, RefusesNullPointersAndStructsThatNoHeaderHad) {
  float x = 1, y = 0;
  isomer_int64 shape[] = {1};
  isomer_tensor from = {&x, {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, nullptr, 0};
  isomer_tensor to = {&y, {ISOMER_CPU, 0}, 1, ISOMER_F32, shape, nullptr, 0};
  isomer_sin_args args = {sizeof args, &from, &to};
  isomer_queue* queue = nullptr;
  ASSERT_EQ(isomer_queue_cpu(nullptr, &queue), ISOMER_OK);
  auto* plan = reinterpret_cast<isomer_plan*>(&args);
  const auto says = [](isomer_status status, const std::string& sentence) {
    EXPECT_EQ(status, ISOMER_BAD_ARGUMENT);
    EXPECT_EQ(isomer_last_error(), sentence);
  };
  says(isomer_plan_sin(queue, &args, nullptr, nullptr), "sin: plan is null");
  says(isomer_plan_sin(nullptr, &args, nullptr, &plan), "sin: queue is null");
  EXPECT_EQ(plan, nullptr);
  ASSERT_EQ(isomer_plan_sin(queue, &args, nullptr, &plan), ISOMER_OK);
  isomer_queue_free(queue);
  says(isomer_plan_run(nullptr, &args, nullptr), "plan_run: plan is null");
  says(isomer_plan_run(plan, nullptr, nullptr), "sin: args is null");
  says(isomer_plan_prepare(nullptr), "plan_prepare: plan is null");
  says(isomer_plan_workspace_bytes(plan, nullptr), "plan_workspace_bytes: bytes is null");
  says(isomer_plan_implementation(plan, nullptr), "plan_implementation: name is null");
  const isomer_act_quant_args other = ISOMER_ACT_QUANT_ARGS_INIT;
  EXPECT_EQ(isomer_plan_run(plan, &other, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_TRUE(std::string(isomer_last_error()).starts_with("sin: args.size is 32")) << isomer_last_error();
  isomer_plan_run_options options = ISOMER_PLAN_RUN_OPTIONS_INIT;
  options.size = 4;
  EXPECT_EQ(isomer_plan_run(plan, &args, &options), ISOMER_BAD_ARGUMENT);
  options.size = sizeof options;
  options.workspace_bytes = 64;
  says(isomer_plan_run(plan, &args, &options), "sin: workspace has 0 bytes, expected 0");
  options.workspace_bytes = 0;
  EXPECT_EQ(isomer_plan_prepare(plan), ISOMER_OK);
  EXPECT_EQ(isomer_plan_run(plan, &args, &options), ISOMER_OK);
  EXPECT_FLOAT_EQ(y, 0.84147098f);
  isomer_plan_free(plan);
  isomer_plan_free(nullptr);
}

}  // namespace
}  // namespace isomer::bad_input
