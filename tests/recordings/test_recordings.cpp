// What the original kernels answered on a GPU, held against the references of the ops: a reference that was
// read wrongly out of a kernel, or a variation that is not the fault it claims to be, fails here.
#include <gtest/gtest.h>

#include "core/registry.hpp"
#include "judge.hpp"
#include "lab/check/compare.hpp"

#include <algorithm>

namespace isomer::recordings {
namespace {

using Names = std::vector<std::string>;

bool knows(const oracle::Oracle& oracle, const std::string& variation) {
  return std::any_of(oracle.variations.begin(), oracle.variations.end(),
                     [&](const oracle::Variation& each) { return each.name == variation; });
}

/// The reference's answer; variations of another of the op's calls do nothing.
oracle::Expected answer(const Replay& replay, const Names& variations) {
  oracle::Expected expected(replay.call);
  replay.oracle->reference(replay.call, oracle::Variations(variations), expected);
  return expected;
}

Names joined(Names list, const Names& further) {
  list.insert(list.end(), further.begin(), further.end());
  return list;
}

Names without(Names list, const std::string& name) {
  std::erase(list, name);
  return list;
}

/// Elements outside their rules, over all outputs of all calls.
std::int64_t outside(const std::vector<Replay>& calls, const Names& variations) {
  std::int64_t count = 0;
  for (const Replay& replay : calls) {
    const oracle::Expected expected = answer(replay, variations);
    for (const Output& output : replay.outputs) count += judge(output, output.rule, expected).outside;
  }
  return count;
}

struct Count {
  int calls = 0;
  std::int64_t elements = 0;
};

class Original : public testing::TestWithParam<std::string> {
 protected:
  static void TearDownTestSuite() {
    const auto print = [](const char* with, const Count& count) {
      if (count.calls > 0)
        std::printf("recorded calls held against %s: %d, of %lld elements\n", with, count.calls,
                    static_cast<long long>(count.elements));
    };
    print("the references under their variations", varied_);
    print("the references", plain_);
    print("implementations", implementations_);
  }

  static inline Count varied_, plain_, implementations_;
  const Recording recording_ = read(GetParam());
};

TEST_P(Original, IsTheReferenceUnderItsVariations) {
  for (const Replay& replay : replays(recording_)) {
    SCOPED_TRACE(replay.oracle->contract->op);
    core::validate(replay.call, Device{}, true);
    ++varied_.calls;
    const oracle::Expected expected = answer(replay, recording_.variations);
    ASSERT_FALSE(replay.outputs.empty());
    for (const Output& output : replay.outputs) {
      const Verdict verdict = judge(output, output.rule, expected);
      EXPECT_TRUE(verdict.holds()) << verdict.why();
      varied_.elements += verdict.elements;
      const auto further = recording_.exact_under.find(output.name);
      if (further == recording_.exact_under.end()) continue;
      for (const std::string& variation : further->second)
        EXPECT_TRUE(knows(*replay.oracle, variation)) << variation;
      const oracle::Expected exact = answer(replay, joined(recording_.variations, further->second));
      const Verdict equal = judge(output, {Rule::Kind::exact}, exact);
      EXPECT_TRUE(equal.holds()) << equal.why();
    }
  }
}

TEST_P(Original, DepartsFromTheOpWhereTheRecordingSaysSo) {
  const std::vector<Replay> calls = replays(recording_);
  for (const Replay& replay : calls) {
    ++plain_.calls;
    const oracle::Expected expected = answer(replay, {});
    for (const Output& output : replay.outputs) {
      if (!output.departures.has_value()) continue;
      const Verdict verdict = judge(output, {Rule::Kind::exact}, expected);
      EXPECT_LE(std::abs(verdict.different - *output.departures), verdict.undecided)
          << output.name << ": " << verdict.different << " elements differ, " << *output.departures
          << " expected";
      plain_.elements += verdict.elements;
    }
  }
  for (const std::string& variation : recording_.variations) {
    EXPECT_TRUE(std::any_of(calls.begin(), calls.end(), [&](const Replay& replay) {
      return knows(*replay.oracle, variation);
    })) << variation;
    EXPECT_GT(outside(calls, without(recording_.variations, variation)), 0)
        << "the recording does not show " << variation;
  }
}

/// Runs one call of a recording in fresh memory through one implementation; the number of elements compared.
std::int64_t run(const Recording& recording, std::size_t which, const core::Implementation& implementation) {
  const Replay replay = replays(recording)[which];
  oracle::Expected expected = answer(replay, {});
  core::dispatch(Queue::cpu(), replay.call, implementation);
  std::int64_t elements = 0;
  const bool comparable = recording.variations.empty() && !recording.undefined;
  for (const Output& output : replay.outputs) {
    const Tensor& got = replay.call.tensor(replay.call.contract->index_of(output.name));
    elements += got.numel();
    lab::Outcome outcome;
    EXPECT_EQ(lab::compare(expected[output.name], got, lab::allowance_of(implementation), outcome), "");
    // An original that departs from the op, or that the op leaves open, says nothing of our implementations.
    if (!comparable) continue;
    const Verdict verdict = judge(output, output.rule, expected, got);
    EXPECT_TRUE(verdict.holds()) << verdict.why();
  }
  return elements;
}

TEST_P(Original, AgreesWithOurImplementations) {
  const std::vector<Replay> calls = replays(recording_);
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const core::Registry::Op* op = core::Registry::builtin().find(calls[i].oracle->contract->op);
    ASSERT_NE(op, nullptr) << calls[i].oracle->contract->op;
    int ran = 0;
    for (const auto& implementation : op->implementations) {
      if (implementation->device() != DeviceType::cpu || !implementation->unavailable().empty()) continue;
      SCOPED_TRACE(op->contract->op + " " + implementation->name());
      implementations_.elements += run(recording_, i, *implementation);
      ++ran;
    }
    EXPECT_GT(ran, 0);
    implementations_.calls += ran;
  }
}

std::string test_name(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Original, testing::ValuesIn(names()),
                         [](const auto& info) { return test_name(info.param); });

TEST(Recordings, AreThoseThatTheReadmeLists) {
  EXPECT_FALSE(names().empty()) << "no bundle in " << folder();
  EXPECT_EQ(names(), listed_names());
  std::printf("%zu recordings\n", names().size());
}

TEST(Recordings, CoverEveryOpThatHasAnOriginal) {
  std::set<std::string> ops;
  for (const std::string& name : names()) ops.insert(read(name).op);
  EXPECT_EQ(ops, (std::set<std::string>{"act_quant", "attention", "flash_decode", "fp8_gemm",
                                        "quantize_copy_kv", "sin", "weight_dequant"}));
}

}  // namespace
}  // namespace isomer::recordings
