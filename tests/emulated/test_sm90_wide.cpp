// The Hopper kernel of wide values and queries of v on the emulated device: the same source as on the GPU,
// every access watched.
#include "first_tier.hpp"
#include "lab/check/suite.hpp"

#include <gtest/gtest.h>

#include "vendor/vendor.hpp"

#include <cstdlib>

namespace isomer {
namespace {

TEST(WideValuesOnTheEmulator, GiveTheReferencesResultsAndBreakNoRule) {
  setenv("ISOMER_CACHE", ISOMER_EMULATED_CACHE, 1);
  emulator::register_vendor();
  lab::Selection selection;
  selection.implementations = {"emulated/sm90_wide"};
  selection.backends = {"emulated"};
  selection.seed = 1;
  const std::initializer_list<const char*> lines = {
      // Heads of one kv head share tiles, two tiles each; keys in pages, in parts, one block or none.
      "attention b=2 sq=1 sk=300 hq=128 hkv=1 d=64 dv=256 qv page=64 lse",
      "attention b=2 sq=2 sk=300 hq=24 hkv=2 d=64 dv=256 qv page=7 causal lse num_splits=3",
      "attention b=3 sq=30 sk=200 hq=4 hkv=1 d=64 dv=256 varlen_q varlen_k qv causal lse lengths=empty",
      "attention b=2 sq=40 sk=200 hq=3 hkv=1 d=40 dv=232 left=40 right=9 qv lse sink=f32",
      "attention b=2 sq=40 sk=200 hq=2 d=64 dv=512 bf16 chunk=70 causal lse",
      "attention b=2 sq=20 sk=200 hq=4 hkv=2 d=64 dv=256 append=5 page=16 split_size=70 qv lse",
      "attention b=3 sq=64 sk=150 hq=2 d=64 dv=256 seqused_k seqused_q leftpad_k kv_batch_idx qv lse",
      // References that one warpgroup raises for both, and what is not finite.
      "attention sq=64 sk=700 hq=2 d=64 dv=256 scale=3 qv lse num_splits=1",
      "attention sq=64 sk=100 hq=2 d=64 dv=256 regime=nan qv causal lse",
      // More tiles than multiprocessors.
      "attention b=9 sq=40 sk=70 hq=16 hkv=1 d=64 dv=256 qv causal num_splits=1",
      // 512 columns, and none of them asked by queries.
      "attention sq=2 sk=200 hq=16 hkv=1 d=64 dv=512 bf16 qv lse num_splits=1",
      "attention sq=70 sk=330 hq=2 hkv=1 d=64 dv=512 bf16 causal lse",
      "attention b=2 sq=30 sk=100 hq=1 d=64 dv=512 bf16 regime=nan lse seqused_k",
  };
  for (const char* line : tests::every_nth(lines, 7)) selection.lines.emplace_back(line);
  const lab::Suite suite = lab::check(selection);
  EXPECT_EQ(suite.count(lab::Status::passed), static_cast<int>(selection.lines.size()));
  for (const lab::Outcome& outcome : suite.outcomes)
    if (outcome.status == lab::Status::failed) ADD_FAILURE() << outcome.line << ": " << outcome.reason;
}

}  // namespace
}  // namespace isomer
