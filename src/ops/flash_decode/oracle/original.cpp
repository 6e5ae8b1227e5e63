#include "core/ceil_div.hpp"
#include "ops/flash_decode/flash_decode.hpp"
#include "ops/flash_decode/oracle/oracle.hpp"

#include <cmath>

namespace isomer::ops::flash_decode {
namespace {

using oracle::Original;
using Reads = Original::Reads;

std::int64_t whole(double number) { return static_cast<std::int64_t>(number); }

std::vector<Original::Parameter> inputs() {
  return {
      {.name = "q", .argument = "q", .reads = Reads::outer_strides, .field = "dtype", .also = "Q query"},
      {.name = "k", .argument = "k", .reads = Reads::outer_strides, .field = "dtype", .also = "K key"},
      {.name = "v", .argument = "v", .reads = Reads::outer_strides, .field = "dtype", .also = "V value"},
      {.name = "Req_to_tokens",
       .argument = "req_to_tokens",
       .index = true,
       .reads = Reads::outer_strides,
       .also = "req_to_tokens req_to_token"},
      {.name = "B_req_idx", .argument = "b_req_idx", .index = true, .field = "index", .also = "b_req_idx"},
      {.name = "B_Seqlen",
       .argument = "b_seqlen",
       .index = true,
       .field = "index",
       .also = "b_seqlen seqlen b_seq_len seqlens context_lens seq_lens lens lengths"}};
}

/// Where k always has as many heads as q, nothing is asked of grouped ones.
Original::Feature grouped_heads() {
  return {"hkv", [](const core::Call& call) { return call.tensor(0).size(1) != call.tensor(1).size(1); }};
}

/// Many kernels are written for one.
Original::Sayable head_size() {
  return {.field = "d", .names = "d|hd|dh|.*(dim|d_|_d|head_?size).*", .values = {"64", "128"}};
}

double longest(const Tensor& b_seqlen) {
  std::int64_t most = 0;
  for (std::int64_t b = 0; b < b_seqlen.size(0); ++b) most = std::max(most, index_at(b_seqlen, b));
  return static_cast<double>(most);
}

Original::Parameter longest_parameter() {
  return {.name = "max_len_in_batch",
          .argument = "max_len",
          .kind = Original::Kind::integer,
          .also = "max_len max_input_len"};
}

constexpr const char* kNamesOfLse =
    "mid_out_logsumexp mid_out_logexpsum mid_lse mid_o_logexpsum Mid_O_LogExpSum mid_o_logsumexp lse";

constexpr const char* kNamesOfBlocks =
    "BLOCK_SEQ block_size partition_size split_size chunk_size seq_block_size seq_block";

/// Sequences without tokens or without weight, where the original gives NaN.
std::vector<std::vector<std::uint8_t>> without_weight(const oracle::Expected& plain, std::size_t rows,
                                                      const std::function<bool(std::size_t)>& weightless) {
  std::vector<std::vector<std::uint8_t>> marks;
  for (const oracle::ExpectedTensor& tensor : plain.tensors) {
    marks.emplace_back(tensor.value.size());
    const std::size_t row = rows == 0 ? 0 : tensor.value.size() / rows;
    for (std::size_t i = 0; i < tensor.value.size(); ++i) marks.back()[i] = weightless(i / row);
  }
  return marks;
}

Original fused() {
  Original original = {.op = "flash_decode",
                       .functions = {"flash_decode", "token_decode_attention_flash_decoding"},
                       .parameters = inputs(),
                       .bind =
                           [](oracle::Problem& problem, const std::vector<Tensor>& t,
                              const std::vector<double>& numbers, DType) {
                             auto& args = problem.args<FlashDecodeArgs>();
                             args = {t[0], t[1], t[2], t[3], t[4], t[5], t[6]};
                             problem.options<FlashDecodeOptions>().block_seq = whole(numbers[7]);
                             problem.bind(bind(args, problem.options<FlashDecodeOptions>()));
                           },
                       .number =
                           [](const core::Call& call, std::string_view) {
                             return static_cast<double>(call.options<FlashDecodeOptions>().block_seq);
                           },
                       .probes = {"b=3 hq=4 hkv=2 d=16 len=40 block_seq=16 lengths=full",
                                  "b=2 hq=2 hkv=1 d=16 len=54 block_seq=32 lengths=full",
                                  "b=2 hq=4 hkv=2 d=16 len=37 block_seq=16 lengths=full v_layout=padded",
                                  "b=2 hq=2 hkv=1 d=16 len=30 block_seq=16 lengths=full q_scale=60",
                                  "b=4 hq=4 hkv=2 d=16 len=17 block_seq=16 lengths=full q_scale=400",
                                  "b=1 hq=2 hkv=1 d=16 len=300 block_seq=256 lengths=full",
                                  "b=4 hq=2 hkv=1 d=16 len=20 block_seq=16"},
                       .sizes = {"b=1 hq=2 hkv=1 d=16 block_seq=16 lengths=full len="},
                       .sayable = {head_size()},
                       .empties = {"b=0 d=16 block_seq=16"},
                       .usual = {{{"dtype", DType::f16}}, {{"dtype", DType::f32}}, {{"dtype", DType::bf16}}},
                       .larger = {"b=2 hq=2 hkv=1 d=128 len=21 block_seq=16 lengths=full",
                                  "b=2 hq=2 hkv=1 d=64 len=21 block_seq=16 lengths=full",
                                  "b=1 hq=32 hkv=8 d=16 len=21 block_seq=16 lengths=full"},
                       .seldom = {"b=2 hq=2 hkv=1 d=256 len=21 block_seq=16 lengths=full"}};
  original.parameters.push_back({.name = "Out",
                                 .argument = "out",
                                 .output = true,
                                 .reads = Reads::outer_strides,
                                 .field = "out",
                                 .also = "out o output"});
  original.parameters.push_back({.name = "block_seq",
                                 .argument = "block_seq",
                                 .kind = Original::Kind::integer,
                                 .optional = true,
                                 .fallback = 256});
  original.features = {grouped_heads()};
  original.open = [](const core::Call& call, const oracle::Expected& plain) {
    const auto& args = call.args<FlashDecodeArgs>();
    const auto heads = static_cast<std::size_t>(args.q.size(1));
    return without_weight(plain, static_cast<std::size_t>(args.q.size(0)) * heads, [&](std::size_t row) {
      return index_at(args.b_seqlen, static_cast<std::int64_t>(row / heads)) == 0;
    });
  };
  return original;
}

/// Both stages in one call, their callers lending the memory for what lies between.
Original with_lent_blocks() {
  Original original = fused();
  const Original::Parameter out = original.parameters[6], block_seq = original.parameters[7];
  original.parameters.resize(6);
  const auto blocks = [](const core::Call& call) {
    const auto& options = call.options<FlashDecodeOptions>();
    const double most = options.max_len > 0 ? static_cast<double>(options.max_len)
                                            : longest(call.args<FlashDecodeArgs>().b_seqlen);
    return whole(most) / std::max<std::int64_t>(1, options.block_seq) + 1;
  };
  original.parameters.push_back(longest_parameter());
  original.parameters.push_back({.name = "mid_out",
                                 .argument = "mid_out",
                                 .output = true,
                                 .reads = Reads::outer_strides,
                                 .also = "mid_o Mid_O",
                                 .lent = [blocks](const core::Call& call) -> std::vector<std::int64_t> {
                                   const Tensor& q = call.args<FlashDecodeArgs>().q;
                                   return {q.size(0), q.size(1), blocks(call), q.size(2)};
                                 }});
  original.parameters.push_back({.name = "mid_out_logexpsum",
                                 .argument = "mid_lse",
                                 .output = true,
                                 .reads = Reads::outer_strides,
                                 .also = kNamesOfLse,
                                 .lent = [blocks](const core::Call& call) -> std::vector<std::int64_t> {
                                   const Tensor& q = call.args<FlashDecodeArgs>().q;
                                   return {q.size(0), q.size(1), blocks(call)};
                                 }});
  original.parameters.push_back(out);
  original.parameters.push_back(block_seq);
  original.parameters.back().optional = false;
  original.bind = [](oracle::Problem& problem, const std::vector<Tensor>& t,
                     const std::vector<double>& numbers, DType) {
    auto& args = problem.args<FlashDecodeArgs>();
    args = {t[0], t[1], t[2], t[3], t[4], t[5], t[9]};
    auto& options = problem.options<FlashDecodeOptions>();
    options.max_len = whole(numbers[6]);
    options.block_seq = whole(numbers[10]);
    problem.bind(bind(args, options));
  };
  original.number = [](const core::Call& call, std::string_view option) {
    const auto& options = call.options<FlashDecodeOptions>();
    if (option == "block_seq") return static_cast<double>(options.block_seq);
    return options.max_len > 0 ? static_cast<double>(options.max_len)
                               : longest(call.args<FlashDecodeArgs>().b_seqlen);
  };
  return original;
}

}  // namespace

std::vector<Original> originals() { return {fused(), with_lent_blocks()}; }

std::vector<Original> stage1::originals() {
  Original original = {.op = "flash_decode_stage1",
                       .functions = {"flash_decode_stage1"},
                       .parameters = inputs(),
                       .bind =
                           [](oracle::Problem& problem, const std::vector<Tensor>& t,
                              const std::vector<double>& numbers, DType) {
                             auto& args = problem.args<FlashDecodeStage1Args>();
                             auto& options = problem.options<FlashDecodeStage1Options>();
                             args = {t[0], t[1], t[2], t[3], t[4], t[5], t[7], t[8]};
                             options.max_len = whole(numbers[6]);
                             options.block_seq = whole(numbers[9]);
                             problem.bind(stage1::bind(args, options));
                           },
                       .number =
                           [](const core::Call& call, std::string_view option) {
                             const auto& options = call.options<FlashDecodeStage1Options>();
                             if (option == "block_seq") return static_cast<double>(options.block_seq);
                             if (options.max_len > 0) return static_cast<double>(options.max_len);
                             return longest(call.args<FlashDecodeStage1Args>().b_seqlen);
                           },
                       .probes = {"b=3 hq=4 hkv=2 d=16 len=40 block_seq=16 lengths=full",
                                  "b=2 hq=2 hkv=1 d=16 len=54 block_seq=32 lengths=full",
                                  "b=2 hq=4 hkv=2 d=16 len=37 block_seq=16 lengths=full v_layout=padded",
                                  "b=2 hq=2 hkv=1 d=16 len=30 block_seq=16 lengths=full q_scale=60",
                                  "b=4 hq=4 hkv=2 d=16 len=17 block_seq=16 lengths=full q_scale=400",
                                  "b=1 hq=2 hkv=1 d=16 len=300 block_seq=256 lengths=full",
                                  "b=4 hq=2 hkv=1 d=16 len=40 block_seq=16"},
                       .sizes = {"b=1 hq=2 hkv=1 d=16 block_seq=16 lengths=full len="},
                       .sayable = {head_size()},
                       .empties = {"b=0 d=16 block_seq=16"},
                       .usual = {{{"dtype", DType::f16}}, {{"dtype", DType::f32}}, {{"dtype", DType::bf16}}},
                       .larger = {"b=2 hq=2 hkv=1 d=128 len=21 block_seq=16 lengths=full",
                                  "b=2 hq=2 hkv=1 d=64 len=21 block_seq=16 lengths=full",
                                  "b=1 hq=32 hkv=8 d=16 len=21 block_seq=16 lengths=full"},
                       .seldom = {"b=2 hq=2 hkv=1 d=256 len=21 block_seq=16 lengths=full"}};
  original.parameters.push_back(longest_parameter());
  original.parameters.push_back({.name = "mid_out",
                                 .argument = "mid_out",
                                 .output = true,
                                 .reads = Reads::outer_strides,
                                 .also = "mid_o Mid_O"});
  original.parameters.push_back({.name = "mid_out_logsumexp",
                                 .argument = "mid_lse",
                                 .output = true,
                                 .reads = Reads::outer_strides,
                                 .also = kNamesOfLse});
  original.parameters.push_back({.name = "block_seq",
                                 .argument = "block_seq",
                                 .kind = Original::Kind::integer,
                                 .also = kNamesOfBlocks});
  original.features = {grouped_heads()};
  // More than one tile of keys in a block.
  original.probes.emplace_back("b=1 hq=2 hkv=1 d=16 len=75 block_seq=64 lengths=full");
  return {original};
}

std::vector<Original> stage2::originals() {
  Original original = {.op = "flash_decode_stage2",
                       .functions = {"flash_decode_stage2"},
                       .parameters = {{.name = "mid_out",
                                       .argument = "mid_out",
                                       .reads = Reads::outer_strides,
                                       .field = "dtype",
                                       .also = "mid_o Mid_O"},
                                      {.name = "mid_out_logexpsum",
                                       .argument = "mid_lse",
                                       .reads = Reads::outer_strides,
                                       .also = kNamesOfLse},
                                      {.name = "B_Seqlen",
                                       .argument = "b_seqlen",
                                       .index = true,
                                       .field = "index",
                                       .also = "b_seqlen seqlen seqlens context_lens seq_lens lens lengths"},
                                      {.name = "Out",
                                       .argument = "out",
                                       .output = true,
                                       .reads = Reads::outer_strides,
                                       .field = "out",
                                       .also = "out o O output"},
                                      {.name = "block_seq",
                                       .argument = "block_seq",
                                       .kind = Original::Kind::integer,
                                       .also = kNamesOfBlocks}},
                       .bind =
                           [](oracle::Problem& problem, const std::vector<Tensor>& t,
                              const std::vector<double>& numbers, DType) {
                             auto& args = problem.args<FlashDecodeStage2Args>();
                             args = {t[0], t[1], t[2], t[3]};
                             problem.options<FlashDecodeStage2Options>().block_seq = whole(numbers[4]);
                             problem.bind(stage2::bind(args, problem.options<FlashDecodeStage2Options>()));
                           },
                       .number =
                           [](const core::Call& call, std::string_view) {
                             return static_cast<double>(call.options<FlashDecodeStage2Options>().block_seq);
                           },
                       .probes = {"b=3 h=3 nb=4 d=32 lengths=full", "b=4 h=2 nb=5 d=32 lse_scale=3",
                                  "b=4 h=2 nb=3 d=32 lse_shift=200", "b=4 h=2 nb=3 d=32 lse_shift=-200",
                                  "b=3 h=2 nb=4 d=32 lengths=full lse_scale=8 block_seq=16",
                                  "b=2 h=2 nb=3 d=32 lengths=full weightless=first",
                                  "b=2 h=2 nb=3 d=32 lengths=full weightless=all"},
                       .sizes = {"b=2 h=2 nb=3 lengths=full d=", "b=2 h=1 d=32 lengths=full nb="},
                       .empties = {"b=0 d=32"},
                       .usual = {{{"dtype", DType::f32}, {"out", DType::f32}},
                                 {{"dtype", DType::f16}, {"out", DType::f16}},
                                 {{"dtype", DType::f32}, {"out", DType::f16}}}};
  original.open = [](const core::Call& call, const oracle::Expected& plain) {
    const auto& args = call.args<FlashDecodeStage2Args>();
    const std::int64_t heads = args.mid_lse.size(1), nb = args.mid_lse.size(2);
    const std::int64_t block_seq = call.options<FlashDecodeStage2Options>().block_seq;
    return without_weight(
        plain, static_cast<std::size_t>(args.mid_lse.size(0) * heads), [&](std::size_t row) {
          const auto b = static_cast<std::int64_t>(row) / heads, h = static_cast<std::int64_t>(row) % heads;
          const std::int64_t count = std::min(nb, core::ceil_div(index_at(args.b_seqlen, b), block_seq));
          // The original's first comparison with a block of weight 0 is −inf − −inf.
          return count == 0 || std::isinf(oracle::read(args.mid_lse, b, h, std::int64_t{0}));
        });
  };
  return {original};
}

}  // namespace isomer::ops::flash_decode
