#include "core/ceil_div.hpp"
#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "ops/flash_decode/flash_decode.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::flash_decode {
namespace {

using core::Call;
using core::Clause;
using core::say;
using Broken = std::optional<std::string>;

const std::vector<DType> kFloats = {DType::f32, DType::f16, DType::bf16};
const std::vector<DType> kCached = {DType::f32, DType::f16, DType::bf16, DType::i8};
const std::vector<DType> kIndices = {DType::i32, DType::i64};
constexpr char kTolerance[] =
    "u_out·|ref| + min(u_P·Σp|v|, 6·u_P·√Σp²v²) + 2^-20·max(1, max|S|)·Σp|v| + Σmin(p, h_P/l)|v|, "
    "u_P and h_P of the input's type, l = Σe^(S − max S): h_P = 2^-25 f16, 2^-126 bf16 and f32";

template <class Args, class Options>
Inputs inputs(const Call& call) {
  return inputs_of(call.args<Args>(), call.options<Options>());
}

/// What both entries with a first stage read, and what they write.
template <class Args, class CArgs, class... Outputs>
std::vector<core::Arg> input_args(Outputs... outputs) {
  using core::Strides;
  return core::args<Args, CArgs>(
      core::tensor<&Args::q, &CArgs::q>({.dtypes = kFloats,
                                         .shapes = {"B Hq D"},
                                         .strides = Strides::any,
                                         .meaning = "one query per sequence and head"}),
      core::tensor<&Args::k, &CArgs::k>(
          {.dtypes = kCached, .shapes = {"slots Hkv D"}, .strides = Strides::any, .meaning = "keys by slot"}),
      core::tensor<&Args::v, &CArgs::v>({.dtypes = kCached,
                                         .shapes = {"slots Hkv D"},
                                         .strides = Strides::any,
                                         .meaning = "values by slot",
                                         .dtype_same_as = "k"}),
      core::tensor<&Args::req_to_tokens, &CArgs::req_to_tokens>(
          {.dtypes = {DType::i32},
           .shapes = {"R Lmax"},
           .strides = Strides::any,
           .meaning = "slot of each token of a request"}),
      core::tensor<&Args::b_req_idx, &CArgs::b_req_idx>({.dtypes = kIndices,
                                                         .shapes = {"B"},
                                                         .strides = Strides::any,
                                                         .meaning = "request of each sequence"}),
      core::tensor<&Args::b_seqlen, &CArgs::b_seqlen>({.dtypes = kIndices,
                                                       .shapes = {"B"},
                                                       .strides = Strides::any,
                                                       .meaning = "tokens of each sequence"}),
      std::move(outputs)...,
      core::tensor<&Args::k_scale, &CArgs::k_scale>(
          {.optional = true,
           .dtypes = kFloats,
           .shapes = {"slots Hkv 1", "slots Hkv D/8", "slots Hkv"},
           .strides = Strides::any,
           .meaning = "multiplies int8 k: of a row, or of each 8 channels"}),
      core::tensor<&Args::v_scale, &CArgs::v_scale>(
          {.optional = true,
           .dtypes = kFloats,
           .shapes = {"slots Hkv 1", "slots Hkv D/8", "slots Hkv"},
           .strides = Strides::any,
           .meaning = "multiplies int8 v: of a row, or of each 8 channels",
           .dtype_same_as = "k_scale"}));
}

/// Rules on what both entries with a first stage read. `most` gives the longest length that the call has room
/// for.
std::vector<Clause> input_clauses(Inputs (*of)(const Call&), std::int64_t (*most)(const Call&)) {
  return {{.text = "Hkv divides Hq",
           .broken = [of](const Call& call) -> Broken {
             const Inputs in = of(call);
             const std::int64_t hq = in.q.size(1), hkv = in.k.size(1);
             if (hkv > 0 ? hq % hkv == 0 : hq == 0) return std::nullopt;
             return say("k has ", hkv, " kv heads, which do not divide ", hq, " query heads");
           }},
          {.text = "D is a multiple of 8 from 8 to 256",
           .broken = [of](const Call& call) -> Broken {
             const std::int64_t d = of(call).q.size(2);
             if (d >= 8 && d <= 256 && d % 8 == 0) return std::nullopt;
             return say("q has head dimension ", d, ", expected a multiple of 8 from 8 to 256");
           }},
          {.text = "k is of q's dtype, or int8 with k_scale and v_scale",
           .broken = [of](const Call& call) -> Broken {
             const Inputs in = of(call);
             const bool bytes = in.k.dtype == DType::i8;
             if (!bytes && in.k.dtype != in.q.dtype)
               return say("k is ", name_of(in.k.dtype), ", expected q's dtype ", name_of(in.q.dtype),
                          ", or i8");
             const std::pair<const char*, const Tensor*> scales[] = {{"k", &in.k_scale}, {"v", &in.v_scale}};
             for (const auto& [of_what, scale] : scales)
               if (scale->defined() != bytes)
                 return bytes ? say(of_what, " is i8 without ", of_what,
                                    "_scale, expected the scales that quantize_copy_kv wrote beside it")
                              : say(of_what, "_scale is given, but ", of_what, " is ", name_of(in.k.dtype),
                                    ", expected i8");
             return std::nullopt;
           }},
          {.text = "scale is finite",
           .broken = [of](const Call& call) -> Broken {
             if (std::isfinite(of(call).scale)) return std::nullopt;
             return say("scale is ", of(call).scale, ", expected a finite number, or 0 for 1/sqrt(D)");
           }},
          {.text = "0 <= b_seqlen[b] <= the longest that Lmax, max_len and nb·block_seq allow",
           .broken = [of, most](const Call& call) -> Broken {
             const Inputs in = of(call);
             const std::int64_t limit = most(call);
             for (std::int64_t b = 0; b < in.b_seqlen.size(0); ++b) {
               const std::int64_t length = index_at(in.b_seqlen, b);
               if (length < 0 || length > limit)
                 return say("b_seqlen[", b, "] is ", length, ", expected 0 to ", limit);
             }
             return std::nullopt;
           },
           .reads_data = true},
          {.text = "0 <= b_req_idx[b] < R where b_seqlen[b] > 0",
           .broken = [of](const Call& call) -> Broken {
             const Inputs in = of(call);
             for (std::int64_t b = 0; b < in.b_seqlen.size(0); ++b) {
               const std::int64_t request = index_at(in.b_req_idx, b);
               if (index_at(in.b_seqlen, b) > 0 && (request < 0 || request >= in.req_to_tokens.size(0)))
                 return say("b_req_idx[", b, "] is ", request, ", but req_to_tokens has ",
                            in.req_to_tokens.size(0), " rows");
             }
             return std::nullopt;
           },
           .reads_data = true},
          {.text = "0 <= req_to_tokens[request, t] < slots for every token t of a sequence",
           .broken = [of](const Call& call) -> Broken {
             const Inputs in = of(call);
             const std::int64_t slots = in.k.size(0);
             for (std::int64_t b = 0; b < in.b_seqlen.size(0); ++b) {
               const std::int64_t length = index_at(in.b_seqlen, b);
               const std::int64_t request = length > 0 ? index_at(in.b_req_idx, b) : 0;
               for (std::int64_t t = 0; t < length; ++t) {
                 const std::int32_t slot = *in.req_to_tokens.at<const std::int32_t>(request, t);
                 if (slot < 0 || slot >= slots)
                   return say("req_to_tokens[", request, ", ", t, "] is ", slot, ", but k and v have ", slots,
                              " slots");
               }
             }
             return std::nullopt;
           },
           .reads_data = true}};
}

Clause blocks_of_16(std::int64_t (*block_seq)(const Call&), bool may_be_zero) {
  return {.text = may_be_zero ? "block_seq is 0 or a positive multiple of 16"
                              : "block_seq is a positive multiple of 16",
          .broken = [=](const Call& call) -> Broken {
            const std::int64_t block = block_seq(call);
            if ((block > 0 && block % 16 == 0) || (block == 0 && may_be_zero)) return std::nullopt;
            return say("block_seq is ", block, ", expected a positive multiple of 16",
                       may_be_zero ? ", or 0 for the plan's choice" : "");
          }};
}

/// a·b, or the largest int64 where that is less.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

/// Keys and values that the call reads: by its lengths where the host can see them, else by the longest there
/// can be.
core::Work input_work(const Inputs& in, std::int64_t most) {
  double tokens = 0;
  for (std::int64_t b = 0; b < in.b_seqlen.size(0); ++b)
    tokens +=
        static_cast<double>(in.b_seqlen.device.type == DeviceType::cpu ? index_at(in.b_seqlen, b) : most);
  const double row = static_cast<double>(in.k.size(1)) * static_cast<double>(in.k.size(2));
  return {.bytes = tokens * (2.0 * row * size_of(in.k.dtype) + 4.0) + core::bytes_of(in.q),
          .flops = tokens * 4.0 * static_cast<double>(in.q.size(1)) * static_cast<double>(in.q.size(2))};
}

}  // namespace

const core::Contract& contract() {
  using Args = FlashDecodeArgs;
  using CArgs = isomer_flash_decode_args;
  using Options = FlashDecodeOptions;
  using COptions = isomer_flash_decode_options;
  const auto of = &inputs<FlashDecodeArgs, FlashDecodeOptions>;
  const auto most = +[](const Call& call) {
    const std::int64_t room = call.args<FlashDecodeArgs>().req_to_tokens.size(1);
    const std::int64_t max_len = call.options<FlashDecodeOptions>().max_len;
    return max_len > 0 ? std::min(room, max_len) : room;
  };
  static const core::Contract contract = [&] {
    core::Contract c;
    c.op = "flash_decode";
    c.summary =
        "out[b, h] = softmax(scale·q·kᵀ)·v over the tokens that req_to_tokens names, split into blocks and "
        "merged";
    c.source = "lightllm flash_decoding (llama); len 0 gives 0, v by its own strides, every stride honoured";
    c.args = input_args<Args, CArgs>(core::tensor<&Args::out, &CArgs::out>({.role = core::Role::out,
                                                                            .dtypes = kFloats,
                                                                            .shapes = {"B Hq D"},
                                                                            .strides = core::Strides::any,
                                                                            .meaning = "result"}));
    c.options = core::options<Options, COptions>(
        core::option<&Options::block_seq, &COptions::block_seq>(
            "tokens of one block, a multiple of 16; 0: the plan decides"),
        core::option<&Options::max_len, &COptions::max_len>("an upper bound of b_seqlen; 0: Lmax"),
        core::option<&Options::scale, &COptions::scale>("multiplies q·k; 0: 1/sqrt(D)"));
    c.clauses = {blocks_of_16(
                     +[](const Call& call) { return call.options<FlashDecodeOptions>().block_seq; }, true),
                 {.text = "max_len is not negative", .broken = [](const Call& call) -> Broken {
                    const std::int64_t max_len = call.options<FlashDecodeOptions>().max_len;
                    if (max_len >= 0) return std::nullopt;
                    return say("max_len is ", max_len, ", expected a length, or 0 for Lmax");
                  }}};
    for (Clause& clause : input_clauses(of, most)) c.clauses.push_back(std::move(clause));
    c.tolerance = kTolerance;
    c.work = [=](const Call& call) {
      core::Work work = input_work(of(call), most(call));
      work.bytes += core::bytes_of(call.args<FlashDecodeArgs>().out);
      return work;
    };
    return core::finish(std::move(c));
  }();
  return contract;
}

core::Call bind(const FlashDecodeArgs& a, const FlashDecodeOptions& options) {
  return core::bind(contract(), a, options);
}

const core::Contract& stage1::contract() {
  using Args = FlashDecodeStage1Args;
  using CArgs = isomer_flash_decode_stage1_args;
  using Options = FlashDecodeStage1Options;
  using COptions = isomer_flash_decode_stage1_options;
  const auto of = &inputs<FlashDecodeStage1Args, FlashDecodeStage1Options>;
  const auto most = +[](const Call& call) {
    const auto& args = call.args<FlashDecodeStage1Args>();
    const auto& options = call.options<FlashDecodeStage1Options>();
    const std::int64_t room =
        std::min(args.req_to_tokens.size(1), times(args.mid_lse.size(2), options.block_seq));
    return options.max_len > 0 ? std::min(room, options.max_len) : room;
  };
  static const core::Contract contract = [&] {
    core::Contract c;
    c.op = "flash_decode_stage1";
    c.summary = "per block of block_seq tokens: mid_out = softmax(S)·v, mid_lse = ln Σ e^S, S = scale·q·kᵀ";
    c.source = "lightllm flash_decode_stage1 (llama); v by its own strides, every stride honoured";
    c.args = input_args<Args, CArgs>(
        core::tensor<&Args::mid_out, &CArgs::mid_out>(
            {.role = core::Role::out,
             .dtypes = {DType::f32},
             .shapes = {"B Hq nb D"},
             .strides = core::Strides::any,
             .meaning = "result of each block; a block without tokens stays untouched"}),
        core::tensor<&Args::mid_lse, &CArgs::mid_lse>(
            {.role = core::Role::out,
             .dtypes = {DType::f32},
             .shapes = {"B Hq nb"},
             .strides = core::Strides::any,
             .meaning = "natural-log denominator of each block; likewise"}));
    c.options = core::options<Options, COptions>(
        core::option<&Options::block_seq, &COptions::block_seq>("tokens of one block, a multiple of 16"),
        core::option<&Options::max_len, &COptions::max_len>("an upper bound of b_seqlen; 0: nb·block_seq"),
        core::option<&Options::scale, &COptions::scale>("multiplies q·k; 0: 1/sqrt(D)"));
    c.clauses = {
        blocks_of_16(
            +[](const Call& call) { return call.options<FlashDecodeStage1Options>().block_seq; }, false),
        {.text = "nb >= ceil(max_len/block_seq)", .broken = [](const Call& call) -> Broken {
           const auto& options = call.options<FlashDecodeStage1Options>();
           const std::int64_t nb = call.args<FlashDecodeStage1Args>().mid_lse.size(2);
           if (options.max_len < 0)
             return say("max_len is ", options.max_len, ", expected a length, or 0 for nb·block_seq");
           const std::int64_t needed = core::ceil_div(options.max_len, options.block_seq);
           if (needed <= nb) return std::nullopt;
           return say("mid_out has ", nb, " blocks, but max_len ", options.max_len, " needs ", needed, " of ",
                      options.block_seq, " tokens");
         }}};
    for (Clause& clause : input_clauses(of, most)) c.clauses.push_back(std::move(clause));
    c.tolerance = std::string(kTolerance) + "; mid_lse: 2^-24·|ref| + 2^-20·max(1, max scale·Σ|q·k|)";
    c.work = [=](const Call& call) {
      const auto& args = call.args<FlashDecodeStage1Args>();
      core::Work work = input_work(of(call), most(call));
      work.bytes += core::bytes_of(args.mid_out) + core::bytes_of(args.mid_lse);
      return work;
    };
    return core::finish(std::move(c));
  }();
  return contract;
}

core::Call stage1::bind(const FlashDecodeStage1Args& a, const FlashDecodeStage1Options& options) {
  return core::bind(stage1::contract(), a, options);
}

const core::Contract& stage2::contract() {
  using Args = FlashDecodeStage2Args;
  using CArgs = isomer_flash_decode_stage2_args;
  using Options = FlashDecodeStage2Options;
  using COptions = isomer_flash_decode_stage2_options;
  static const core::Contract contract = [&] {
    core::Contract c;
    c.op = "flash_decode_stage2";
    c.summary =
        "out = Σ e^(lse_j − m)·mid_out_j / Σ e^(lse_j − m) over the ceil(b_seqlen/block_seq) blocks of a row";
    c.source =
        "lightllm flash_decode_stage2 (llama), TritonBench flash_decode2_llama.py and flash_decode2_phi.py; "
        "a row without weight gives 0, every stride honoured";
    c.args = core::args<Args, CArgs>(
        core::tensor<&Args::mid_out, &CArgs::mid_out>({.dtypes = kFloats,
                                                       .shapes = {"B H nb D"},
                                                       .strides = core::Strides::any,
                                                       .meaning = "result of each block"}),
        core::tensor<&Args::mid_lse, &CArgs::mid_lse>(
            {.dtypes = {DType::f32},
             .shapes = {"B H nb"},
             .strides = core::Strides::any,
             .meaning = "natural-log weight of each block; −inf weighs nothing"}),
        core::tensor<&Args::b_seqlen, &CArgs::b_seqlen>({.dtypes = kIndices,
                                                         .shapes = {"B"},
                                                         .strides = core::Strides::any,
                                                         .meaning = "tokens of each sequence"}),
        core::tensor<&Args::out, &CArgs::out>({.role = core::Role::out,
                                               .dtypes = kFloats,
                                               .shapes = {"B H D"},
                                               .strides = core::Strides::any,
                                               .meaning = "result"}));
    c.options = core::options<Options, COptions>(
        core::option<&Options::block_seq, &COptions::block_seq>("tokens of one block of the first stage"));
    c.clauses = {{.text = "block_seq is positive",
                  .broken = [](const Call& call) -> Broken {
                    const std::int64_t block = call.options<FlashDecodeStage2Options>().block_seq;
                    if (block > 0) return std::nullopt;
                    return say("block_seq is ", block, ", expected a positive number of tokens");
                  }},
                 {.text = "0 <= b_seqlen[b] <= nb·block_seq",
                  .broken = [](const Call& call) -> Broken {
                    const auto& args = call.args<FlashDecodeStage2Args>();
                    const std::int64_t limit =
                        times(args.mid_lse.size(2), call.options<FlashDecodeStage2Options>().block_seq);
                    for (std::int64_t b = 0; b < args.b_seqlen.size(0); ++b) {
                      const std::int64_t length = index_at(args.b_seqlen, b);
                      if (length < 0 || length > limit)
                        return say("b_seqlen[", b, "] is ", length, ", but mid_out has blocks for 0 to ",
                                   limit, " tokens");
                    }
                    return std::nullopt;
                  },
                  .reads_data = true}};
    c.tolerance =
        "u_out·|ref| + 2^-24·Σw|mid_out| + 2^-20·max(1, max|lse|)·Σw|mid_out|, w the normalised weights";
    c.work = [](const Call& call) {
      const auto& args = call.args<FlashDecodeStage2Args>();
      return core::Work{
          .bytes = core::bytes_of(args.mid_out) + core::bytes_of(args.mid_lse) + core::bytes_of(args.out),
          .flops = 2.0 * static_cast<double>(args.mid_out.numel())};
    };
    return core::finish(std::move(c));
  }();
  return contract;
}

core::Call stage2::bind(const FlashDecodeStage2Args& a, const FlashDecodeStage2Options& options) {
  return core::bind(stage2::contract(), a, options);
}

}  // namespace isomer::ops::flash_decode

namespace isomer {

void flash_decode(const Queue& queue, const FlashDecodeArgs& args, const FlashDecodeOptions& options) {
  core::dispatch(queue, ops::flash_decode::bind(args, options));
}

Explanation explain(const Queue& queue, const FlashDecodeArgs& args, const FlashDecodeOptions& options) {
  return core::explain(queue, ops::flash_decode::bind(args, options));
}

Plan<FlashDecodeArgs> plan(const Queue& queue, const FlashDecodeArgs& args,
                           const FlashDecodeOptions& options) {
  return core::PlanAccess::make_for<FlashDecodeArgs>(queue, ops::flash_decode::bind(args, options));
}

void flash_decode_stage1(const Queue& queue, const FlashDecodeStage1Args& args,
                         const FlashDecodeStage1Options& options) {
  core::dispatch(queue, ops::flash_decode::stage1::bind(args, options));
}

Explanation explain(const Queue& queue, const FlashDecodeStage1Args& args,
                    const FlashDecodeStage1Options& options) {
  return core::explain(queue, ops::flash_decode::stage1::bind(args, options));
}

Plan<FlashDecodeStage1Args> plan(const Queue& queue, const FlashDecodeStage1Args& args,
                                 const FlashDecodeStage1Options& options) {
  return core::PlanAccess::make_for<FlashDecodeStage1Args>(queue,
                                                           ops::flash_decode::stage1::bind(args, options));
}

void flash_decode_stage2(const Queue& queue, const FlashDecodeStage2Args& args,
                         const FlashDecodeStage2Options& options) {
  core::dispatch(queue, ops::flash_decode::stage2::bind(args, options));
}

Explanation explain(const Queue& queue, const FlashDecodeStage2Args& args,
                    const FlashDecodeStage2Options& options) {
  return core::explain(queue, ops::flash_decode::stage2::bind(args, options));
}

Plan<FlashDecodeStage2Args> plan(const Queue& queue, const FlashDecodeStage2Args& args,
                                 const FlashDecodeStage2Options& options) {
  return core::PlanAccess::make_for<FlashDecodeStage2Args>(queue,
                                                           ops::flash_decode::stage2::bind(args, options));
}

}  // namespace isomer
