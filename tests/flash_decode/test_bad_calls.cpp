// flash_decode, its two stages and merge_attention tried with bad arguments through the public functions:
// each gives its one sentence and leaves every byte of every tensor as it was.
#include <gtest/gtest.h>

#include <isomer/attention.hpp>
#include <isomer/flash_decode.hpp>

#include "oracle/oracle.hpp"

#include <cstdio>
#include <cstring>
#include <limits>

namespace isomer {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

/// The problem of a case line, whose tensors a test then spoils.
struct Call {
  explicit Call(const char* line) : made(oracle::parse_case(line)), problem(made) {
    oracle::find_oracle(made.schema().op)->make(made, problem);
  }

  template <class Function>
  void expect_refused(const char* sentence, Function function) {
    std::vector<std::vector<std::byte>> before;
    for (const auto& buffer : problem.buffers()) before.emplace_back(buffer.base, buffer.base + buffer.bytes);
    try {
      function();
      ADD_FAILURE() << "nothing thrown, expected: " << sentence;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::bad_argument);
      EXPECT_STREQ(error.what(), sentence);
    }
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(std::memcmp(problem.buffers()[i].base, before[i].data(), before[i].size()), 0)
          << problem.buffers()[i].name << " was written";
  }

  oracle::Case made;
  oracle::Problem problem;
};

template <class Args, class Options>
struct Row {
  const char* name;
  void (*change)(Args& args, Options& options);
  const char* sentence;
};
using Decode = Row<FlashDecodeArgs, FlashDecodeOptions>;
using Stage1 = Row<FlashDecodeStage1Args, FlashDecodeStage1Options>;
using Stage2 = Row<FlashDecodeStage2Args, FlashDecodeStage2Options>;
using Merge = Row<MergeAttentionArgs, MergeAttentionOptions>;

template <class Args, class Options, std::size_t N>
void try_all(const char* line, const Row<Args, Options> (&rows)[N],
             void (*entry)(const Queue&, const Args&, const Options&)) {
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    Call call(line);
    Args args = call.problem.args<Args>();
    Options options = call.problem.options<Options>();
    row.change(args, options);
    call.expect_refused(row.sentence, [&] { entry(Queue::cpu(), args, options); });
  }
  std::printf("bad calls of %s: %zu\n", std::string(oracle::op_of(line)).c_str(), N);
}

Tensor last(Tensor tensor, int dim, std::int64_t size) {
  tensor.shape[static_cast<std::size_t>(dim)] = size;
  return tensor;
}

const Decode kDecode[] = {
    {"no q", [](auto& a, auto&) { a.q = {}; }, "flash_decode: q is required, got no tensor"},
    {"dtype of q", [](auto& a, auto&) { a.q.dtype = DType::e4m3fn; },
     "flash_decode: q has dtype e4m3fn, expected f32, f16 or bf16"},
    {"dtype of k", [](auto& a, auto&) { a.k.dtype = a.v.dtype = DType::f16; },
     "flash_decode: k is f16, expected q's dtype f32, or i8"},
    {"int8 without scales", [](auto& a, auto&) { a.k.dtype = a.v.dtype = DType::i8; },
     "flash_decode: k is i8 without k_scale, expected the scales that quantize_copy_kv wrote beside it"},
    {"int8 without v_scale",
     [](auto& a, auto&) {
       a.k_scale = a.k.slice(2, 0, 1);
       a.k.dtype = a.v.dtype = DType::i8;
     },
     "flash_decode: v is i8 without v_scale, expected the scales that quantize_copy_kv wrote beside it"},
    {"scales of f32 keys", [](auto& a, auto&) { a.k_scale = a.k.slice(2, 0, 1); },
     "flash_decode: k_scale is given, but k is f32, expected i8"},
    {"dtype of v", [](auto& a, auto&) { a.v.dtype = DType::bf16; },
     "flash_decode: v has dtype bf16, expected f32 as k"},
    {"dtype of req_to_tokens", [](auto& a, auto&) { a.req_to_tokens.dtype = DType::i64; },
     "flash_decode: req_to_tokens has dtype i64, expected i32"},
    {"dtype of b_seqlen", [](auto& a, auto&) { a.b_seqlen.dtype = DType::f32; },
     "flash_decode: b_seqlen has dtype f32, expected i32 or i64"},
    {"rank of q", [](auto& a, auto&) { a.q = a.q.select(0, 0); },
     "flash_decode: q has shape [4, 16], expected [2, 4, 16] (B Hq D)"},
    {"rank 5", [](auto& a, auto&) { a.k = a.k.unsqueeze(0).unsqueeze(0); },
     "flash_decode: k has shape [1, 1, 22, 2, 16], expected [22, 2, 16] (slots Hkv D)"},
    {"v of fewer slots", [](auto& a, auto&) { a.v = last(a.v, 0, 3); },
     "flash_decode: v has shape [3, 2, 16], expected [22, 2, 16] (slots Hkv D)"},
    {"v of another head dimension", [](auto& a, auto&) { a.v = last(a.v, 2, 8); },
     "flash_decode: v has shape [22, 2, 8], expected [22, 2, 16] (slots Hkv D)"},
    {"batch of b_seqlen", [](auto& a, auto&) { a.b_seqlen = last(a.b_seqlen, 0, 1); },
     "flash_decode: b_seqlen has shape [1], expected [2] (B)"},
    {"batch of out", [](auto& a, auto&) { a.out = last(a.out, 0, 1); },
     "flash_decode: out has shape [1, 4, 16], expected [2, 4, 16] (B Hq D)"},
    {"negative size", [](auto& a, auto&) { a.q = last(a.q, 1, -4); },
     "flash_decode: q has shape [2, -4, 16], expected no negative size"},
    {"huge size", [](auto& a, auto&) { a.k = last(a.k, 0, kHuge); },
     "flash_decode: k has shape [9223372036854775807, 2, 16], which spans more than 2^61 bytes"},
    {"three kv heads",
     [](auto& a, auto&) {
       a.k = Tensor::strided(a.k.data, DType::f32, {4, 3, 16}, {48, 16, 1});
       a.v = Tensor::strided(a.v.data, DType::f32, {4, 3, 16}, {48, 16, 1});
     },
     "flash_decode: k has 3 kv heads, which do not divide 4 query heads"},
    {"no kv heads",
     [](auto& a, auto&) {
       a.k = last(a.k, 1, 0);
       a.v = last(a.v, 1, 0);
     },
     "flash_decode: k has 0 kv heads, which do not divide 4 query heads"},
    {"head dimension 12",
     [](auto& a, auto&) {
       for (Tensor* t : {&a.q, &a.k, &a.v, &a.out}) *t = last(*t, 2, 12);
     },
     "flash_decode: q has head dimension 12, expected a multiple of 8 from 8 to 256"},
    {"head dimension 0",
     [](auto& a, auto&) {
       for (Tensor* t : {&a.q, &a.k, &a.v, &a.out}) *t = last(*t, 2, 0);
     },
     "flash_decode: q has head dimension 0, expected a multiple of 8 from 8 to 256"},
    {"null q", [](auto& a, auto&) { a.q.data = nullptr; },
     "flash_decode: q has null data, expected 128 elements"},
    {"null out", [](auto& a, auto&) { a.out.data = nullptr; },
     "flash_decode: out has null data, expected 128 elements"},
    {"misaligned v", [](auto& a, auto&) { a.v.data = static_cast<char*>(a.v.data) + 1; },
     "flash_decode: v is misaligned: its address must be a multiple of 4 bytes for f32"},
    {"k on a GPU",
     [](auto& a, auto&) {
       a.k.device = {DeviceType::cuda, 0};
     },
     "flash_decode: k is on cuda:0, expected cpu as the queue"},
    {"out is q", [](auto& a, auto&) { a.out = a.q; },
     "flash_decode: out overlaps q in memory, expected an output of its own"},
    {"out in v",
     [](auto& a, auto&) {
       a.out = Tensor(a.v.data, DType::f32, {2, 4, 16});
     },
     "flash_decode: out overlaps v in memory, expected an output of its own"},
    {"out broadcast", [](auto& a, auto&) { a.out.strides[0] = 0; },
     "flash_decode: out is f32[2, 4, 16] strides [0, 16, 1], in which elements overlap; an output needs each "
     "element of its "
     "own"},
    {"block_seq 24", [](auto&, auto& o) { o.block_seq = 24; },
     "flash_decode: block_seq is 24, expected a positive multiple of 16, or 0 for the plan's choice"},
    {"block_seq negative", [](auto&, auto& o) { o.block_seq = -16; },
     "flash_decode: block_seq is -16, expected a positive multiple of 16, or 0 for the plan's choice"},
    {"max_len negative", [](auto&, auto& o) { o.max_len = -1; },
     "flash_decode: max_len is -1, expected a length, or 0 for Lmax"},
    {"scale NaN", [](auto&, auto& o) { o.scale = kNaN; },
     "flash_decode: scale is nan, expected a finite number, or 0 for 1/sqrt(D)"},
    {"scale infinite", [](auto&, auto& o) { o.scale = std::numeric_limits<float>::infinity(); },
     "flash_decode: scale is inf, expected a finite number, or 0 for 1/sqrt(D)"},
    {"negative length", [](auto& a, auto&) { *a.b_seqlen.template at<std::int32_t>(1) = -1; },
     "flash_decode: b_seqlen[1] is -1, expected 0 to 20"},
    {"length beyond Lmax", [](auto& a, auto&) { *a.b_seqlen.template at<std::int32_t>(0) = 21; },
     "flash_decode: b_seqlen[0] is 21, expected 0 to 20"},
    {"length beyond max_len", [](auto&, auto& o) { o.max_len = 16; },
     "flash_decode: b_seqlen[0] is 17, expected 0 to 16"},
    {"request beyond R", [](auto& a, auto&) { *a.b_req_idx.template at<std::int32_t>(0) = 4; },
     "flash_decode: b_req_idx[0] is 4, but req_to_tokens has 4 rows"},
    {"negative request", [](auto& a, auto&) { *a.b_req_idx.template at<std::int32_t>(0) = -1; },
     "flash_decode: b_req_idx[0] is -1, but req_to_tokens has 4 rows"},
    {"slot beyond the last",
     [](auto& a, auto&) {
       *a.b_req_idx.template at<std::int32_t>(0) = 3;
       for (std::int64_t t = 0; t < 17; ++t) *a.req_to_tokens.template at<std::int32_t>(3, t) = 21;
       *a.req_to_tokens.template at<std::int32_t>(3, 16) = 22;
     },
     "flash_decode: req_to_tokens[3, 16] is 22, but k and v have 22 slots"},
    {"negative slot",
     [](auto& a, auto&) {
       *a.b_req_idx.template at<std::int32_t>(0) = 2;
       *a.req_to_tokens.template at<std::int32_t>(2, 0) = -1;
     },
     "flash_decode: req_to_tokens[2, 0] is -1, but k and v have 22 slots"},
};

TEST(FlashDecode, RefusesEveryBadCallWithItsSentence) {
  try_all("flash_decode b=2 d=16 len=17 seed=1", kDecode, &flash_decode);
}

const Stage1 kStage1[] = {
    {"no mid_lse", [](auto& a, auto&) { a.mid_lse = {}; },
     "flash_decode_stage1: mid_lse is required, got no tensor"},
    {"dtype of mid_out", [](auto& a, auto&) { a.mid_out.dtype = DType::f16; },
     "flash_decode_stage1: mid_out has dtype f16, expected f32"},
    {"rank 5 mid_out", [](auto& a, auto&) { a.mid_out = a.mid_out.unsqueeze(3); },
     "flash_decode_stage1: mid_out has shape [2, 4, 2, 1, 16], expected [2, 4, 2, 16] (B Hq nb D)"},
    {"blocks of mid_lse", [](auto& a, auto&) { a.mid_lse = last(a.mid_lse, 2, 1); },
     "flash_decode_stage1: mid_lse has shape [2, 4, 1], expected [2, 4, 2] (B Hq nb)"},
    {"heads of mid_lse", [](auto& a, auto&) { a.mid_lse = last(a.mid_lse, 1, 2); },
     "flash_decode_stage1: mid_lse has shape [2, 2, 2], expected [2, 4, 2] (B Hq nb)"},
    {"mid_lse in mid_out", [](auto& a, auto&) { a.mid_lse.data = a.mid_out.data; },
     "flash_decode_stage1: mid_out overlaps mid_lse in memory, expected an output of its own"},
    {"block_seq 0", [](auto&, auto& o) { o.block_seq = 0; },
     "flash_decode_stage1: block_seq is 0, expected a positive multiple of 16"},
    {"block_seq 8", [](auto&, auto& o) { o.block_seq = 8; },
     "flash_decode_stage1: block_seq is 8, expected a positive multiple of 16"},
    {"max_len negative", [](auto&, auto& o) { o.max_len = -5; },
     "flash_decode_stage1: max_len is -5, expected a length, or 0 for nb·block_seq"},
    {"too few blocks for max_len", [](auto&, auto& o) { o.max_len = 33; },
     "flash_decode_stage1: mid_out has 2 blocks, but max_len 33 needs 3 of 16 tokens"},
    {"too few blocks for the lengths",
     [](auto& a, auto&) {
       a.mid_out = last(a.mid_out, 2, 1);
       a.mid_lse = last(a.mid_lse, 2, 1);
     },
     "flash_decode_stage1: b_seqlen[0] is 17, expected 0 to 16"},
    {"kv heads",
     [](auto& a, auto&) {
       a.k = Tensor::strided(a.k.data, DType::f32, {4, 3, 16}, {48, 16, 1});
       a.v = Tensor::strided(a.v.data, DType::f32, {4, 3, 16}, {48, 16, 1});
     },
     "flash_decode_stage1: k has 3 kv heads, which do not divide 4 query heads"},
    {"request beyond R", [](auto& a, auto&) { *a.b_req_idx.template at<std::int32_t>(0) = INT32_MAX; },
     "flash_decode_stage1: b_req_idx[0] is 2147483647, but req_to_tokens has 4 rows"},
};

TEST(FlashDecodeStage1, RefusesEveryBadCallWithItsSentence) {
  try_all("flash_decode_stage1 b=2 d=16 len=17 block_seq=16 seed=1", kStage1, &flash_decode_stage1);
}

const Stage2 kStage2[] = {
    {"no out", [](auto& a, auto&) { a.out = {}; }, "flash_decode_stage2: out is required, got no tensor"},
    {"dtype of mid_lse", [](auto& a, auto&) { a.mid_lse.dtype = DType::f16; },
     "flash_decode_stage2: mid_lse has dtype f16, expected f32"},
    {"dtype of mid_out", [](auto& a, auto&) { a.mid_out.dtype = DType::i32; },
     "flash_decode_stage2: mid_out has dtype i32, expected f32, f16 or bf16"},
    {"rank 5 mid_out", [](auto& a, auto&) { a.mid_out = a.mid_out.unsqueeze(4); },
     "flash_decode_stage2: mid_out has shape [2, 3, 5, 16, 1], expected [2, 3, 5, 16] (B H nb D)"},
    {"rank 4 mid_lse", [](auto& a, auto&) { a.mid_lse = a.mid_lse.unsqueeze(3); },
     "flash_decode_stage2: mid_lse has shape [2, 3, 5, 1], expected [2, 3, 5] (B H nb)"},
    {"rank 4 out", [](auto& a, auto&) { a.out = a.out.unsqueeze(3); },
     "flash_decode_stage2: out has shape [2, 3, 16, 1], expected [2, 3, 16] (B H D)"},
    {"batch of b_seqlen", [](auto& a, auto&) { a.b_seqlen = last(a.b_seqlen, 0, 1); },
     "flash_decode_stage2: b_seqlen has shape [1], expected [2] (B)"},
    {"block_seq 0", [](auto&, auto& o) { o.block_seq = 0; },
     "flash_decode_stage2: block_seq is 0, expected a positive number of tokens"},
    {"block_seq negative", [](auto&, auto& o) { o.block_seq = -32; },
     "flash_decode_stage2: block_seq is -32, expected a positive number of tokens"},
    {"negative length", [](auto& a, auto&) { *a.b_seqlen.template at<std::int32_t>(0) = -3; },
     "flash_decode_stage2: b_seqlen[0] is -3, but mid_out has blocks for 0 to 160 tokens"},
    {"length beyond the blocks", [](auto& a, auto&) { *a.b_seqlen.template at<std::int32_t>(1) = 161; },
     "flash_decode_stage2: b_seqlen[1] is 161, but mid_out has blocks for 0 to 160 tokens"},
    {"out in mid_out", [](auto& a, auto&) { a.out.data = a.mid_out.data; },
     "flash_decode_stage2: out overlaps mid_out in memory, expected an output of its own"},
    {"null mid_lse", [](auto& a, auto&) { a.mid_lse.data = nullptr; },
     "flash_decode_stage2: mid_lse has null data, expected 30 elements"},
};

TEST(FlashDecodeStage2, RefusesEveryBadCallWithItsSentence) {
  try_all("flash_decode_stage2 b=2 d=16 seed=1", kStage2, &flash_decode_stage2);
}

const Merge kMerge[] = {
    {"no lse_b", [](auto& a, auto&) { a.lse_b = {}; }, "merge_attention: lse_b is required, got no tensor"},
    {"dtype of out_a", [](auto& a, auto&) { a.out_a.dtype = DType::e5m2; },
     "merge_attention: out_a has dtype e5m2, expected f32, f16 or bf16"},
    {"dtype of out_b", [](auto& a, auto&) { a.out_b.dtype = DType::f16; },
     "merge_attention: out_b has dtype f16, expected f32 as out_a"},
    {"dtype of lse", [](auto& a, auto&) { a.lse.dtype = DType::f64; },
     "merge_attention: lse has dtype f64, expected f32"},
    {"rank of out_a", [](auto& a, auto&) { a.out_a = Tensor(a.out_a.data, DType::f32, {16}); },
     "merge_attention: out_a has shape [16], expected [2, 5, 3, 16] (... H Dv)"},
    {"heads before positions", [](auto& a, auto&) { a.lse_a = a.lse_a.transpose(1, 2); },
     "merge_attention: lse_a has shape [2, 3, 5], expected [2, 5, 3] (... H)"},
    {"heads of out_b", [](auto& a, auto&) { a.out_b = last(a.out_b, 2, 2); },
     "merge_attention: out_b has shape [2, 5, 2, 16], expected [2, 5, 3, 16] (... H Dv)"},
    {"stride of out", [](auto& a, auto&) { a.out = a.out.transpose(2, 3); },
     "merge_attention: out has shape [2, 5, 16, 3], expected [2, 5, 3, 16] (... H Dv)"},
    {"last stride of out_b", [](auto& a, auto&) { a.out_b.strides[3] = 2; },
     "merge_attention: out_b has stride 2 in its last dimension, expected 1"},
    {"out is out_b", [](auto& a, auto&) { a.out = a.out_b; },
     "merge_attention: out overlaps out_b in memory, expected an output of its own"},
    {"out is a part of out_a", [](auto& a, auto&) { a.out.data = static_cast<float*>(a.out_a.data) + 16; },
     "merge_attention: out overlaps out_a in memory, expected an output of its own"},
    {"lse is lse_b", [](auto& a, auto&) { a.lse = a.lse_b; },
     "merge_attention: lse overlaps lse_b in memory, expected an output of its own"},
    {"lse in out", [](auto& a, auto&) { a.lse.data = a.out.data; },
     "merge_attention: out overlaps lse in memory, expected an output of its own"},
    {"lse broadcast", [](auto& a, auto&) { a.lse.strides[0] = 0; },
     "merge_attention: lse is f32[2, 5, 3] strides [0, 1, 5], in which elements overlap; an output needs "
     "each element of its "
     "own"},
};

TEST(MergeAttention, RefusesEveryBadCallWithItsSentence) {
  try_all("merge_attention d=16 seed=1", kMerge, &merge_attention);
}

}  // namespace
}  // namespace isomer
