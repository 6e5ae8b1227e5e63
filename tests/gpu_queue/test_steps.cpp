// What a plan's steps bring along: tensor maps, which are encoded once, and scratch that is zero.
#include "gpu/plan.hpp"
#include "gpu/queue_state.hpp"
#include "stand_in.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <vector>

namespace isomer {
namespace {

using gpu::StandIn;

struct Parameters {
  std::int64_t rows;
  device::TensorMap from, to;
};

gpu::TensorMap rows_of(DType element) {
  return {.element = element,
          .rank = 2,
          .size = {128, 1000},
          .stride_bytes = {0, 512},
          .box = {32, 64},
          .swizzle_bytes = 0};
}

/// A launch with two tensor maps and scratch. The program is one that compiles; the launch is only looked at.
class MappedPlan : public gpu::Plan {
 public:
  MappedPlan()
      : Plan({{.source = "ops/sin/kernels/sin.cu",
               .kernel = "isomer_sin",
               .variant = {{"element", "f32"},
                           {"vector", 4},
                           {"unroll", 4},
                           {"ragged", 0},
                           {"dims", 1},
                           {"index", "u32"},
                           {"threads", 128}},
               .maps = {{rows_of(DType::f32), offsetof(Parameters, from)},
                        {rows_of(DType::bf16), offsetof(Parameters, to)}}}},
             kScratch) {}
  static constexpr std::size_t kScratch = 256;

  void put(const Queue& queue, const void* from, const void* to) const {
    Parameters parameters{.rows = 1000};
    launch(queue, 0, parameters, {from, to});
  }
  void* scratch(const Queue& queue) const { return zeroed(queue); }
  void run(const Queue&, const core::Call&, void*) const override {}
};

class Steps : public testing::Test {
 protected:
  Steps() : told(StandIn::put(DeviceType::emulated)), queue(Queue::on({DeviceType::emulated, 0})) {
    told.watch = [this](const gpu::Launch& launch) {
      ASSERT_EQ(launch.parameter_bytes, sizeof(Parameters));
      std::memcpy(&seen, launch.parameters, sizeof seen);
    };
  }
  /// What the emulator was told of a tensor.
  static device::EmulatedTensorMap told_of(const device::TensorMap& map) {
    device::EmulatedTensorMap plain;
    std::memcpy(&plain, &map, sizeof plain);
    return plain;
  }

  StandIn::Told& told;
  Queue queue;
  Parameters seen{};
  alignas(64) std::byte memory[256] = {};
};

TEST_F(Steps, EncodeTheirTensorMapsOnceForAnAddress) {
  const MappedPlan plan;
  plan.put(queue, memory, memory + 64);
  EXPECT_EQ(told.encoded, 2);
  EXPECT_EQ(seen.rows, 1000);
  const device::EmulatedTensorMap from = told_of(seen.from), to = told_of(seen.to);
  EXPECT_EQ(from.address, reinterpret_cast<std::uintptr_t>(memory));
  EXPECT_EQ(to.address, reinterpret_cast<std::uintptr_t>(memory + 64));
  EXPECT_EQ(from.rank, 2);
  EXPECT_EQ(from.size[1], 1000u);
  EXPECT_EQ(from.stride_bytes[0], 4u);
  EXPECT_EQ(to.stride_bytes[0], 2u);
  EXPECT_EQ(from.stride_bytes[1], 512u);
  EXPECT_EQ(from.box[0], 32u);

  plan.put(queue, memory, memory + 64);
  EXPECT_EQ(told.encoded, 2);
  plan.put(queue, memory + 128, memory + 64);
  EXPECT_EQ(told.encoded, 3);
  EXPECT_EQ(told_of(seen.from).address, reinterpret_cast<std::uintptr_t>(memory + 128));
  EXPECT_EQ(told_of(seen.to).address, reinterpret_cast<std::uintptr_t>(memory + 64));
  EXPECT_EQ(told.launched, 3);
}

TEST_F(Steps, SayWhyAMapCannotBeEncodedAndDoSoAgain) {
  const MappedPlan plan;
  for (int again = 0; again < 2; ++again) {
    try {
      plan.put(queue, memory + 4, memory);
      FAIL() << "encoded";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::unsupported);
      EXPECT_STREQ(error.what(), "emulated: a tensor map needs an address that is a multiple of 16 bytes");
    }
  }
  EXPECT_EQ(told.launched, 0);
  plan.put(queue, memory, memory);
  EXPECT_EQ(told.launched, 1);
}

TEST_F(Steps, HaveScratchThatIsZeroAndStaysWhereItIs) {
  const MappedPlan plan;
  auto* scratch = static_cast<std::byte*>(plan.scratch(queue));
  EXPECT_EQ(told.allocated, 1);
  for (std::size_t i = 0; i < MappedPlan::kScratch; ++i) ASSERT_EQ(scratch[i], std::byte{0}) << i;
  EXPECT_EQ(plan.scratch(queue), scratch);
  EXPECT_EQ(MappedPlan().scratch(queue), scratch);
  // One that needs more gets more, and leaves the first where a graph may still use it.
  auto* more = static_cast<std::byte*>(gpu::state_of(queue).zeroed(100000));
  EXPECT_NE(more, scratch);
  EXPECT_EQ(more[99999], std::byte{0});
  EXPECT_EQ(plan.scratch(queue), more);
  EXPECT_EQ(told.allocated, 2);
  EXPECT_NE(plan.scratch(Queue::on({DeviceType::emulated, 0})), more);
}

/// A kernel that failed has not left zero what it counted.
TEST_F(Steps, HaveScratchThatIsZeroAgainAfterALaunchThatFailed) {
  const MappedPlan plan;
  auto* scratch = static_cast<std::byte*>(plan.scratch(queue));
  const auto fails = [&] {
    std::memset(scratch, 0xff, MappedPlan::kScratch);
    throw Error(ErrorCode::device, "failed");
  };
  const auto expect_zero = [&] {
    ASSERT_EQ(plan.scratch(queue), scratch);
    for (std::size_t i = 0; i < MappedPlan::kScratch; ++i) ASSERT_EQ(scratch[i], std::byte{0}) << i;
  };
  told.watch = [&](const gpu::Launch&) { fails(); };
  EXPECT_THROW(plan.put(queue, memory, memory), Error);
  expect_zero();
  // Devices tell a failure when they are waited for.
  told.ending = fails;
  EXPECT_THROW(queue.synchronize(), Error);
  told.ending = nullptr;
  told.capturing = true;
  try {
    plan.scratch(queue);
    FAIL() << "zeroed in a capture";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "emulated: the scratch cannot be zeroed after a failed launch while a graph is being "
                 "captured; prepare the call before the capture");
  }
  told.capturing = false;
  plan.prepare(queue);
  told.capturing = true;
  expect_zero();
  told.capturing = false;
  // What nothing failed on stays as it is: kernels take care of it.
  scratch[0] = std::byte{1};
  EXPECT_EQ(*static_cast<std::byte*>(plan.scratch(queue)), std::byte{1});
  scratch[0] = std::byte{0};
}

TEST_F(Steps, AreGivenTheirScratchBeforeAGraphIsCaptured) {
  const MappedPlan plan;
  told.capturing = true;
  try {
    plan.scratch(queue);
    FAIL() << "allocated in a capture";
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "emulated: a scratch of 256 bytes cannot be allocated while a graph is being captured; prepare "
        "the call before the capture");
  }
  told.capturing = false;
  plan.prepare(queue);
  EXPECT_EQ(told.allocated, 1);
  told.capturing = true;
  EXPECT_NE(plan.scratch(queue), nullptr);
  told.capturing = false;
}

}  // namespace
}  // namespace isomer
