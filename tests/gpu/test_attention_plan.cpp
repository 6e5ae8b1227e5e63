// What attention's portable kernels are asked to do: which launches, of how many blocks, with how much shared
// memory, and what is refused.
#include <gtest/gtest.h>

#include "ops/attention/attention.hpp"
#include "planned.hpp"

namespace isomer::ops::attention {
namespace {

using gpu::Planned;

/// An address that nothing is read from.
void* at(std::uintptr_t address) { return reinterpret_cast<void*>(address); }

struct Problem {
  AttentionArgs args;
  AttentionOptions options;

  Problem(std::int64_t b, std::int64_t sq, std::int64_t sk, std::int64_t hq, std::int64_t hkv, std::int64_t d,
          std::int64_t dv, DType dtype = DType::f32) {
    args.q = Tensor(at(0x100000), dtype, {b, sq, hq, d});
    args.k = Tensor(at(0x200000), dtype, {b, sk, hkv, d});
    args.v = Tensor(at(0x300000), dtype, {b, sk, hkv, dv});
    args.out = Tensor(at(0x400000), dtype == DType::e4m3fn ? DType::bf16 : dtype, {b, sq, hq, dv});
  }
  Problem& append(std::int64_t n) {
    const std::int64_t b = args.q.size(0), hkv = args.k.size(2);
    args.k_new = Tensor(at(0x500000), args.k.dtype, {b, n, hkv, args.k.size(3)});
    args.v_new = Tensor(at(0x600000), args.v.dtype, {b, n, hkv, args.v.size(3)});
    args.cache_seqlens = Tensor(at(0x700000), DType::i32, {b});
    return *this;
  }
  core::Call call() const { return bind(args, options); }
  Planned planned(std::string_view architecture = "sm_90a") const { return Planned(call(), architecture); }
  std::vector<std::string> kernels(std::string_view architecture = "sm_90a") const {
    std::vector<std::string> names;
    const Planned plan = planned(architecture);
    for (const gpu::Step& step : plan.steps()) names.emplace_back(step.kernel);
    return names;
  }
};

using Names = std::vector<std::string>;

TEST(AttentionPlan, OneLaunchForTheCallAndOneBeforeForAnAppend) {
  const Problem plain(2, 512, 512, 8, 8, 128, 128);
  EXPECT_EQ(plain.kernels(), Names{"isomer_attention"});
  EXPECT_EQ(plain.planned().workspace_bytes(), 0u);
  EXPECT_EQ(Problem(2, 512, 512, 8, 8, 128, 128).append(4).kernels(),
            (Names{"isomer_attention_append", "isomer_attention"}));
}

TEST(AttentionPlan, NothingIsLaunchedForAnEmptyOutputAndNewKeysAreWrittenAllTheSame) {
  EXPECT_EQ(Problem(0, 4, 4, 2, 2, 64, 64).kernels(), Names{});
  EXPECT_EQ(Problem(2, 0, 4, 2, 2, 64, 64).kernels(), Names{});
  EXPECT_EQ(Problem(2, 4, 4, 0, 2, 64, 64).kernels(), Names{});
  EXPECT_EQ(Problem(2, 0, 4, 2, 2, 64, 64).append(3).kernels(), Names{"isomer_attention_append"});
  EXPECT_EQ(Problem(2, 4, 4, 2, 2, 64, 64).append(0).kernels(), Names{"isomer_attention"});
}

TEST(AttentionPlan, NoKeysStillWriteTheirEmptyRows) {
  EXPECT_EQ(Problem(2, 4, 0, 2, 2, 64, 64).kernels(), Names{"isomer_attention"});
}

TEST(AttentionPlan, ALongCacheOfFewQueriesIsSplitAndAPromptIsNot) {
  const Problem decode(1, 1, 32768, 32, 8, 128, 128);
  EXPECT_EQ(decode.kernels(), (Names{"isomer_attention", "isomer_attention_combine"}));
  const Planned planned = decode.planned();
  const std::int64_t parts = std::stoll(planned.parameter("num_splits"));
  EXPECT_GT(parts, 8);
  EXPECT_LE(parts, 128);
  EXPECT_EQ(planned.blocks(), 8 * parts);
  EXPECT_EQ(planned.workspace_bytes(), static_cast<std::size_t>(parts * 32 * (128 + 2) * 4));
  EXPECT_EQ(Problem(4, 2048, 2048, 32, 8, 128, 128).planned().parameter("num_splits"), "1");
  EXPECT_EQ(Problem(1, 1, 200, 32, 8, 128, 128).planned().parameter("num_splits"), "1");
}

TEST(AttentionPlan, SplitsAreTakenAsAskedFor) {
  Problem problem(2, 3, 1000, 4, 2, 64, 64);
  for (const int splits : {1, 2, 5, 256}) {
    problem.options.num_splits = splits;
    EXPECT_EQ(problem.planned().parameter("num_splits"), std::to_string(splits));
  }
  problem.options.num_splits = 0;
  problem.options.split_size = 64;
  EXPECT_EQ(problem.planned().parameter("num_splits"), "16");
  problem.options.split_size = 1000;
  EXPECT_EQ(problem.kernels(), Names{"isomer_attention"});
}

TEST(AttentionPlan, PartialResultsThatNoMemoryHoldsAreRefused) {
  Problem problem(1, 65536, 65536, 32, 32, 128, 128);
  problem.options.num_splits = 256;
  EXPECT_LE(problem.planned().workspace_bytes(), std::size_t{2} << 30);
  problem.options.num_splits = 0;
  problem.options.split_size = 16;
  const auto* op = core::Registry::builtin().find("attention");
  const auto* portable = dynamic_cast<const gpu::Implementation*>(op->find("cuda/portable"));
  ASSERT_NE(portable, nullptr);
  const auto answer = portable->plan(problem.call(), *gpu::known_architecture("sm_90a"));
  const auto* refusal = std::get_if<core::Refusal>(&answer);
  ASSERT_NE(refusal, nullptr);
  EXPECT_NE(refusal->reason.find("split_size 16 makes 4096 parts"), std::string::npos) << refusal->reason;
}

TEST(AttentionPlan, SharedMemoryFitsEveryChip) {
  for (const char* architecture : {"sm_80", "sm_90a", "gfx90a"})
    for (const std::int64_t d : {8, 64, 96, 128, 192, 256})
      for (const std::int64_t dv : {8, 64, 128, 192, 256})
        for (const DType dtype : {DType::f32, DType::f16, DType::e4m3fn}) {
          if (dtype == DType::e4m3fn && (d % 16 != 0 || dv % 16 != 0)) continue;
          const Planned planned = Problem(1, 128, 128, 2, 2, d, dv, dtype).planned(architecture);
          EXPECT_LE(planned.steps().at(0).shared_bytes, (d > 128 || dv > 128 ? 64u : 48u) << 10)
              << architecture << " " << d << " " << dv;
        }
}

TEST(AttentionPlan, ARowOfATileIsAQueryOfAHeadOfTheGroup) {
  Problem decode(4, 1, 100, 32, 4, 128, 128);
  EXPECT_EQ(decode.planned().parameter("pack_gqa"), "1");
  EXPECT_EQ(decode.planned().blocks(), 4 * 4);
  decode.options.pack_gqa = AttentionOptions::Choice::never;
  EXPECT_EQ(decode.planned().parameter("pack_gqa"), "0");
  EXPECT_EQ(decode.planned().blocks(), 4 * 32);
}

TEST(AttentionPlan, FewRowsOfSixteenBitsAreDividedOverTheDevicesPlaces) {
  const Problem decode(16, 1, 16384, 64, 8, 128, 128, DType::bf16);
  EXPECT_EQ(decode.kernels(), (Names{"isomer_attention_decode", "isomer_attention_combine"}));
  const Planned planned = decode.planned();
  EXPECT_EQ(planned.variant("block_m"), "8");
  const std::int64_t parts = std::stoll(planned.parameter("num_splits"));
  EXPECT_EQ(planned.steps().at(0).grid[0], 8u * (132 * 3 / 8));
  // Partial results, and how the keys were divided.
  EXPECT_EQ(planned.workspace_bytes(),
            static_cast<std::size_t>(parts * 16 * 64 * (128 + 2) * 4 + (16 + 2) * 4));
  for (const auto& step : planned.steps()) EXPECT_TRUE(step.overlap_previous);
}

TEST(AttentionPlan, KeysThatAreFewOrOfManyEntriesStayTogether) {
  EXPECT_EQ(Problem(4, 1, 100, 32, 4, 128, 128, DType::f16).kernels(), Names{"isomer_attention_decode"});
  EXPECT_EQ(Problem(512, 1, 1000, 32, 8, 128, 128, DType::f16).kernels(), Names{"isomer_attention_decode"});
  EXPECT_EQ(Problem(2000, 1, 4000, 32, 8, 128, 128, DType::f16).kernels(), Names{"isomer_attention_decode"});
}

TEST(AttentionPlan, DecodeTakesWhatItCanReadSixteenBytesAtATime) {
  const Names decode = {"isomer_attention_decode"}, tiles = {"isomer_attention_mma"};
  EXPECT_EQ(Problem(2, 2, 100, 16, 2, 128, 128, DType::bf16).kernels(), decode);
  EXPECT_EQ(Problem(2, 3, 100, 16, 2, 128, 128, DType::bf16).kernels(), tiles);
  EXPECT_EQ(Problem(2, 1, 100, 16, 2, 128, 128, DType::e4m3fn).kernels(), tiles);
  EXPECT_EQ(Problem(2, 1, 100, 16, 2, 128, 128, DType::bf16).kernels("gfx90a"), Names{"isomer_attention"});
  Problem offset(2, 1, 100, 16, 2, 128, 128, DType::bf16);
  offset.args.k.data = at(0x200002);
  EXPECT_EQ(offset.kernels(), tiles);
  Problem splits(2, 1, 1000, 16, 2, 128, 128, DType::bf16);
  splits.options.num_splits = 3;
  EXPECT_EQ(splits.planned().blocks(), 2 * 2 * 3);
}

// Plain is what the kernel is compiled for without masks, append and lengths of queries.
TEST(AttentionPlan, OneQueryThatSeesEveryKeyIsAPlainCallOfDecode) {
  const auto plain = [](const auto& change) {
    Problem problem(4, 1, 4096, 32, 8, 128, 128, DType::bf16);
    change(problem);
    const Planned planned = problem.planned();
    for (const auto& [name, value] : gpu::named(planned.steps().at(planned.steps().size() - 2).variant))
      if (name == "plain") return value;
    return std::string("none");
  };
  const auto ints = [](std::initializer_list<std::int64_t> shape) {
    return Tensor(at(0x700000), DType::i32, shape);
  };
  const auto with = [&](auto member, std::int64_t n) {
    return plain([&](Problem& p) { p.args.*member = ints({n}); });
  };
  EXPECT_EQ(plain([](Problem&) {}), "1");
  EXPECT_EQ(plain([](Problem& p) { p.options.causal = true; }), "1");
  EXPECT_EQ(with(&AttentionArgs::seqused_k, 4), "1");
  EXPECT_EQ(plain([&](Problem& p) {
              p.args.k = Tensor(at(0x200000), DType::bf16, {300, 64, 8, 128});
              p.args.v = Tensor(at(0x300000), DType::bf16, {300, 64, 8, 128});
              p.args.page_table = ints({4, 70});
              p.args.seqused_k = ints({4});
            }),
            "1");
  EXPECT_EQ(with(&AttentionArgs::seqused_q, 4), "none");
  EXPECT_EQ(with(&AttentionArgs::leftpad_k, 4), "none");
  EXPECT_EQ(with(&AttentionArgs::kv_batch_idx, 4), "none");
  EXPECT_EQ(plain([](Problem& p) { p.append(1); }), "2");
  EXPECT_EQ(plain([](Problem& p) { p.options.window_left = 100; }), "none");
  EXPECT_EQ(plain([](Problem& p) { p.options.softcap = 5; }), "none");
  EXPECT_EQ(plain([](Problem& p) { p.options.num_splits = 4; }), "none");
  EXPECT_EQ(plain([](Problem& p) { p.args.q.data = at(0x100002); }), "none");
  EXPECT_EQ(plain([](Problem& p) { p = Problem(4, 2, 4096, 32, 8, 128, 128, DType::bf16); }), "none");
  EXPECT_EQ(plain([](Problem& p) { p = Problem(4, 1, 4096, 32, 8, 96, 128, DType::bf16); }), "none");
}

TEST(AttentionPlan, DecodeMakesSixteenBitsOfBytesInRegisters) {
  const auto over_bytes = [](std::int64_t d, std::int64_t heads = 64, DType dtype = DType::bf16) {
    Problem problem(16, 1, 16384, heads, 8, d, d, dtype);
    problem.args.k.dtype = problem.args.v.dtype = DType::e4m3fn;
    return problem;
  };
  const Problem narrow = over_bytes(64);
  EXPECT_EQ(narrow.kernels(), (Names{"isomer_attention_decode", "isomer_attention_combine"}));
  const Planned planned = narrow.planned();
  EXPECT_EQ(planned.variant("element"), "bf16");
  EXPECT_EQ(planned.variant("element_kv"), "e4m3fn");
  // 32 keys of a warp where that pays, else 16.
  EXPECT_EQ(planned.variant("block_n"), "128");
  EXPECT_EQ(over_bytes(128).planned().variant("block_n"), "64");
  EXPECT_EQ(over_bytes(128).planned().variant("resident"), "4");
  EXPECT_EQ(over_bytes(128, 128).planned().variant("block_n"), "128");
  EXPECT_EQ(over_bytes(256).planned().variant("block_n"), "64");
  EXPECT_EQ(over_bytes(128, 64, DType::f16).planned("sm_80").variant("element_kv"), "e4m3fn");
  EXPECT_EQ(over_bytes(128).planned("sm_80").variant("resident"), "2");  // it has no conversion
  // What the kernel cannot count in 32 bits, 16 bytes at a time.
  Problem far = over_bytes(128);
  far.args.k.strides[0] = std::int64_t{1} << 33;
  EXPECT_EQ(far.kernels().front(), "isomer_attention_mma");
}

TEST(AttentionPlan, TensorCoresTakeSixteenBitsWhereTheChipHasThem) {
  const auto multiplies = [](DType dtype, std::string_view architecture) {
    return Problem(1, 128, 128, 2, 2, 128, 128, dtype).planned(architecture).variant("element_mma");
  };
  for (const char* architecture : {"sm_80", "sm_89", "sm_90a", "sm_100a"}) {
    EXPECT_EQ(multiplies(DType::f16, architecture), "f16");
    EXPECT_EQ(multiplies(DType::bf16, architecture), "bf16");
    EXPECT_EQ(multiplies(DType::e4m3fn, architecture), "f16");
    EXPECT_EQ(multiplies(DType::f32, architecture), "none");
  }
  for (const char* architecture : {"gfx90a", "gfx1100"})
    EXPECT_EQ(multiplies(DType::bf16, architecture), "none");
}

}  // namespace
}  // namespace isomer::ops::attention
