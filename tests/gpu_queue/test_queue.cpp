// Queues on GPUs: what they say where there is none, and calls that are made ready before a graph is
// captured. The emulator stands in for every vendor.
#include "calls.h"
#include "core/registry.hpp"
#include "gpu/plan.hpp"
#include "ops/sin/sin.hpp"
#include "stand_in.hpp"

#include <isomer/sin.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

namespace isomer {
namespace {

using gpu::StandIn;

std::string sentence_of(ErrorCode code, const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    return error.what();
  }
  return "no error";
}

std::string sentence_of_queue_on(Device device) {
  return sentence_of(ErrorCode::device, [&] { Queue::on(device); });
}

TEST(QueueOn, SaysWhatTheMachineLacks) {
  StandIn::put(DeviceType::cuda).missing = "there is no NVIDIA driver";
  EXPECT_EQ(sentence_of_queue_on({DeviceType::cuda, 1}), "queue: cuda:1: there is no NVIDIA driver");
  isomer_queue* queue = nullptr;
  EXPECT_EQ(isomer_queue_on({ISOMER_CUDA, 0}, nullptr, nullptr, &queue), ISOMER_DEVICE);
  EXPECT_STREQ(isomer_last_error(), "queue: cuda:0: there is no NVIDIA driver");
  EXPECT_EQ(queue, nullptr);
}

TEST(QueueOn, SaysWhichDevicesThereAre) {
  StandIn::put(DeviceType::emulated);
  EXPECT_EQ(sentence_of_queue_on({DeviceType::emulated, 2}),
            "queue: a device from emulated:0 to emulated:1 expected, got emulated:2");
  EXPECT_EQ(sentence_of_queue_on({DeviceType::emulated, -1}),
            "queue: a device from emulated:0 to emulated:1 expected, got emulated:-1");
}

TEST(QueueBest, TakesTheFirstGpuThereIsAndNeverTheEmulator) {
  StandIn::Told& cuda = StandIn::put(DeviceType::cuda);
  StandIn::Told& hip = StandIn::put(DeviceType::hip);
  EXPECT_EQ(Queue::best().device(), (Device{DeviceType::cuda, 0}));
  cuda.missing = "there is no NVIDIA driver";
  EXPECT_EQ(Queue::best().device(), (Device{DeviceType::hip, 0}));
  hip.missing = "there is no AMD driver";
  EXPECT_EQ(Queue::best().device(), Device{});
  EXPECT_EQ(
      sentence_of(ErrorCode::unsupported,
                  [] {
                    float x = 1, y = 0;
                    sin(Queue::best({.implementation = "cuda/portable"}),
                        {.x = Tensor(&x, DType::f32, {1}), .y = Tensor(&y, DType::f32, {1})});
                  }),
      "sin: no implementation takes this call on cpu: cuda/portable: runs on cuda:0 and the queue is on cpu");
}

/// x and y on emulated:0.
class Preparing : public testing::Test {
 protected:
  static constexpr std::int64_t kCount = 1000;
  static constexpr std::size_t kBytes = kCount * sizeof(float);

  Preparing() : told(StandIn::put(DeviceType::emulated)), vendor(*gpu::find_vendor(DeviceType::emulated)) {
    x = static_cast<float*>(vendor.allocate(0, kBytes));
    y = static_cast<float*>(vendor.allocate(0, kBytes));
    for (std::int64_t i = 0; i < kCount; ++i) x[i] = 0.01f * static_cast<float>(i);
    std::memset(y, 0xff, kBytes);
    told.allocated = 0;
  }
  ~Preparing() override {
    told.capturing = false;
    vendor.release(0, x);
    vendor.release(0, y);
  }
  SinArgs args() const {
    return {.x = Tensor(x, DType::f32, {kCount}, emulated), .y = Tensor(y, DType::f32, {kCount}, emulated)};
  }
  bool untouched() const { return std::isnan(y[0]) && std::isnan(y[kCount - 1]); }
  void expect_sines() const {
    for (std::int64_t i = 0; i < kCount; ++i) ASSERT_NEAR(y[i], std::sin(x[i]), 1e-6f) << i;
  }

  StandIn::Told& told;
  gpu::Vendor& vendor;
  const Device emulated{DeviceType::emulated, 0};
  float *x = nullptr, *y = nullptr;
};

TEST_F(Preparing, CompilesAndLoadsAndComputesNothing) {
  const Queue queue = Queue::on(emulated);
  EXPECT_EQ(explain(queue, args()).description.launches.at(0).binary.source, "");
  sin(queue.preparing(), args());
  EXPECT_EQ(told.compiled, 1);
  EXPECT_EQ(told.loaded, 1);
  EXPECT_EQ(told.launched, 0);
  EXPECT_TRUE(untouched());
  EXPECT_EQ(explain(queue, args()).description.launches.at(0).binary.source, "compiled");
  sin(queue.preparing(), args());
  EXPECT_EQ(told.compiled, 1);
}

TEST_F(Preparing, LeavesNothingToCompileForACallThatIsCaptured) {
  const Queue queue = Queue::on(emulated);
  told.capturing = true;
  EXPECT_EQ(sentence_of(ErrorCode::device, [&] { sin(queue, args()); }),
            "emulated: isomer_sin element=f32 vector=4 unroll=4 ragged=0 dims=1 index=u32 threads=128 is not "
            "loaded yet, and nothing can be "
            "loaded while a graph is being captured; prepare the call before the capture");
  EXPECT_TRUE(untouched());
  told.capturing = false;
  sin(queue.preparing(), args());
  told.capturing = true;
  sin(queue, args());
  EXPECT_EQ(told.compiled, 1);
  EXPECT_EQ(told.launched, 1);
  expect_sines();
}

TEST_F(Preparing, RefusesWhatTheCallWouldRefuse) {
  SinArgs bad = args();
  bad.y.dtype = DType::f16;
  const Queue queue = Queue::on(emulated);
  const std::string said = sentence_of(ErrorCode::bad_argument, [&] { sin(queue, bad); });
  EXPECT_NE(said, "no error");
  EXPECT_EQ(sentence_of(ErrorCode::bad_argument, [&] { sin(queue.preparing(), bad); }), said);
}

TEST_F(Preparing, RunsNothingOnTheCpu) {
  std::vector<float> from(8, 1.0f), to(8, -1.0f);
  const SinArgs on_host = {.x = Tensor(from.data(), DType::f32, {8}),
                           .y = Tensor(to.data(), DType::f32, {8})};
  sin(Queue::cpu().preparing(), on_host);
  EXPECT_EQ(to, std::vector<float>(8, -1.0f));
}

/// sin by way of a workspace.
class RoundaboutPlan : public core::Plan {
 public:
  static constexpr std::size_t kWorkspace = 100000;
  void describe(core::Description&) const override {}
  std::size_t workspace_bytes() const override { return kWorkspace; }
  void run(const Queue&, const core::Call&, void* workspace) const override {
    std::memset(workspace, 0, kWorkspace);
  }
};
class Roundabout : public gpu::Implementation {
 public:
  Roundabout() : Implementation(DeviceType::emulated, "roundabout") {}
  core::PlanOrRefusal plan(const core::Call&, const gpu::Facts&) const override {
    return std::make_unique<RoundaboutPlan>();
  }
};

TEST_F(Preparing, MakesTheWorkspaceThatACapturedCallNeeds) {
  const Queue queue = Queue::on(emulated);
  const SinArgs with = args();
  const SinOptions options;
  const core::Call call = ops::sin::bind(with, options);
  const Roundabout roundabout;
  told.capturing = true;
  EXPECT_EQ(sentence_of(ErrorCode::device, [&] { core::dispatch(queue, call, roundabout); }),
            "emulated: a workspace of 102400 bytes cannot be allocated while a graph is being captured; "
            "prepare the "
            "call before the capture");
  told.capturing = false;
  core::dispatch(queue.preparing(), call, roundabout);
  EXPECT_EQ(told.allocated, 1);
  told.capturing = true;
  core::dispatch(queue, call, roundabout);
  EXPECT_EQ(told.allocated, 1);
}

TEST_F(Preparing, OfAPlanCompilesLoadsAndComputesNothing) {
  const Queue queue = Queue::on(emulated);
  const Plan made = plan(queue, args());
  EXPECT_EQ(told.compiled, 0);
  told.capturing = true;
  EXPECT_NE(
      sentence_of(ErrorCode::device, [&] { made.run(args()); }).find("prepare the call before the capture"),
      std::string::npos);
  told.capturing = false;
  made.prepare();
  EXPECT_EQ(told.compiled, 1);
  EXPECT_EQ(told.launched, 0);
  EXPECT_TRUE(untouched());
  EXPECT_EQ(made.explain().description.launches.at(0).binary.source, "compiled");
  told.capturing = true;
  made.run(args());
  EXPECT_EQ(told.compiled, 1);
  EXPECT_EQ(told.launched, 1);
  expect_sines();
}

TEST_F(Preparing, IsDoneForAPlanThatIsMadeOnAPreparingQueue) {
  const Plan made = plan(Queue::on(emulated).preparing(), args());
  EXPECT_EQ(told.compiled, 1);
  EXPECT_EQ(told.launched, 0);
  made.run(args());
  EXPECT_EQ(told.launched, 1);
  expect_sines();
}

TEST_F(Preparing, LeavesTheAlignmentOfAPlanToBeChecked) {
  const Plan made = plan(Queue::on(emulated), args());
  SinArgs shifted = args();
  shifted.y.data = y + 1;
  EXPECT_EQ(sentence_of(ErrorCode::bad_argument, [&] { made.run(shifted); }).substr(0, 42),
            "sin: y lies at a multiple of 4 bytes, expe");
  EXPECT_TRUE(untouched());
  const Device other{DeviceType::emulated, 1};
  shifted.y = Tensor(y, DType::f32, {kCount}, other);
  EXPECT_EQ(sentence_of(ErrorCode::bad_argument, [&] { made.run(shifted); }),
            "sin: y is f32[1000] on emulated:1, expected f32[1000] on emulated:0 as the plan was made for");
  // Made for the least alignment, a plan takes every better one.
  SinArgs least = args();
  least.x.shape[0] = least.y.shape[0] = kCount - 1;
  SinArgs best = least;
  least.x.data = x + 1;
  least.y.data = y + 1;
  const Plan any = plan(Queue::on(emulated), least);
  any.run(least);
  any.run(best);
  expect_sines();
}

int launched_when_prepared = -1;
StandIn::Told* told_in_c = nullptr;

TEST_F(Preparing, WorksInC) {
  told_in_c = &told;
  ASSERT_EQ(sine_on_the_emulator(x, y, kCount,
                                 [] {
                                   launched_when_prepared = told_in_c->launched;
                                   told_in_c->capturing = true;
                                 }),
            ISOMER_OK)
      << isomer_last_error();
  EXPECT_EQ(launched_when_prepared, 0);
  EXPECT_EQ(told.launched, 1);
  EXPECT_EQ(told.compiled, 1);
  expect_sines();
}

TEST(QueuesInC, RefuseNullPointers) {
  isomer_queue *queue = nullptr, *preparing = nullptr;
  ASSERT_EQ(isomer_queue_cpu(nullptr, &queue), ISOMER_OK);
  EXPECT_EQ(isomer_queue_preparing(nullptr, &preparing), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_preparing: queue is null");
  EXPECT_EQ(isomer_queue_preparing(queue, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_preparing: preparing is null");
  EXPECT_EQ(isomer_queue_device(queue, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_device: device is null");
  EXPECT_EQ(isomer_queue_stream(queue, nullptr), ISOMER_BAD_ARGUMENT);
  EXPECT_STREQ(isomer_last_error(), "queue_stream: stream is null");
  isomer_device device = {0, -1};
  void* stream = &device;
  EXPECT_EQ(isomer_queue_device(queue, &device), ISOMER_OK);
  EXPECT_EQ(device.device_type, ISOMER_CPU);
  EXPECT_EQ(isomer_queue_stream(queue, &stream), ISOMER_OK);
  EXPECT_EQ(stream, nullptr);
  isomer_queue_free(queue);
}

}  // namespace
}  // namespace isomer
