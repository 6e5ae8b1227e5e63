// The Hopper kernels on the emulated device: the same sources as on the GPU, every access watched.
#include "core/registry.hpp"
#include "first_tier.hpp"
#include "lab/check/suite.hpp"
#include "lab/plan/explain.hpp"

#include <gtest/gtest.h>

#include "chosen_cases.hpp"
#include "vendor/vendor.hpp"

#include <algorithm>
#include <cstdlib>

namespace isomer {
namespace {

struct Sm90 {
  const char* op;
  std::size_t cases;  ///< of the second tier; the first takes what eight programs show
};
void PrintTo(const Sm90& of, std::ostream* out) { *out << of.op; }

class Sm90OnTheEmulator : public testing::TestWithParam<Sm90> {};

TEST_P(Sm90OnTheEmulator, GivesTheReferencesResultsAndBreaksNoRule) {
  setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
  emulator::register_vendor();
  const std::string op = GetParam().op;
  gpu::Vendor& vendor = *gpu::find_vendor(DeviceType::emulated);
  const auto* implementation =
      dynamic_cast<const gpu::Implementation*>(core::Registry::builtin().find(op)->find("emulated/sm90"));
  ASSERT_NE(implementation, nullptr);
  lab::Selection selection;
  selection.ops = {op};
  selection.implementations = {"emulated/sm90"};
  selection.backends = {"emulated"};
  selection.seed = 1;
  const std::size_t count = tests::has_every_case() ? GetParam().cases : 0;
  for (const Taken& taken :
       cheapest(taken_by(*oracle::find_oracle(op), *implementation, vendor.facts(0)), count))
    selection.lines.push_back(taken.line);
  EXPECT_GE(selection.lines.size(), std::max<std::size_t>(count, 10));
  const lab::Suite suite = lab::check(selection);
  EXPECT_EQ(suite.count(lab::Status::passed), static_cast<int>(selection.lines.size()));
  for (const lab::Outcome& outcome : suite.outcomes)
    if (outcome.status == lab::Status::failed) ADD_FAILURE() << outcome.line << ": " << outcome.reason;
}

std::string rows_of(const lab::CaseExplanation& explained) {
  for (const auto& [name, value] : explained.plan.description.constants)
    if (name == "block_m") return value;
  return {};
}

/// Of the first tier every sixth.
void expect_rows(const char* rows, std::initializer_list<const char*> lines) {
  setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
  emulator::register_vendor();
  lab::Selection selection;
  selection.ops = {"attention"};
  selection.implementations = {"emulated/sm90"};
  selection.backends = {"emulated"};
  selection.seed = 1;
  for (const char* line : tests::every_nth(lines, 6)) {
    selection.lines.push_back(std::string("attention ") + line);
    lab::ExplainSelection asked;
    asked.line = selection.lines.back();
    asked.backend = "emulated";
    const lab::CaseExplanation explained = lab::explain(asked);
    EXPECT_EQ(rows_of(explained), rows) << line;
  }
  const lab::Suite suite = lab::check(selection);
  EXPECT_EQ(suite.count(lab::Status::passed), static_cast<int>(selection.lines.size()));
  for (const lab::Outcome& outcome : suite.outcomes)
    if (outcome.status == lab::Status::failed) ADD_FAILURE() << outcome.line << ": " << outcome.reason;
}

/// Three warpgroups at a tile of 64 dimensions, with a mask, slots behind the keys and values that are not
/// finite.
TEST(Sm90TilesOf192Rows, GiveTheReferencesResultsAndBreakNoRule) {
  expect_rows("192",
              {"sq=300 sk=400 hq=2 d=64 seqused_k bf16 lse", "sq=300 sk=1200 hq=2 hkv=1 d=64 f16 causal lse",
               "sq=300 sk=300 hq=2 d=64 seqused_k regime=nan bf16 lse",
               "sq=330 sk=200 hq=2 hkv=1 d=56 seqused_k regime=inf f16"});
}

/// Four of them, each by itself: under masks they pass over blocks at both ends of a tile, and some have no
/// row; a row meets keys behind blocks of which it sees none, or rises out of f32's range.
TEST(Sm90TilesOf256Rows, GiveTheReferencesResultsAndBreakNoRule) {
  expect_rows("256", {"sq=300 sk=260 hq=4 d=64 f16 left=50 right=20 sink=f32 lse",
                      "sq=257 sk=100 hq=8 d=64 softcap=20 bf16",
                      "b=2 sq=130 sk=200 hq=4 hkv=2 d=64 regime=nan bf16 causal lse",
                      "b=2 sq=190 sk=100 hq=4 d=48 f16 lse", "sq=190 sk=140 hq=4 d=16 scale=30 f16 lse",
                      "b=2 sq=300 sk=300 hq=4 hkv=4 d=64 varlen_q regime=inf causal bf16 lse"});
}

TEST(Sm90TilesOf256Rows, OfBytesGiveTheReferencesResultsAndBreakNoRule) {
  expect_rows("256", {"b=2 sq=130 sk=170 hq=4 hkv=2 d=64 e4m3fn scale=3 descale causal lse",
                      "sq=250 sk=130 hq=8 d=48 regime=nan e4m3fn lse",
                      "sq=99 sk=120 hq=10 hkv=5 d=64 pack_gqa=always e4m3fn causal lse"});
}

/// The same of e4m3: blocks of 96 keys and one P, with rows that outgrow their references, with and without
/// turns; under the mask a head's first tile is the short one.
TEST(Sm90TilesOf192Rows, OfBytesGiveTheReferencesResultsAndBreakNoRule) {
  expect_rows("192", {"sq=99 sk=120 hq=10 hkv=5 d=96 pack_gqa=always e4m3fn causal lse",
                      "sq=190 sk=200 hq=4 d=128 e4m3fn scale=3 descale lse",
                      "sq=200 sk=210 hq=6 d=96 regime=nan e4m3fn causal lse"});
}

/// So many keys that blocks of 16 bits go by two at a time, with what comes before and behind them.
TEST(Sm90TilesOfManyKeys, GiveTheReferencesResultsAndBreakNoRule) {
  expect_rows("128", {"sq=70 sk=1000 d=128 bf16 lse", "sq=100 sk=1300 d=64 f16 causal lse",
                      "sq=90 sk=1400 d=128 f16 left=900 right=5 seqused_k lse",
                      "sq=80 sk=1100 d=128 regime=nan page=128 bf16 lse"});
}

/// Blocks of 80 and 48 keys, each of which lies in a page of its own: the producer's lanes have boxes of keys
/// left for a different number of rounds, and all of them vote in each.
TEST(Sm90BlocksOfManyPages, GiveTheReferencesResultsAndBreakNoRule) {
  expect_rows("128",
              {"b=2 sq=66 sk=134 d=192 dv=128 bf16 page=1 lse", "sq=66 sk=134 d=192 dv=128 f16 page=2 causal",
               "sq=66 sk=134 d=256 f16 page=1 append=3 rotary=neox lse",
               "sq=66 sk=134 d=192 bf16 kv=e4m3fn page=1 lse"});
}

INSTANTIATE_TEST_SUITE_P(Of, Sm90OnTheEmulator,
                         testing::Values(Sm90{"attention", 205}, Sm90{"fp8_gemm", 60},
                                         Sm90{"grouped_fp8_gemm", 60}),
                         [](const auto& info) { return std::string(info.param.op); });

}  // namespace
}  // namespace isomer
