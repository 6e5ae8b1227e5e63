#include "core/plan_cache.hpp"

#include <gtest/gtest.h>

#include "core/host_copy.hpp"
#include "core/queue_state.hpp"
#include "core/sha256.hpp"
#include "probe.hpp"

namespace isomer::core {
namespace {

/// A queue on a device that has no memory of its own.
Queue pretended(int index = 0) {
  return QueueAccess::make(
      std::make_shared<QueueAccess::State>(Device{DeviceType::cuda, index}, QueueOptions{}));
}

class NoPlan : public Plan {
  void describe(Description&) const override {}
  void run(const Queue&, const Call&, void*) const override {}
};

class NoImplementation : public Implementation {
  const std::string& name() const override { return name_; }
  DeviceType device() const override { return DeviceType::cuda; }
  PlanOrRefusal plan(const Call&, const Queue&) const override { return Refusal{"never asked"}; }
  std::string name_ = "cuda/none";
};

TEST(PlanCache, FindsThePlanOfACallThatDiffersInAddressesAlone) {
  PlanCache cache;
  const Queue queue = pretended();
  const NoImplementation implementation;
  ProbeCall first, second;
  // Both lie at the same offset from what plans look at.
  for (ProbeCall* each : {&first, &second}) each->args.x.data = reinterpret_cast<void*>(0x10000);
  for (auto member : {&ProbeArgs::y, &ProbeArgs::scale, &ProbeArgs::index}) {
    (first.args.*member).data = reinterpret_cast<void*>(0x20000);
    (second.args.*member).data = reinterpret_cast<void*>(0x20000);
  }
  EXPECT_EQ(cache.find(queue, first.call()), nullptr);
  const auto plan =
      std::make_shared<const KeptPlan>(implementation, std::make_unique<NoPlan>(), first.call());
  cache.keep(plan);
  second.args.x.data = reinterpret_cast<void*>(0x50000);
  EXPECT_EQ(cache.find(queue, second.call()), plan);

  const auto missed = [&](auto change) {
    ProbeCall other = first;
    change(other);
    return cache.find(queue, other.call()) == nullptr;
  };
  EXPECT_FALSE(missed([](ProbeCall&) {}));
  EXPECT_TRUE(missed([](ProbeCall& c) { c.args.x.data = reinterpret_cast<void*>(0x10004); })) << "alignment";
  EXPECT_TRUE(missed([](ProbeCall& c) { c.args.x.data = nullptr; })) << "null";
  EXPECT_TRUE(missed([](ProbeCall& c) { c.args.x.shape[0] = 3; })) << "shape";
  EXPECT_TRUE(missed([](ProbeCall& c) { c.args.y.strides[1] = 16; })) << "strides";
  EXPECT_TRUE(missed([](ProbeCall& c) { c.args.x.dtype = DType::f16; })) << "dtype";
  EXPECT_TRUE(missed([](ProbeCall& c) { c.args.scale.device.index = 1; })) << "device";
  EXPECT_TRUE(missed([](ProbeCall& c) { c.args.bias = c.args.scale; })) << "an optional argument";
  EXPECT_TRUE(missed([](ProbeCall& c) { c.options.block = 8; })) << "options";
  EXPECT_EQ(cache.find(pretended(), first.call()), nullptr) << "another queue";
}

TEST(PlanCache, FindsPlansOfTheCpuWhateverTheAlignment) {
  PlanCache cache;
  const Queue queue = Queue::cpu();
  const NoImplementation implementation;
  ProbeCall probe;
  EXPECT_EQ(cache.find(queue, probe.call()), nullptr);
  const auto plan =
      std::make_shared<const KeptPlan>(implementation, std::make_unique<NoPlan>(), probe.call());
  cache.keep(plan);
  probe.args.x.data = static_cast<std::byte*>(probe.args.x.data) + 4;
  EXPECT_EQ(cache.find(queue, probe.call()), plan);
  probe.options.block = 8;
  EXPECT_EQ(cache.find(queue, probe.call()), nullptr);
}

/// The sentence of what only the addresses of a call break, "" where nothing does; both ways of asking agree.
std::string said_of(const Addresses& addresses, const Call& call) {
  const auto sentence = [](auto&& check) -> std::string {
    try {
      check();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument);
      return error.what();
    }
    return "";
  };
  const std::string quick = sentence([&] { addresses.check(call, Device{}); });
  EXPECT_EQ(quick, sentence([&] { check_addresses(call, Device{}); }));
  return quick;
}

TEST(Addresses, AreRefusedAsTheContractRefusesThem) {
  ProbeCall probe;
  const Addresses addresses(probe.call());
  EXPECT_EQ(said_of(addresses, probe.call()), "");
  const auto refused = [&](auto change) {
    ProbeCall other = probe;
    change(other.args);
    return said_of(addresses, other.call());
  };
  EXPECT_EQ(refused([](ProbeArgs& a) { a.x.data = nullptr; }).substr(0, 24), "probe: x has null data, ");
  EXPECT_EQ(
      refused([](ProbeArgs& a) { a.index.data = static_cast<std::byte*>(a.index.data) + 1; }).substr(0, 29),
      "probe: index is misaligned: i");
  EXPECT_EQ(refused([](ProbeArgs& a) { a.y.data = a.scale.data; }),
            "probe: y overlaps scale in memory, expected an output of its own");
  EXPECT_EQ(refused([](ProbeArgs& a) { a.y.data = static_cast<std::byte*>(a.x.data) + 4; }),
            "probe: y overlaps x in memory, expected an output of its own");
  EXPECT_EQ(refused([](ProbeArgs& a) { a.y.data = a.x.data; }), "") << "y may be x";
  EXPECT_EQ(refused([](ProbeArgs& a) { a.scale.data = a.x.data; }), "") << "both are only read";
}

TEST(HostCopy, HasTheIntegersOfADeviceAndLeavesTheRest) {
  ProbeCall probe;
  std::int32_t index[] = {0, 2, 1, 4};
  probe.args.index = Tensor(index, DType::i32, {4}, {DeviceType::cuda, 0});
  const HostCopy copy(pretended(), probe.call());
  const auto& args = copy.call().args<ProbeArgs>();
  EXPECT_NE(args.index.data, index);
  EXPECT_EQ(args.index.device, Device{});
  EXPECT_EQ(*args.index.at<std::int32_t>(1), 2);
  EXPECT_EQ(&copy.call().tensor(2), &args.index) << "by position and by name";
  EXPECT_EQ(args.x.data, probe.args.x.data);
  try {
    check_data(copy.call());
    FAIL() << "index descends";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "probe: index descends at 2");
  }
}

std::string hash(std::string_view text) { return Sha256().add(text).hex(); }

// FIPS 180-4's examples.
TEST(Sha256, HashesAsTheStandardSays) {
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheTextComes) {
  const std::string text(1000, 'x');
  for (std::size_t piece : {1u, 63u, 64u, 65u, 999u}) {
    Sha256 sum;
    for (std::size_t at = 0; at < text.size(); at += piece) sum.add(std::string_view(text).substr(at, piece));
    EXPECT_EQ(sum.hex(), hash(text)) << piece;
  }
  for (std::size_t length = 0; length < 300; ++length)
    EXPECT_EQ(Sha256(true).add(text.substr(0, length)).hex(), hash(text.substr(0, length))) << length;
  EXPECT_NE(Sha256().field("ab").field("c").hex(), Sha256().field("a").field("bc").hex());
}

}  // namespace
}  // namespace isomer::core
