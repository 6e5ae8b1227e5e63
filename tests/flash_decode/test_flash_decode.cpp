// What holds between the entries of flash_decode and merge_attention, whatever the numbers are.
#include <gtest/gtest.h>

#include <isomer/attention.hpp>
#include <isomer/flash_decode.hpp>

#include "core/registry.hpp"
#include "oracle/oracle.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace isomer {
namespace {

/// A decode problem in f32: three sequences over shuffled slots.
class Decode : public testing::Test {
 protected:
  static constexpr std::int64_t kBatch = 3, kHeads = 6, kHeadsKv = 2, kDim = 40, kSlots = 200, kLongest = 150;

  void SetUp() override {
    oracle::Random random(3);
    for (std::vector<float>* values : {&q, &k, &v})
      for (float& value : *values) value = static_cast<float>(random.normal());
    const auto order = random.permutation(kSlots);
    for (std::int64_t t = 0; t < kLongest; ++t)
      for (std::int64_t b = 0; b < kBatch; ++b)
        tokens[static_cast<std::size_t>(b * kLongest + t)] =
            static_cast<std::int32_t>(order[static_cast<std::size_t>((t + 31 * b) % kSlots)]);
  }

  FlashDecodeArgs args(std::vector<float>& out) {
    return {.q = Tensor(q.data(), DType::f32, {kBatch, kHeads, kDim}),
            .k = Tensor(k.data(), DType::f32, {kSlots, kHeadsKv, kDim}),
            .v = Tensor(v.data(), DType::f32, {kSlots, kHeadsKv, kDim}),
            .req_to_tokens = Tensor(tokens.data(), DType::i32, {kBatch, kLongest}),
            .b_req_idx = Tensor(requests.data(), DType::i32, {kBatch}),
            .b_seqlen = Tensor(lengths.data(), DType::i32, {kBatch}),
            .out = Tensor(out.data(), DType::f32, {kBatch, kHeads, kDim})};
  }

  std::vector<float> decode(const FlashDecodeOptions& options, const Queue& queue = Queue::cpu()) {
    std::vector<float> out(kBatch * kHeads * kDim, -7.0f);
    flash_decode(queue, args(out), options);
    return out;
  }

  std::vector<float> q = std::vector<float>(kBatch * kHeads * kDim);
  std::vector<float> k = std::vector<float>(kSlots * kHeadsKv * kDim), v = k;
  std::vector<std::int32_t> tokens = std::vector<std::int32_t>(kBatch * kLongest);
  std::vector<std::int32_t> requests = {2, 0, 1}, lengths = {150, 0, 97};
};

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST_F(Decode, InOneCallHasTheBitsOfItsTwoStages) {
  constexpr std::int64_t kBlock = 48, kBlocks = 5;
  std::vector<float> out(kBatch * kHeads * kDim), mid(kBatch * kHeads * kBlocks * kDim, 9.0f),
      lse(kBatch * kHeads * kBlocks, 9.0f);
  const FlashDecodeArgs a = args(out);
  const Tensor mid_out(mid.data(), DType::f32, {kBatch, kHeads, kBlocks, kDim});
  const Tensor mid_lse(lse.data(), DType::f32, {kBatch, kHeads, kBlocks});
  const Queue queue = Queue::cpu();
  flash_decode_stage1(queue,
                      {.q = a.q,
                       .k = a.k,
                       .v = a.v,
                       .req_to_tokens = a.req_to_tokens,
                       .b_req_idx = a.b_req_idx,
                       .b_seqlen = a.b_seqlen,
                       .mid_out = mid_out,
                       .mid_lse = mid_lse},
                      {.block_seq = kBlock});
  flash_decode_stage2(queue, {.mid_out = mid_out, .mid_lse = mid_lse, .b_seqlen = a.b_seqlen, .out = a.out},
                      {.block_seq = kBlock});
  EXPECT_TRUE(same_bits(decode({.block_seq = kBlock}), out));
  // Sequence 0 has four blocks and sequence 1 none: what lies beyond stays as it was.
  EXPECT_EQ(*mid_out.at<float>(0, 0, 4, 0), 9.0f);
  EXPECT_EQ(*mid_lse.at<float>(1, 5, 0), 9.0f);
}

TEST_F(Decode, HasTheSameBitsWhateverTheNumberOfThreadsForGivenBlocks) {
  const auto one = decode({.block_seq = 32}, Queue::cpu({.executor = Executor::with_threads(1)}));
  for (const int threads : {2, 3, 7})
    EXPECT_TRUE(
        same_bits(decode({.block_seq = 32}, Queue::cpu({.executor = Executor::with_threads(threads)})), one))
        << threads;
}

TEST_F(Decode, OfAnEmptySequenceIsZero) {
  const auto out = decode({});
  for (std::int64_t i = 0; i < kHeads * kDim; ++i)
    EXPECT_EQ(out[static_cast<std::size_t>(kHeads * kDim + i)], 0.0f);
}

TEST_F(Decode, NeverLooksAtTokensPastASequenceNorAtSlotsThatNoneHas) {
  const auto expected = decode({.block_seq = 64});
  std::vector<bool> used(kSlots, false);
  for (std::int64_t b = 0; b < kBatch; ++b)
    for (std::int64_t t = 0; t < kLongest; ++t) {
      const auto at = static_cast<std::size_t>(requests[static_cast<std::size_t>(b)] * kLongest + t);
      if (t < lengths[static_cast<std::size_t>(b)])
        used[static_cast<std::size_t>(tokens[at])] = true;
      else
        tokens[at] = t % 2 == 0 ? INT32_MAX : INT32_MIN;
    }
  requests[1] = -1;
  for (std::size_t slot = 0; slot < used.size(); ++slot)
    if (!used[slot])
      for (std::size_t i = 0; i < kHeadsKv * kDim; ++i)
        k[slot * kHeadsKv * kDim + i] = v[slot * kHeadsKv * kDim + i] =
            std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(same_bits(decode({.block_seq = 64}), expected));
}

TEST_F(Decode, OverATableLongerThanAnyMemoryAsksForMaxLen) {
  std::vector<float> out(kBatch * kHeads * kDim, -7.0f);
  FlashDecodeArgs a = args(out);
  // One request whose row repeats one entry 2^50 times.
  a.req_to_tokens =
      Tensor::strided(tokens.data(), DType::i32, {kBatch, std::int64_t{1} << 50}, {kLongest, 0});
  try {
    flash_decode(Queue::cpu(), a, {.block_seq = 16});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::unsupported);
    EXPECT_NE(std::string(error.what()).find("give max_len"), std::string::npos) << error.what();
  }
  EXPECT_EQ(out[0], -7.0f);
  flash_decode(Queue::cpu(), a, {.block_seq = 16, .max_len = 150});
  EXPECT_NE(out[0], -7.0f);
}

TEST_F(Decode, OfOneTokenIsItsValue) {
  lengths = {1, 1, 1};
  const auto out = decode({});
  for (std::int64_t b = 0; b < kBatch; ++b)
    for (std::int64_t h = 0; h < kHeads; ++h)
      for (std::int64_t d = 0; d < kDim; ++d) {
        const std::int64_t slot =
            tokens[static_cast<std::size_t>(requests[static_cast<std::size_t>(b)] * kLongest)];
        EXPECT_EQ(out[static_cast<std::size_t>((b * kHeads + h) * kDim + d)],
                  v[static_cast<std::size_t>((slot * kHeadsKv + h / 3) * kDim + d)]);
      }
}

TEST_F(Decode, OfHalvesMergesToTheWhole) {
  // Blocks of 80 and 70 tokens of the first sequence, merged by the other op.
  lengths = {150, 80, 80};
  constexpr std::int64_t kBlocks = 2;
  std::vector<float> out(kBatch * kHeads * kDim), mid(kBatch * kHeads * kBlocks * kDim),
      lse(kBatch * kHeads * kBlocks);
  const FlashDecodeArgs a = args(out);
  const Tensor mid_out(mid.data(), DType::f32, {kBatch, kHeads, kBlocks, kDim});
  const Tensor mid_lse(lse.data(), DType::f32, {kBatch, kHeads, kBlocks});
  const Queue queue = Queue::cpu();
  flash_decode_stage1(queue,
                      {.q = a.q,
                       .k = a.k,
                       .v = a.v,
                       .req_to_tokens = a.req_to_tokens,
                       .b_req_idx = a.b_req_idx,
                       .b_seqlen = a.b_seqlen,
                       .mid_out = mid_out,
                       .mid_lse = mid_lse},
                      {.block_seq = 80});
  std::vector<float> merged(kHeads * kDim), whole_lse(kHeads);
  merge_attention(queue, {.out_a = mid_out.select(0, 0).select(1, 0),
                          .lse_a = mid_lse.select(0, 0).select(1, 0),
                          .out_b = mid_out.select(0, 0).select(1, 1),
                          .lse_b = mid_lse.select(0, 0).select(1, 1),
                          .out = Tensor(merged.data(), DType::f32, {kHeads, kDim}),
                          .lse = Tensor(whole_lse.data(), DType::f32, {kHeads})});
  const auto expected = decode({});
  for (std::size_t i = 0; i < merged.size(); ++i) EXPECT_NEAR(merged[i], expected[i], 1e-6f);
  for (std::int64_t h = 0; h < kHeads; ++h)
    EXPECT_NEAR(whole_lse[static_cast<std::size_t>(h)],
                std::log(std::exp(*mid_lse.at<float>(0, h, 0)) + std::exp(*mid_lse.at<float>(0, h, 1))),
                1e-5f);
}

TEST(MergeAttention, WithAPartWithoutWeightIsTheOtherPartExactly) {
  const float none = -std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> a = {0.1f, -2.5f, 3e30f}, b = {nan, nan, nan}, out(3);
  float lse_a = -123.25f, lse_b = none, lse = 0;
  const auto merge = [&](std::vector<float>& x, float& lse_x, std::vector<float>& y, float& lse_y) {
    merge_attention(Queue::cpu(), {.out_a = Tensor(x.data(), DType::f32, {1, 3}),
                                   .lse_a = Tensor(&lse_x, DType::f32, {1}),
                                   .out_b = Tensor(y.data(), DType::f32, {1, 3}),
                                   .lse_b = Tensor(&lse_y, DType::f32, {1}),
                                   .out = Tensor(out.data(), DType::f32, {1, 3}),
                                   .lse = Tensor(&lse, DType::f32, {1})});
  };
  merge(a, lse_a, b, lse_b);
  EXPECT_EQ(out, a);
  EXPECT_EQ(lse, lse_a);
  merge(b, lse_b, a, lse_a);
  EXPECT_EQ(out, a);
  EXPECT_EQ(lse, lse_a);
  merge(b, lse_b, b, lse_b);
  EXPECT_EQ(out, std::vector<float>(3, 0.0f));
  EXPECT_EQ(lse, none);
}

TEST(FlashDecodePlan, GivesEveryThreadWorkAndKeepsTheHeadsOfATokenTogether) {
  const auto describe = [](const char* line) {
    const oracle::Case c = oracle::parse_case(line);
    oracle::Problem problem(c);
    oracle::find_oracle("flash_decode")->make(c, problem);
    const Queue queue = Queue::cpu({.executor = Executor::with_threads(4)});
    const core::Choice choice =
        core::choose(*core::Registry::builtin().find("flash_decode"), problem.call(), queue);
    core::Description description;
    choice.plan->describe(description);
    return description;
  };
  const auto constant = [](const core::Description& d, const std::string& name) {
    for (const auto& [key, value] : d.constants)
      if (key == name) return std::stol(value);
    return -1l;
  };
  // One long sequence: split along its tokens, all 8 kv heads in one task.
  const auto one = describe("flash_decode b=1 hq=16 hkv=8 d=8 len=20000 lengths=full seed=1");
  EXPECT_GE(one.launches[0].grid[0], 16);
  EXPECT_EQ(constant(one, "heads_kv_per_task"), 8);
  // One short sequence: nothing to split but the heads.
  const auto short_one = describe("flash_decode b=1 hq=16 hkv=8 d=8 len=100 lengths=full seed=1");
  EXPECT_EQ(constant(short_one, "blocks"), 1);
  EXPECT_EQ(short_one.launches[0].grid[0], 8);
  // Given blocks are taken as they are.
  EXPECT_EQ(constant(describe("flash_decode b=1 d=8 len=100 block_seq=16 seed=1"), "block_seq"), 16);
}

}  // namespace
}  // namespace isomer
