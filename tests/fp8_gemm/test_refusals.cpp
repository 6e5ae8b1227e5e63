// Every call that a clause of the contracts forbids is refused with a sentence that says so, and writes
// nothing.
#include <isomer/fp8_gemm.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace isomer {
namespace {

/// Memory for every tensor of a call, outputs filled with 0x5A.
struct Memory {
  std::vector<std::uint8_t> a = std::vector<std::uint8_t>(1 << 17, 0x38), b = a;
  std::vector<float> a_s = std::vector<float>(4096, 1.0f), b_s = a_s, bias = a_s;
  std::vector<std::uint8_t> c = std::vector<std::uint8_t>(1 << 17, 0x5A), addend = a;
  std::vector<std::int32_t> ids = std::vector<std::int32_t>(512, -1), counts = {3, 0, 64};

  bool untouched() const {
    return std::all_of(c.begin(), c.end(), [](std::uint8_t byte) { return byte == 0x5A; });
  }

  /// a [64, 128] · b [256, 128]: the shapes of the demonstration in the source document, with right scales.
  Fp8GemmArgs single() {
    return {.a = Tensor(a.data(), DType::e4m3fn, {64, 128}),
            .a_s = Tensor(a_s.data(), DType::f32, {64, 1}),
            .b = Tensor(b.data(), DType::e4m3fn, {256, 128}),
            .b_s = Tensor(b_s.data(), DType::f32, {2, 1}),
            .c = Tensor(c.data(), DType::bf16, {64, 256})};
  }

  /// 256 rows of two experts in segments of 100 and 60 rows.
  GroupedFp8GemmArgs contiguous() {
    std::fill_n(ids.begin(), 100, 0);
    std::fill_n(ids.begin() + 128, 60, 1);
    return {.a = Tensor(a.data(), DType::e4m3fn, {256, 64}),
            .a_s = Tensor(a_s.data(), DType::f32, {256, 1}),
            .b = Tensor(b.data(), DType::e4m3fn, {3, 40, 64}),
            .b_s = Tensor(b_s.data(), DType::f32, {3, 1, 1}),
            .c = Tensor(c.data(), DType::f32, {256, 40}),
            .expert_ids = Tensor(ids.data(), DType::i32, {256})};
  }

  GroupedFp8GemmArgs masked() {
    return {.a = Tensor(a.data(), DType::e4m3fn, {3, 64, 64}),
            .a_s = Tensor(a_s.data(), DType::f32, {3, 64, 1}),
            .b = Tensor(b.data(), DType::e4m3fn, {3, 40, 64}),
            .b_s = Tensor(b_s.data(), DType::f32, {3, 1, 1}),
            .c = Tensor(c.data(), DType::f32, {3, 64, 40}),
            .row_counts = Tensor(counts.data(), DType::i32, {3})};
  }
};

template <class Args>
struct BadCall {
  std::string says;  ///< a part of the sentence
  std::function<void(Args&, Memory&)> spoil;
};

template <class Args, class Op>
void expect_refusals(const std::vector<BadCall<Args>>& calls, const std::string& name, Args (Memory::*good)(),
                     Op op) {
  for (const BadCall<Args>& bad : calls) {
    Memory memory;
    Args args = (memory.*good)();
    bad.spoil(args, memory);
    try {
      op(Queue::cpu(), args);
      ADD_FAILURE() << "accepted: " << bad.says;
    } catch (const Error& error) {
      const std::string sentence = error.what();
      EXPECT_EQ(error.code(), ErrorCode::bad_argument) << sentence;
      EXPECT_EQ(sentence.rfind(name + ": ", 0), 0u) << sentence;
      EXPECT_NE(sentence.find(bad.says), std::string::npos) << sentence << "\n  lacks: " << bad.says;
    }
    EXPECT_TRUE(memory.untouched()) << bad.says;
  }
  std::printf("%zu bad calls of %s refused\n", calls.size(), name.c_str());
}

TEST(Fp8GemmRefuses, ScalesOfTheDemonstrationInTheSourceDocument) {
  for (const std::int64_t rows : {256, 64}) {
    Memory memory;
    Fp8GemmArgs args = memory.single();
    args.b_s = Tensor(memory.b_s.data(), DType::f32, {rows, 1});
    try {
      fp8_gemm(Queue::cpu(), args);
      ADD_FAILURE() << "accepted b_s [" << rows << ", 1]";
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), "fp8_gemm: b_s has shape [" + std::to_string(rows) +
                                  ", 1], expected [2, 1] (ceil(N/128) ceil(K/128))");
    }
    EXPECT_TRUE(memory.untouched());
  }
}

TEST(Fp8GemmRefuses, EveryBrokenClause) {
  const std::vector<BadCall<Fp8GemmArgs>> calls = {
      {"a is required", [](auto& g, auto&) { g.a = {}; }},
      {"a_s is required", [](auto& g, auto&) { g.a_s = {}; }},
      {"b is required", [](auto& g, auto&) { g.b = {}; }},
      {"b_s is required", [](auto& g, auto&) { g.b_s = {}; }},
      {"c is required", [](auto& g, auto&) { g.c = {}; }},
      {"a has dtype bf16, expected e4m3fn", [](auto& g, auto&) { g.a.dtype = DType::bf16; }},
      {"a has dtype e4m3fnuz, expected e4m3fn", [](auto& g, auto&) { g.a.dtype = DType::e4m3fnuz; }},
      {"b has dtype e5m2, expected e4m3fn", [](auto& g, auto&) { g.b.dtype = DType::e5m2; }},
      {"a_s has dtype bf16, expected f32", [](auto& g, auto&) { g.a_s.dtype = DType::bf16; }},
      {"b_s has dtype f64, expected f32", [](auto& g, auto&) { g.b_s.dtype = DType::f64; }},
      {"c has dtype e4m3fn, expected f32, f16 or bf16", [](auto& g, auto&) { g.c.dtype = DType::e4m3fn; }},
      {"bias has dtype i32", [](auto& g, auto& m) { g.bias = Tensor(m.ids.data(), DType::i32, {256}); }},
      {"addend has dtype f32, expected bf16 as c",
       [](auto& g, auto& m) {
         g.addend = Tensor(m.addend.data(), DType::f32, {64, 256});
       }},
      {"a_s has shape [64, 2], expected [64, 1]",
       [](auto& g, auto& m) {
         g.a_s = Tensor(m.a_s.data(), DType::f32, {64, 2});
       }},
      {"a_s has shape [1, 64], expected [64, 1]",
       [](auto& g, auto& m) {
         g.a_s = Tensor(m.a_s.data(), DType::f32, {1, 64});
       }},
      {"a_s has shape [64], expected [64, 1]",
       [](auto& g, auto& m) { g.a_s = Tensor(m.a_s.data(), DType::f32, {64}); }},
      {"b has shape [256, 64], expected",
       [](auto& g, auto& m) {
         g.b = Tensor(m.b.data(), DType::e4m3fn, {256, 64});
       }},
      {"b has shape [128, 256], expected [256, 128] (N K)",
       [](auto& g, auto& m) {
         g.b = Tensor(m.b.data(), DType::e4m3fn, {128, 256});
       }},
      {"b has shape [2, 128, 128], expected",
       [](auto& g, auto& m) {
         g.b = Tensor(m.b.data(), DType::e4m3fn, {2, 128, 128});
       }},
      {"b_s has shape [1, 1], expected [2, 1]",
       [](auto& g, auto& m) {
         g.b_s = Tensor(m.b_s.data(), DType::f32, {1, 1});
       }},
      {"b_s has shape [1, 2], expected [2, 1]",
       [](auto& g, auto& m) {
         g.b_s = Tensor(m.b_s.data(), DType::f32, {1, 2});
       }},
      {"c has shape [64, 128], expected [64, 256]",
       [](auto& g, auto& m) {
         g.c = Tensor(m.c.data(), DType::bf16, {64, 128});
       }},
      {"c has shape [8, 8, 256], expected [64, 256]",
       [](auto& g, auto& m) {
         g.c = Tensor(m.c.data(), DType::bf16, {8, 8, 256});
       }},
      {"c has shape [63, 256], expected [64, 256]",
       [](auto& g, auto& m) {
         g.c = Tensor(m.c.data(), DType::bf16, {63, 256});
       }},
      {"bias has shape [64], expected [256]",
       [](auto& g, auto& m) { g.bias = Tensor(m.bias.data(), DType::f32, {64}); }},
      {"bias has shape [1, 256], expected [256]",
       [](auto& g, auto& m) {
         g.bias = Tensor(m.bias.data(), DType::f32, {1, 256});
       }},
      {"addend has shape [256], expected [64, 256]",
       [](auto& g, auto& m) { g.addend = Tensor(m.addend.data(), DType::bf16, {256}); }},
      {"a has stride 64 in its last dimension, expected 1",
       [](auto& g, auto& m) {
         g.a = Tensor(m.a.data(), DType::e4m3fn, {128, 64}).transpose(0, 1);
       }},
      {"b has stride 256 in its last dimension, expected 1",
       [](auto& g, auto& m) {
         g.b = Tensor(m.b.data(), DType::e4m3fn, {128, 256}).transpose(0, 1);
       }},
      {"c has stride 64 in its last dimension, expected 1",
       [](auto& g, auto& m) {
         g.c = Tensor(m.c.data(), DType::bf16, {256, 64}).transpose(0, 1);
       }},
      {"in which elements overlap", [](auto& g, auto&) { g.c.strides[0] = 0; }},
      {"in which elements overlap", [](auto& g, auto&) { g.c.strides[0] = 255; }},
      {"c overlaps a in memory", [](auto& g, auto&) { g.a.data = g.c.data; }},
      {"c overlaps b_s in memory",
       [](auto& g, auto&) { g.b_s.data = static_cast<std::byte*>(g.c.data) + 128; }},
      {"c overlaps addend in memory",
       [](auto& g, auto& m) {
         g.addend = Tensor(m.c.data() + 2, DType::bf16, {64, 256});
       }},
      {"a has null data", [](auto& g, auto&) { g.a.data = nullptr; }},
      {"b_s has null data", [](auto& g, auto&) { g.b_s.data = nullptr; }},
      {"c has null data", [](auto& g, auto&) { g.c.data = nullptr; }},
      {"a_s is misaligned", [](auto& g, auto&) { g.a_s.data = static_cast<std::byte*>(g.a_s.data) + 2; }},
      {"c is misaligned", [](auto& g, auto&) { g.c.data = static_cast<std::byte*>(g.c.data) + 1; }},
      {"a is on cuda:0, expected cpu",
       [](auto& g, auto&) {
         g.a.device = {DeviceType::cuda, 0};
       }},
      {"c is on hip:1, expected cpu",
       [](auto& g, auto&) {
         g.c.device = {DeviceType::hip, 1};
       }},
      {"expected no negative size", [](auto& g, auto&) { g.a.shape[0] = -64; }},
      {"which spans more than 2^61 bytes", [](auto& g, auto&) { g.a.shape[0] = std::int64_t{1} << 60; }},
  };
  expect_refusals(calls, "fp8_gemm", &Memory::single,
                  [](const Queue& queue, const Fp8GemmArgs& args) { fp8_gemm(queue, args); });
}

const auto grouped = [](const Queue& queue, const GroupedFp8GemmArgs& args) {
  grouped_fp8_gemm(queue, args);
};

TEST(GroupedFp8GemmRefuses, EveryBrokenClauseOfTheContiguousLayout) {
  const std::vector<BadCall<GroupedFp8GemmArgs>> calls = {
      {"neither of expert_ids and row_counts given, expected exactly one",
       [](auto& g, auto&) { g.expert_ids = {}; }},
      {"both of expert_ids and row_counts given, expected exactly one",
       [](auto& g, auto& m) { g.row_counts = Tensor(m.counts.data(), DType::i32, {3}); }},
      {"a has rank 3, expected 2 ([M, ...]) with expert_ids",
       [](auto& g, auto& m) {
         g.a = Tensor(m.a.data(), DType::e4m3fn, {3, 64, 64});
         g.a_s = Tensor(m.a_s.data(), DType::f32, {3, 64, 1});
         g.c = Tensor(m.c.data(), DType::f32, {3, 64, 40});
       }},
      {"c has rank 3, expected 2 ([M, ...]) with expert_ids",
       [](auto& g, auto& m) {
         g.c = Tensor(m.c.data(), DType::f32, {3, 64, 40});
       }},
      {"expert_ids has shape [255], expected [256]",
       [](auto& g, auto& m) { g.expert_ids = Tensor(m.ids.data(), DType::i32, {255}); }},
      {"expert_ids has dtype i64, expected i32", [](auto& g, auto&) { g.expert_ids.dtype = DType::i64; }},
      {"expert_ids has null data", [](auto& g, auto&) { g.expert_ids.data = nullptr; }},
      {"expert_ids[7] is 3, expected -1 or an expert in [0, 3)", [](auto&, auto& m) { m.ids[7] = 3; }},
      {"expert_ids[200] is -2, expected -1 or an expert in [0, 3)", [](auto&, auto& m) { m.ids[200] = -2; }},
      {"expert_ids[128] is 0 after 1, expected rows sorted by expert",
       [](auto&, auto& m) {
         std::fill_n(m.ids.begin(), 100, 1);
         std::fill_n(m.ids.begin() + 128, 60, 0);
       }},
      {"the segment of expert 1 begins at row 100, expected a multiple of 128",
       [](auto&, auto& m) { m.ids[100] = 1; }},
      {"the segment of expert 2 begins at row 50, expected a multiple of 128",
       [](auto&, auto& m) { m.ids[50] = 2; }},
      {"expert_ids[110] is 0 after padding", [](auto&, auto& m) { m.ids[110] = 0; }},
      {"b has shape [40, 64], expected",
       [](auto& g, auto& m) {
         g.b = Tensor(m.b.data(), DType::e4m3fn, {40, 64});
       }},
      {"b_s has shape [3, 1], expected [3, 1, 1]",
       [](auto& g, auto& m) {
         g.b_s = Tensor(m.b_s.data(), DType::f32, {3, 1});
       }},
      {"bias has shape [40], expected [3, 40]",
       [](auto& g, auto& m) { g.bias = Tensor(m.bias.data(), DType::f32, {40}); }},
      {"addend has dtype bf16, expected f32 as c",
       [](auto& g, auto& m) {
         g.addend = Tensor(m.addend.data(), DType::bf16, {256, 40});
       }},
      {"c overlaps expert_ids in memory", [](auto& g, auto&) { g.expert_ids.data = g.c.data; }},
  };
  expect_refusals(calls, "grouped_fp8_gemm", &Memory::contiguous, grouped);
}

TEST(GroupedFp8GemmRefuses, EveryBrokenClauseOfTheMaskedLayout) {
  const std::vector<BadCall<GroupedFp8GemmArgs>> calls = {
      {"row_counts[1] is 65, expected a count in [0, 64]", [](auto&, auto& m) { m.counts[1] = 65; }},
      {"row_counts[2] is -1, expected a count in [0, 64]", [](auto&, auto& m) { m.counts[2] = -1; }},
      {"a has rank 2, expected 3 ([G, R, ...]) with row_counts",
       [](auto& g, auto& m) {
         g.a = Tensor(m.a.data(), DType::e4m3fn, {256, 64});
         g.a_s = Tensor(m.a_s.data(), DType::f32, {256, 1});
         g.c = Tensor(m.c.data(), DType::f32, {256, 40});
       }},
      {"row_counts has shape [4], expected [3]",
       [](auto& g, auto& m) { g.row_counts = Tensor(m.ids.data(), DType::i32, {4}); }},
      {"b has shape [2, 40, 64], expected",
       [](auto& g, auto& m) {
         g.b = Tensor(m.b.data(), DType::e4m3fn, {2, 40, 64});
       }},
      {"c has shape [3, 32, 40], expected",
       [](auto& g, auto& m) {
         g.c = Tensor(m.c.data(), DType::f32, {3, 32, 40});
       }},
      {"a has stride 3 in its last dimension, expected 1",
       [](auto& g, auto& m) {
         g.a = Tensor::strided(m.a.data(), DType::e4m3fn, {3, 64, 64}, {1, 192, 3});
       }},
  };
  expect_refusals(calls, "grouped_fp8_gemm", &Memory::masked, grouped);
}

}  // namespace
}  // namespace isomer
