// The rules of each op that dtypes, shapes and strides cannot say: the exact sentence for each way to break
// one.
#include "../attention/bad_calls.hpp"
#include "attempt.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace isomer::bad_input {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

using Spoil = std::function<void(oracle::Problem&)>;

struct Row {
  const char* line;
  Spoil spoil;
  const char* sentence;
};

template <class Args, class Options>
Spoil to(void (*change)(Args&, Options&)) {
  return [change](oracle::Problem& problem) { change(problem.args<Args>(), problem.options<Options>()); };
}

void put(const Tensor& tensor, std::int64_t value, std::int64_t i) {
  if (tensor.dtype == DType::i64)
    *tensor.at<std::int64_t>(i) = value;
  else
    *tensor.at<std::int32_t>(i) = static_cast<std::int32_t>(value);
}
void put(const Tensor& tensor, std::int32_t value, std::int64_t i, std::int64_t j) {
  *tensor.at<std::int32_t>(i, j) = value;
}
/// The tensor seen with another shape, compact.
void reshape(Tensor& tensor, std::initializer_list<std::int64_t> shape) {
  tensor = Tensor(tensor.data, tensor.dtype, shape, tensor.device);
}

void check(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    Attempt attempt(row.line);
    ASSERT_EQ(attempt.cxx(), "") << row.line;
    row.spoil(attempt.problem());
    EXPECT_EQ(attempt.refused(row.line), row.sentence) << row.line;
  }
}

Spoil act_quant_to(void (*change)(ActQuantArgs&, ActQuantOptions&)) { return to(change); }
Spoil weight_dequant_to(void (*change)(WeightDequantArgs&, WeightDequantOptions&)) { return to(change); }
Spoil fp8_gemm_to(void (*change)(Fp8GemmArgs&, Fp8GemmOptions&)) { return to(change); }
Spoil linear_to(void (*change)(Fp8LinearArgs&, Fp8LinearOptions&)) { return to(change); }
Spoil grouped_to(void (*change)(GroupedFp8GemmArgs&, GroupedFp8GemmOptions&)) { return to(change); }
Spoil scatter_to(void (*change)(QuantizeCopyKvArgs&, QuantizeCopyKvOptions&)) { return to(change); }
Spoil decode_to(void (*change)(FlashDecodeArgs&, FlashDecodeOptions&)) { return to(change); }
Spoil stage1_to(void (*change)(FlashDecodeStage1Args&, FlashDecodeStage1Options&)) { return to(change); }
Spoil stage2_to(void (*change)(FlashDecodeStage2Args&, FlashDecodeStage2Options&)) { return to(change); }
Spoil merge_to(void (*change)(MergeAttentionArgs&, MergeAttentionOptions&)) { return to(change); }

TEST(Sin, RefusesShapesThatDifferAndOutputsThatOverlap) {
  const char* line = "sin n=16 rows=4";
  const auto sin_to = [](void (*change)(SinArgs&, SinOptions&)) { return to(change); };
  check({
      {line, sin_to([](SinArgs& a, SinOptions&) { a.y = a.y.transpose(0, 1); }),
       "sin: y has shape [16, 4], expected [4, 16] (...)"},
      {line, sin_to([](SinArgs& a, SinOptions&) {
         a.y = Tensor(a.x.at<>(0, 1), a.x.dtype, {4, 16});
       }),
       "sin: y overlaps x in memory, expected an output of its own"},
      {line, sin_to([](SinArgs& a, SinOptions&) { a.y.strides[0] = 8; }),
       "sin: y is f32[4, 16] strides [8, 1], in which elements overlap; an output needs each element of its "
       "own"},
  });
}

TEST(ActQuant, RefusesWhatItsOptionsDoNotAllow) {
  const char* line = "act_quant m=4 k=256 f32";
  check({
      {line, act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.block_size = 0; }),
       "act_quant: block_size is 0, expected 32, 64, 128 or 256"},
      {line, act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.block_size = -128; }),
       "act_quant: block_size is -128, expected 32, 64, 128 or 256"},
      {line, act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.block_size = 100; }),
       "act_quant: block_size is 100, expected 32, 64, 128 or 256"},
      {line, act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.block_size = INT64_MAX; }),
       "act_quant: block_size is 9223372036854775807, expected 32, 64, 128 or 256"},
      {line, act_quant_to([](ActQuantArgs& a, ActQuantOptions&) {
         a.x = a.x.slice(1, 0, 200), a.y = a.y.slice(1, 0, 200);
       }),
       "act_quant: x has 200 elements in its last dimension, expected a multiple of block_size 128"},
      {line, act_quant_to([](ActQuantArgs& a, ActQuantOptions&) { a.s = a.s.slice(1, 0, 1); }),
       "act_quant: s has shape [4, 1], expected [4, 2] (... K/block_size)"},
      {line, act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.amax_floor = -1.0f; }),
       "act_quant: amax_floor is -1, expected a finite number that is not negative"},
      {line, act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.amax_floor = kNaN; }),
       "act_quant: amax_floor is nan, expected a finite number that is not negative"},
      {line, act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.amax_floor = kInf; }),
       "act_quant: amax_floor is inf, expected a finite number that is not negative"},
      {line,
       act_quant_to([](ActQuantArgs&, ActQuantOptions& o) { o.scale_layout = ScaleLayout::column_major; }),
       "act_quant: s has stride 2 in its last dimension but one, expected 1 for scale_layout column_major"},
  });
}

TEST(ActQuant, RefusesEnumeratorsThatDoNotExist) {
  Attempt attempt("act_quant m=4 k=256");
  attempt.problem().options<ActQuantOptions>().scale_format = static_cast<ScaleFormat>(7);
  EXPECT_EQ(attempt.cxx(), "act_quant: scale_format is 7, expected f32 (0) or ue8m0 (1)");
  EXPECT_EQ(attempt.c(), "act_quant: scale_format is 7, expected 0 to 1");
  attempt.problem().options<ActQuantOptions>() = {};
  attempt.problem().options<ActQuantOptions>().scale_layout = static_cast<ScaleLayout>(2);
  EXPECT_EQ(attempt.cxx(), "act_quant: scale_layout is 2, expected row_major (0) or column_major (1)");
  EXPECT_EQ(attempt.c(), "act_quant: scale_layout is 2, expected 0 to 1");
}

TEST(WeightDequant, RefusesScalesOfOneColumnForEachRow) {
  check({
      // The demo call of the source document: x [64, 128] with scales [64, 1].
      {"weight_dequant m=64 n=128", weight_dequant_to([](WeightDequantArgs& a, WeightDequantOptions&) {
         a.s = Tensor(a.s.data, DType::f32, {64, 1});
       }),
       "weight_dequant: s has shape [64, 1], expected [1, 1] (ceil(M/block_size) ceil(N/block_size))"},
      {"weight_dequant m=256 n=384", weight_dequant_to([](WeightDequantArgs& a, WeightDequantOptions&) {
         reshape(a.s, {3, 2});
       }),
       "weight_dequant: s has shape [3, 2], expected [2, 3] (ceil(M/block_size) ceil(N/block_size))"},
      {"weight_dequant m=256 n=300",
       weight_dequant_to([](WeightDequantArgs& a, WeightDequantOptions&) { a.s = a.s.slice(1, 0, 2); }),
       "weight_dequant: s has shape [2, 2], expected [2, 3] (ceil(M/block_size) ceil(N/block_size))"},
      {"weight_dequant",
       weight_dequant_to([](WeightDequantArgs&, WeightDequantOptions& o) { o.block_size = 0; }),
       "weight_dequant: block_size is 0, expected at least 1"},
      {"weight_dequant",
       weight_dequant_to([](WeightDequantArgs&, WeightDequantOptions& o) { o.block_size = -7; }),
       "weight_dequant: block_size is -7, expected at least 1"},
  });
}

TEST(Fp8Gemm, RefusesScalesThatAreNotOneForEachBlock) {
  check({
      // The demo call of the source document: b [256, 128] with scales [256, 1].
      {"fp8_gemm m=64 n=256 k=128", fp8_gemm_to([](Fp8GemmArgs& a, Fp8GemmOptions&) {
         a.b_s = Tensor(a.b_s.data, DType::f32, {256, 1});
       }),
       "fp8_gemm: b_s has shape [256, 1], expected [2, 1] (ceil(N/128) ceil(K/128))"},
      {"fp8_gemm m=5 n=130 k=260",
       fp8_gemm_to([](Fp8GemmArgs& a, Fp8GemmOptions&) { a.b_s = a.b_s.transpose(0, 1); }),
       "fp8_gemm: b_s has shape [3, 2], expected [2, 3] (ceil(N/128) ceil(K/128))"},
      {"fp8_gemm m=5 n=130 k=260",
       fp8_gemm_to([](Fp8GemmArgs& a, Fp8GemmOptions&) { a.a_s = a.a_s.slice(1, 0, 2); }),
       "fp8_gemm: a_s has shape [5, 2], expected [5, 3] (... ceil(K/128))"},
      {"fp8_gemm m=5 n=130 k=260",
       fp8_gemm_to([](Fp8GemmArgs& a, Fp8GemmOptions&) { a.b = a.b.slice(1, 0, 259); }),
       "fp8_gemm: b has shape [130, 259], expected [130, 260] (N K)"},
      {"fp8_gemm m=5 n=130 k=260 bias=f32",
       fp8_gemm_to([](Fp8GemmArgs& a, Fp8GemmOptions&) { a.bias = a.bias.slice(0, 0, 129); }),
       "fp8_gemm: bias has shape [129], expected [130] (N)"},
      {"fp8_gemm m=5 n=130 k=260 addend=own",
       fp8_gemm_to([](Fp8GemmArgs& a, Fp8GemmOptions&) { a.addend = a.addend.slice(0, 0, 4); }),
       "fp8_gemm: addend has shape [4, 130], expected [5, 130] (... N)"},
  });
}

TEST(Fp8Linear, RefusesHalfABlockOfKAndPromisesThatAreNone) {
  const char* line = "fp8_linear m=5 n=130 k=256";
  check({
      {line, linear_to([](Fp8LinearArgs& a, Fp8LinearOptions&) {
         a.x = a.x.slice(1, 0, 192);
         a.b = a.b.slice(1, 0, 192);
       }),
       "fp8_linear: x has 192 elements in its last dimension, expected a multiple of 128"},
      {line, linear_to([](Fp8LinearArgs&, Fp8LinearOptions& o) { o.amax_floor = -1.0f; }),
       "fp8_linear: amax_floor is -1, expected a finite number that is not negative"},
      {line, linear_to([](Fp8LinearArgs&, Fp8LinearOptions& o) { o.b_ready = 2; }),
       "fp8_linear: b_ready is 2, expected 0 or 1"},
      {"fp8_gemm m=5 n=130 k=260", fp8_gemm_to([](Fp8GemmArgs&, Fp8GemmOptions& o) { o.b_ready = -1; }),
       "fp8_gemm: b_ready is -1, expected 0 or 1"},
  });
}

TEST(GroupedFp8Gemm, RefusesRowsThatBelongToNoExpert) {
  const char* contiguous = "grouped_fp8_gemm g=3 r=20 n=20 k=130 counts=all";
  const char* masked = "grouped_fp8_gemm masked g=3 r=9 n=20 k=130";
  check({
      {contiguous, grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { put(a.expert_ids, 3, 0); }),
       "grouped_fp8_gemm: expert_ids[0] is 3, expected -1 or an expert in [0, 3)"},
      {contiguous,
       grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { put(a.expert_ids, -2, 5); }),
       "grouped_fp8_gemm: expert_ids[5] is -2, expected -1 or an expert in [0, 3)"},
      {contiguous, grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { put(a.expert_ids, 1, 4); }),
       "grouped_fp8_gemm: the segment of expert 1 begins at row 4, expected a multiple of 128 (pad the "
       "segment before it with -1)"},
      {contiguous,
       grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { put(a.expert_ids, -1, 3); }),
       "grouped_fp8_gemm: expert_ids[4] is 0 after padding, expected padding to last up to a multiple of "
       "128"},
      {contiguous, grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { a.expert_ids = {}; }),
       "grouped_fp8_gemm: neither of expert_ids and row_counts given, expected exactly one: expert_ids for "
       "rows sorted by expert, row_counts for one matrix per expert"},
      {contiguous, grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) {
         a.row_counts = a.expert_ids.slice(0, 0, 3);
       }),
       "grouped_fp8_gemm: both of expert_ids and row_counts given, expected exactly one: expert_ids for rows "
       "sorted by expert, row_counts for one matrix per expert"},
      {masked, grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { put(a.row_counts, 10, 1); }),
       "grouped_fp8_gemm: row_counts[1] is 10, expected a count in [0, 9]"},
      {masked, grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { put(a.row_counts, -1, 2); }),
       "grouped_fp8_gemm: row_counts[2] is -1, expected a count in [0, 9]"},
      {masked, grouped_to([](GroupedFp8GemmArgs& a, GroupedFp8GemmOptions&) { a.row_counts = {}; }),
       "grouped_fp8_gemm: neither of expert_ids and row_counts given, expected exactly one: expert_ids for "
       "rows sorted by expert, row_counts for one matrix per expert"},
  });
}

TEST(QuantizeCopyKv, RefusesDestinationsOutsideTheCache) {
  const char* line = "quantize_copy_kv s=5 n=7 h=2 d=24";
  check({
      {line, scatter_to([](QuantizeCopyKvArgs& a, QuantizeCopyKvOptions&) { put(a.dest, 7, 0); }),
       "quantize_copy_kv: dest[0] is 7, expected a row of out in [0, 7)"},
      {line, scatter_to([](QuantizeCopyKvArgs& a, QuantizeCopyKvOptions&) { put(a.dest, -1, 4); }),
       "quantize_copy_kv: dest[4] is -1, expected a row of out in [0, 7)"},
      {line, scatter_to([](QuantizeCopyKvArgs& a, QuantizeCopyKvOptions&) { put(a.dest, INT32_MIN, 2); }),
       "quantize_copy_kv: dest[2] is -2147483648, expected a row of out in [0, 7)"},
      {"quantize_copy_kv s=5 n=7 h=2 d=24 dest=i64",
       scatter_to(
           [](QuantizeCopyKvArgs& a, QuantizeCopyKvOptions&) { put(a.dest, std::int64_t{1} << 40, 4); }),
       "quantize_copy_kv: dest[4] is 1099511627776, expected a row of out in [0, 7)"},
      {line, scatter_to([](QuantizeCopyKvArgs&, QuantizeCopyKvOptions& o) { o.group = 3; }),
       "quantize_copy_kv: group is 3, expected 0 for one scale a head, or 8"},
      {line, scatter_to([](QuantizeCopyKvArgs&, QuantizeCopyKvOptions& o) { o.group = -8; }),
       "quantize_copy_kv: group is -8, expected 0 for one scale a head, or 8"},
      {"quantize_copy_kv s=5 n=7 h=2 d=20",
       scatter_to([](QuantizeCopyKvArgs&, QuantizeCopyKvOptions& o) { o.group = 8; }),
       "quantize_copy_kv: k has 20 channels, expected a multiple of group 8"},
      {"quantize_copy_kv s=5 n=7 h=2 d=24 rank2",
       scatter_to([](QuantizeCopyKvArgs&, QuantizeCopyKvOptions& o) { o.group = 8; }),
       "quantize_copy_kv: out_scale has 2 dimensions, expected 3 with group 8: [N, H, D/8]"},
      {line, scatter_to([](QuantizeCopyKvArgs& a, QuantizeCopyKvOptions&) {
         a.out_scale = a.out_scale.slice(0, 0, 6);
       }),
       "quantize_copy_kv: out_scale has shape [6, 2, 1], expected [7, 2, 1] (N H groups)"},
  });
}

TEST(FlashDecode, RefusesHeadsLengthsAndTablesThatDoNotFit) {
  const char* line = "flash_decode b=3 hq=4 hkv=2 d=16 len=40 block_seq=16 lengths=full";
  const char* one = "flash_decode_stage1 b=3 hq=4 hkv=2 d=16 len=40 block_seq=16 lengths=full";
  const char* two = "flash_decode_stage2 b=3 h=2 nb=3 d=16 lengths=full";
  check({
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) {
         a.q = a.q.slice(1, 0, 3), a.out = a.out.slice(1, 0, 3);
       }),
       "flash_decode: k has 2 kv heads, which do not divide 3 query heads"},
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) {
         a.q = a.q.slice(2, 0, 12), a.k = a.k.slice(2, 0, 12), a.v = a.v.slice(2, 0, 12),
         a.out = a.out.slice(2, 0, 12);
       }),
       "flash_decode: q has head dimension 12, expected a multiple of 8 from 8 to 256"},
      {line, decode_to([](FlashDecodeArgs&, FlashDecodeOptions& o) { o.scale = kNaN; }),
       "flash_decode: scale is nan, expected a finite number, or 0 for 1/sqrt(D)"},
      {line, decode_to([](FlashDecodeArgs&, FlashDecodeOptions& o) { o.scale = kInf; }),
       "flash_decode: scale is inf, expected a finite number, or 0 for 1/sqrt(D)"},
      {line, decode_to([](FlashDecodeArgs&, FlashDecodeOptions& o) { o.block_seq = 17; }),
       "flash_decode: block_seq is 17, expected a positive multiple of 16, or 0 for the plan's choice"},
      {line, decode_to([](FlashDecodeArgs&, FlashDecodeOptions& o) { o.block_seq = -16; }),
       "flash_decode: block_seq is -16, expected a positive multiple of 16, or 0 for the plan's choice"},
      {line, decode_to([](FlashDecodeArgs&, FlashDecodeOptions& o) { o.max_len = -1; }),
       "flash_decode: max_len is -1, expected a length, or 0 for Lmax"},
      {line, decode_to([](FlashDecodeArgs&, FlashDecodeOptions& o) { o.max_len = 39; }),
       "flash_decode: b_seqlen[0] is 40, expected 0 to 39"},
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) { put(a.b_seqlen, -1, 0); }),
       "flash_decode: b_seqlen[0] is -1, expected 0 to 43"},
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) { put(a.b_seqlen, 1000, 2); }),
       "flash_decode: b_seqlen[2] is 1000, expected 0 to 43"},
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) { put(a.b_req_idx, 5, 1); }),
       "flash_decode: b_req_idx[1] is 5, but req_to_tokens has 5 rows"},
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) { put(a.b_req_idx, -1, 1); }),
       "flash_decode: b_req_idx[1] is -1, but req_to_tokens has 5 rows"},
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) {
         put(a.req_to_tokens, INT32_MAX, *a.b_req_idx.at<std::int32_t>(2), 39);
       }),
       "flash_decode: req_to_tokens[4, 39] is 2147483647, but k and v have 125 slots"},
      {line, decode_to([](FlashDecodeArgs& a, FlashDecodeOptions&) {
         put(a.req_to_tokens, -1, *a.b_req_idx.at<std::int32_t>(0), 0);
       }),
       "flash_decode: req_to_tokens[3, 0] is -1, but k and v have 125 slots"},
      {one, stage1_to([](FlashDecodeStage1Args&, FlashDecodeStage1Options& o) { o.block_seq = 0; }),
       "flash_decode_stage1: block_seq is 0, expected a positive multiple of 16"},
      {one, stage1_to([](FlashDecodeStage1Args& a, FlashDecodeStage1Options&) {
         a.mid_out = a.mid_out.slice(2, 0, 2), a.mid_lse = a.mid_lse.slice(2, 0, 2);
       }),
       "flash_decode_stage1: b_seqlen[0] is 40, expected 0 to 32"},
      {one, stage1_to([](FlashDecodeStage1Args&, FlashDecodeStage1Options& o) { o.max_len = 1000; }),
       "flash_decode_stage1: mid_out has 3 blocks, but max_len 1000 needs 63 of 16 tokens"},
      {one, stage1_to([](FlashDecodeStage1Args& a, FlashDecodeStage1Options&) {
         a.mid_lse = a.mid_lse.slice(2, 0, 2);
       }),
       "flash_decode_stage1: mid_lse has shape [3, 4, 2], expected [3, 4, 3] (B Hq nb)"},
      {two, stage2_to([](FlashDecodeStage2Args&, FlashDecodeStage2Options& o) { o.block_seq = 0; }),
       "flash_decode_stage2: block_seq is 0, expected a positive number of tokens"},
      {two, stage2_to([](FlashDecodeStage2Args& a, FlashDecodeStage2Options&) { put(a.b_seqlen, 1000, 1); }),
       "flash_decode_stage2: b_seqlen[1] is 1000, but mid_out has blocks for 0 to 96 tokens"},
      {two, stage2_to([](FlashDecodeStage2Args& a, FlashDecodeStage2Options&) { put(a.b_seqlen, -5, 1); }),
       "flash_decode_stage2: b_seqlen[1] is -5, but mid_out has blocks for 0 to 96 tokens"},
      // A port's invented dimension: mid_out of rank 5.
      {two, stage2_to([](FlashDecodeStage2Args& a, FlashDecodeStage2Options&) {
         a.mid_out = a.mid_out.unsqueeze(4);
       }),
       "flash_decode_stage2: mid_out has shape [3, 2, 3, 16, 1], expected [3, 2, 3, 16] (B H nb D)"},
  });
}

TEST(MergeAttention, RefusesPartsOfDifferentShapes) {
  const char* line = "merge_attention b=2 s=3 h=2 d=16";
  check({
      {line,
       merge_to([](MergeAttentionArgs& a, MergeAttentionOptions&) { a.out_b = a.out_b.slice(3, 0, 8); }),
       "merge_attention: out_b has shape [2, 3, 2, 8], expected [2, 3, 2, 16] (... H Dv)"},
      {line,
       merge_to([](MergeAttentionArgs& a, MergeAttentionOptions&) { a.lse_b = a.lse_b.slice(1, 0, 2); }),
       "merge_attention: lse_b has shape [2, 2, 2], expected [2, 3, 2] (... H)"},
      {line, merge_to([](MergeAttentionArgs& a, MergeAttentionOptions&) { a.out = a.out_b.transpose(1, 2); }),
       "merge_attention: out has shape [2, 2, 3, 16], expected [2, 3, 2, 16] (... H Dv)"},
  });
}

TEST(Attention, RefusesEveryCallOfItsTable) {
  std::vector<BadCall> calls = calls_of_bad_form();
  calls.insert(calls.end(), calls_of_bad_content().begin(), calls_of_bad_content().end());
  ASSERT_FALSE(calls.empty());
  for (const BadCall& bad : calls) {
    Attempt attempt(std::string("attention ") + bad.line + " seed=5");
    bad.spoil(attempt.problem().args<AttentionArgs>(), attempt.problem().options<AttentionOptions>());
    EXPECT_EQ(attempt.refused(bad.name), bad.sentence) << bad.name;
  }
}

TEST(Attention, RefusesInCAChoiceThatDoesNotExist) {
  Attempt attempt("attention b=2 sq=5 sk=9 hq=4 hkv=2 d=16");
  attempt.problem().options<AttentionOptions>().pack_gqa = static_cast<AttentionOptions::Choice>(3);
  EXPECT_EQ(attempt.c(), "attention: pack_gqa is 3, expected 0 to 2");
}

}  // namespace
}  // namespace isomer::bad_input
