// What must hold between calls, whatever the reference says about each.
#include <gtest/gtest.h>

#include "made.hpp"

#include <cmath>
#include <limits>

namespace isomer {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// For f32 inputs of order 1: some hundred roundings.
constexpr double kClose = 2e-5;

/// Rows of batch entry b as a batch of one.
Tensor one(const Tensor& t, std::int64_t b) { return t.defined() ? t.slice(0, b, b + 1) : t; }

TEST(Attention, SplitsGiveTheUnsplitResult) {
  for (const char* line : {"b=2 sq=1 sk=700 hq=4 hkv=2 f32 lse num_splits=1",
                           "b=2 sq=40 sk=130 hq=2 f32 lse causal num_splits=1",
                           "b=2 sq=3 sk=90 hq=2 f32 lse left=20 sink=f32 num_splits=1"}) {
    Made whole(line);
    whole.run();
    for (const int splits : {2, 3, 7, 64}) {
      Made split(line);
      split.options().num_splits = splits;
      split.run();
      EXPECT_LT(distance(split.out(), whole.out()), kClose) << line << ", " << splits << " splits";
      EXPECT_LT(distance(split.lse(), whole.lse()), kClose) << line << ", " << splits << " splits";
    }
  }
}

TEST(Attention, SplitSizeGivesTheSameBitsWhateverTheBatch) {
  for (const char* line : {"b=5 sq=1 sk=600 hq=8 hkv=2 d=128 bf16 lse seqused_k split_size=128",
                           "b=3 sq=9 sk=300 hq=2 f32 lse seqused_k causal split_size=64",
                           "b=4 sq=4 sk=200 hq=4 hkv=1 d=64 page=16 lse split_size=48"}) {
    Made all(line);
    all.run(4);
    for (std::int64_t b = 0; b < all.args().q.size(0); ++b) {
      Made alone(line);
      AttentionArgs& a = alone.args();
      for (Tensor* t : {&a.q, &a.out, &a.lse, &a.seqused_k, &a.page_table}) *t = one(*t, b);
      if (!a.page_table.defined()) a.k = one(a.k, b), a.v = one(a.v, b);
      alone.run(1);
      EXPECT_TRUE(same(oracle::elements(a.out), oracle::elements(one(all.args().out, b))))
          << line << ", entry " << b;
      EXPECT_TRUE(same(oracle::elements(a.lse), oracle::elements(one(all.args().lse, b))))
          << line << ", entry " << b;
    }
  }
}

TEST(Attention, VarlenEqualsALoopOverItsEntries) {
  Made all("b=4 sq=20 sk=70 hq=4 hkv=2 d=64 lse causal varlen_q varlen_k split_size=64");
  all.run();
  const AttentionArgs& a = all.args();
  for (std::int64_t b = 0; b < 4; ++b) {
    const auto rows = [&](const Tensor& t, const Tensor& cu) {
      return t.slice(0, *cu.at<std::int32_t>(b), *cu.at<std::int32_t>(b + 1)).unsqueeze(0);
    };
    const Tensor q = rows(a.q, a.cu_seqlens_q);
    std::vector<std::uint16_t> out(static_cast<std::size_t>(q.numel()));
    AttentionOptions options = all.options();
    const Tensor alone(out.data(), DType::f16, {1, q.size(1), 4, 64});
    attention(Queue::cpu(),
              {.q = q, .k = rows(a.k, a.cu_seqlens_k), .v = rows(a.v, a.cu_seqlens_k), .out = alone},
              options);
    EXPECT_TRUE(same(oracle::elements(alone), oracle::elements(rows(a.out, a.cu_seqlens_q))))
        << "entry " << b;
  }
}

TEST(Attention, PagesEqualTheSameKeysInOnePiece) {
  for (const char* line : {"b=3 sq=5 sk=90 hq=4 hkv=2 d=64 page=16 lse causal split_size=64",
                           "b=2 sq=1 sk=150 hq=2 d=32 f32 page=7 lse split_size=32",
                           "b=2 sq=2 sk=40 hq=2 d=32 page=1 lse leftpad_k split_size=16"}) {
    Made paged(line);
    paged.run();
    AttentionArgs& a = paged.args();
    const std::int64_t size = a.k.size(1), columns = a.page_table.size(1), heads = a.k.size(2);
    const auto gather = [&](const Tensor& pages) {
      const Tensor flat =
          paged.problem().make("flat", pages.dtype, {a.q.size(0), columns * size, heads, pages.size(3)});
      for (std::int64_t b = 0; b < a.q.size(0); ++b)
        for (std::int64_t slot = 0; slot < *a.seqused_k.at<std::int32_t>(b); ++slot)
          for (std::int64_t h = 0; h < heads; ++h) {
            const std::int32_t page = *a.page_table.at<std::int32_t>(b, slot / size);
            if (page < 0 || page >= pages.size(0)) continue;  // within the left padding
            const auto bytes = static_cast<std::size_t>(pages.size(3) * size_of(pages.dtype));
            std::copy_n(pages.at(page, slot % size, h), bytes, flat.at(b, slot, h));
          }
      return flat;
    };
    const std::vector<double> out = paged.out(), lse = paged.lse();
    a.k = gather(a.k);
    a.v = gather(a.v);
    a.page_table = {};
    paged.run();
    EXPECT_TRUE(same(paged.out(), out)) << line;
    EXPECT_TRUE(same(paged.lse(), lse)) << line;
  }
}

TEST(Attention, AppendingEqualsAttendingToTheCacheItLeaves) {
  for (const char* line : {"b=2 sq=3 sk=60 hq=4 hkv=2 d=64 bf16 lse append=5 causal split_size=32",
                           "b=3 sq=3 sk=40 hq=2 d=32 f32 lse append=4 varlen_new page=8 split_size=16"}) {
    Made appended(line);
    appended.run();
    const std::vector<double> out = appended.out(), lse = appended.lse();
    AttentionArgs& a = appended.args();
    for (std::int64_t b = 0; b < a.q.size(0); ++b) {
      std::int64_t added = a.k_new.size(1);
      if (a.cu_seqlens_k_new.defined())
        added = *a.cu_seqlens_k_new.at<std::int32_t>(b + 1) - *a.cu_seqlens_k_new.at<std::int32_t>(b);
      *a.cache_seqlens.at<std::int32_t>(b) += static_cast<std::int32_t>(added);
    }
    a.seqused_k = a.cache_seqlens;
    a.k_new = a.v_new = a.cache_seqlens = a.cu_seqlens_k_new = {};
    appended.run();
    EXPECT_TRUE(same(appended.out(), out)) << line;
    EXPECT_TRUE(same(appended.lse(), lse)) << line;
  }
}

TEST(Attention, CausalIsAWindowWithNothingToTheRight) {
  const char* line = "b=2 sq=70 sk=50 hq=2 d=64 bf16 lse causal split_size=64";
  Made causal(line);
  causal.run();
  Made window(line);
  window.options().causal = false;
  window.options().window_right = 0;
  window.run();
  EXPECT_TRUE(same(window.out(), causal.out()));
  EXPECT_TRUE(same(window.lse(), causal.lse()));
}

TEST(Attention, AWindowWiderThanTheKeysHidesNothing) {
  const char* line = "b=2 sq=9 sk=50 hq=2 d=64 f32 lse split_size=64";
  Made all(line);
  all.run();
  for (const std::int64_t width : {std::int64_t{60}, std::int64_t{INT64_MAX}}) {
    Made window(line);
    window.options().window_left = window.options().window_right = width;
    window.run();
    EXPECT_LT(distance(window.out(), all.out()), kClose) << width;
    EXPECT_LT(distance(window.lse(), all.lse()), kClose) << width;
  }
}

TEST(Attention, TwoHalvesMergeToTheWhole) {
  Made whole("b=2 sq=6 sk=90 hq=4 hkv=2 d=64 f32 lse sink=f32");
  whole.run();
  const AttentionArgs& a = whole.args();
  const auto half = [&](std::int64_t first, std::int64_t last, bool sink) {
    AttentionArgs part = a;
    part.k = a.k.slice(1, first, last);
    part.v = a.v.slice(1, first, last);
    part.out = whole.problem().make("out", DType::f32, {2, 6, 4, 64});
    part.lse = whole.problem().make("lse", DType::f32, {2, 4, 6});
    if (!sink) part.sink = {};
    attention(Queue::cpu(), part, whole.options());
    return part;
  };
  for (const std::int64_t cut : {std::int64_t{0}, std::int64_t{1}, std::int64_t{37}, std::int64_t{90}}) {
    const AttentionArgs left = half(0, cut, true), right = half(cut, 90, false);
    const Tensor out = whole.problem().make("merged", DType::f32, {2, 6, 4, 64});
    const Tensor lse = whole.problem().make("merged_lse", DType::f32, {2, 6, 4});
    merge_attention(Queue::cpu(), {.out_a = left.out,
                                   .lse_a = left.lse.transpose(1, 2),
                                   .out_b = right.out,
                                   .lse_b = right.lse.transpose(1, 2),
                                   .out = out,
                                   .lse = lse});
    EXPECT_LT(distance(oracle::elements(out), whole.out()), kClose) << "cut at " << cut;
    EXPECT_LT(distance(oracle::elements(lse), oracle::elements(a.lse.transpose(1, 2))), kClose)
        << "cut at " << cut;
  }
}

TEST(Attention, AskingForLseChangesNoBit) {
  for (const char* line : {"b=2 sq=30 sk=90 hq=4 hkv=2 d=64 bf16 lse causal",
                           "b=2 sq=1 sk=500 hq=4 hkv=2 d=128 lse num_splits=4"}) {
    Made asked(line);
    asked.run();
    Made silent(line);
    silent.args().lse = {};
    silent.run();
    EXPECT_TRUE(same(silent.out(), asked.out())) << line;
  }
}

TEST(Attention, PackedHeadsGiveTheSameResult) {
  for (const char* line :
       {"b=2 sq=5 sk=70 hq=8 hkv=2 d=64 f32 lse causal", "b=1 sq=33 sk=40 hq=6 hkv=2 d=32 f32 lse left=9"}) {
    Made packed(line), apart(line);
    packed.options().pack_gqa = AttentionOptions::Choice::always;
    apart.options().pack_gqa = AttentionOptions::Choice::never;
    EXPECT_LT(distance(packed.run().out(), apart.run().out()), kClose) << line;
    EXPECT_LT(distance(packed.lse(), apart.lse()), kClose) << line;
  }
}

TEST(Attention, ASinkOfMinusInfinityIsNoSink) {
  const char* line = "b=2 sq=9 sk=40 hq=3 d=32 bf16 lse causal sink=f32";
  Made none(line), infinite(line);
  none.args().sink = {};
  for (std::int64_t h = 0; h < 3; ++h)
    *infinite.args().sink.at<float>(h) = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(same(infinite.run().out(), none.run().out()));
  EXPECT_TRUE(same(infinite.lse(), none.lse()));
}

TEST(Attention, RowsWithoutKeysAreZeroAndTheirLseIsTheSinkOrMinusInfinity) {
  for (const char* sink : {"", " sink=f32"}) {
    Made made(std::string("b=1 sq=9 sk=4 hq=2 d=32 f16 lse causal") + sink);
    made.run();
    const AttentionArgs& a = made.args();
    for (std::int64_t h = 0; h < 2; ++h)
      for (std::int64_t i = 0; i < 5; ++i) {  // 4 keys: the last 4 of 9 queries see some
        const double expected = a.sink.defined() ? static_cast<double>(*a.sink.at<float>(h)) : -kInfinity;
        EXPECT_EQ(*a.lse.at<float>(0, h, i), expected);
        for (std::int64_t d = 0; d < 32; ++d) EXPECT_EQ(oracle::read(a.out, 0, i, h, d), 0.0);
      }
  }
}

TEST(Attention, ThreadsChangeNoBit) {
  for (const char* line : {"b=3 sq=50 sk=90 hq=4 hkv=2 d=64 bf16 lse causal num_splits=1",
                           "b=2 sq=1 sk=900 hq=8 hkv=2 d=64 lse split_size=128",
                           "b=2 sq=2 sk=300 hq=2 d=64 f32 lse num_splits=5"}) {
    Made one_thread(line), many(line);
    EXPECT_TRUE(same(many.run(7).out(), one_thread.run(1).out())) << line;
    EXPECT_TRUE(same(many.lse(), one_thread.lse())) << line;
  }
}

TEST(Attention, DescalesThatArePowersOfTwoScaleExactly) {
  const char* line = "b=2 sq=5 sk=40 hq=4 hkv=2 d=32 e4m3fn out=f32 lse descale";
  const auto set = [](const Tensor& t, float value) {
    for (std::int64_t b = 0; b < 2; ++b)
      for (std::int64_t h = 0; h < 2; ++h) *t.at<float>(b, h) = value;
  };
  Made plain(line), scaled(line);
  for (Made* made : {&plain, &scaled}) {
    set(made->args().q_descale, made == &plain ? 1.0f : 4.0f);
    set(made->args().k_descale, made == &plain ? 1.0f : 0.25f);
    set(made->args().v_descale, made == &plain ? 1.0f : 8.0f);
    made->run();
  }
  std::vector<double> eightfold = plain.out();
  for (double& value : eightfold) value *= 8;
  EXPECT_TRUE(same(scaled.out(), eightfold));
  EXPECT_TRUE(same(scaled.lse(), plain.lse()));
}

TEST(Attention, AColumnMajorVGivesTheSameResult) {
  Made made("b=2 sq=5 sk=40 hq=4 hkv=2 d=32 e4m3fn out=f32 lse");
  const std::vector<double> out = made.run().out();
  const Tensor v = made.args().v;
  const Tensor turned = made.problem().make("turned", DType::e4m3fn, {2, 2, 32, 40});
  for (std::int64_t b = 0; b < 2; ++b)
    for (std::int64_t j = 0; j < 40; ++j)
      for (std::int64_t h = 0; h < 2; ++h)
        for (std::int64_t d = 0; d < 32; ++d) *turned.at(b, h, d, j) = *v.at(b, j, h, d);
  made.args().v = turned;
  made.options().v_colmajor = true;
  EXPECT_LT(distance(made.run().out(), out), kClose);
}

TEST(Attention, KvBatchIdxChoosesRowsOfTheCache) {
  Made made("b=3 sq=5 sk=40 hq=2 d=32 f32 lse kv_batch_idx split_size=16");
  const std::vector<double> out = made.run().out();
  AttentionArgs& a = made.args();
  for (std::int64_t b = 0; b < 3; ++b) {
    AttentionArgs alone = a;
    const std::int64_t row = *a.kv_batch_idx.at<std::int32_t>(b);
    for (Tensor* t : {&alone.q, &alone.out, &alone.lse}) *t = one(*t, b);
    alone.k = one(a.k, row);
    alone.v = one(a.v, row);
    alone.kv_batch_idx = {};
    attention(Queue::cpu(), alone, made.options());
  }
  EXPECT_TRUE(same(made.out(), out));
}

TEST(Attention, LeftPaddingEqualsACacheThatStartsLater) {
  Made made("b=1 sq=5 sk=40 hq=2 d=32 f32 lse causal leftpad_k split_size=16");
  const std::vector<double> out = made.run().out();
  AttentionArgs& a = made.args();
  const std::int64_t pad = *a.leftpad_k.at<std::int32_t>(0);
  ASSERT_GT(pad, 0);
  a.k = a.k.slice(1, pad, 40);
  a.v = a.v.slice(1, pad, 40);
  a.leftpad_k = {};
  EXPECT_TRUE(same(made.run().out(), out));
}

}  // namespace
}  // namespace isomer
