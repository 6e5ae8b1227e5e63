#include "core/fields.hpp"
#include "core/public_plan.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/contract/clauses.hpp"
#include "ops/attention/contract/geometry.hpp"

namespace isomer::ops::attention {
namespace {

using core::Role;

const std::vector<DType> kElements = {DType::f32, DType::f16, DType::bf16, DType::e4m3fn};
const std::vector<DType> kCached = {DType::f32, DType::f16, DType::bf16, DType::e4m3fn, DType::i8};
const std::vector<DType> kWide = {DType::f32, DType::f16, DType::bf16};

using Args = AttentionArgs;
using CArgs = isomer_attention_args;
using Options = AttentionOptions;
using COptions = isomer_attention_options;

template <auto kMember, auto kInC>
core::Arg i32(const char* shape, const char* meaning) {
  return core::tensor<kMember, kInC>(
      {.optional = true, .dtypes = {DType::i32}, .shapes = {shape}, .meaning = meaning});
}

template <auto kMember, auto kInC>
core::Arg descale(const char* meaning) {
  return core::tensor<kMember, kInC>(
      {.optional = true, .dtypes = {DType::f32}, .shapes = {"B Hkv"}, .meaning = meaning});
}

std::vector<core::Arg> arguments() {
  return core::args<Args, CArgs>(
      core::tensor<&Args::q, &CArgs::q>(
          {.dtypes = kElements, .shapes = {"B Sq Hq D", "total_q Hq D"}, .meaning = "queries"}),
      core::tensor<&Args::k, &CArgs::k>(
          {.role = Role::inout,
           .dtypes = kCached,
           .shapes = {"rows Sk Hkv D", "total_k Hkv D"},
           .meaning = "keys: by cache row, by page (rows = pages, Sk = page_size), or of all entries",
           .written_with = "k_new"}),
      core::tensor<&Args::v, &CArgs::v>(
          {.role = Role::inout,
           .dtypes = kCached,
           .shapes = {"_ _ _ _", "_ _ _"},
           .meaning = "values: k's shape with Dv, or its last three dimensions [Hkv, Dv, Sk] with v_colmajor",
           .dtype_same_as = "k",
           .written_with = "k_new"}),
      core::tensor<&Args::out, &CArgs::out>({.role = Role::out,
                                             .dtypes = kWide,
                                             .shapes = {"B Sq Hq Dv", "total_q Hq Dv"},
                                             .meaning = "result"}),
      core::tensor<&Args::lse, &CArgs::lse>({.role = Role::out,
                                             .optional = true,
                                             .dtypes = {DType::f32},
                                             .shapes = {"B Hq Sq", "Hq total_q"},
                                             .meaning = "natural log of the softmax denominator"}),
      i32<&Args::cu_seqlens_q, &CArgs::cu_seqlens_q>("B+1", "query rows of entry b are [cu[b], cu[b+1])"),
      i32<&Args::cu_seqlens_k, &CArgs::cu_seqlens_k>("B+1", "keys of entry b are rows [cu[b], cu[b+1]) of k"),
      i32<&Args::seqused_q, &CArgs::seqused_q>("B", "effective query lengths"),
      i32<&Args::seqused_k, &CArgs::seqused_k>("B", "effective key lengths, the left padding among them"),
      i32<&Args::leftpad_k, &CArgs::leftpad_k>("B", "slot of each entry's first key"),
      i32<&Args::page_table, &CArgs::page_table>("table_rows max_pages", "page of every page_size keys"),
      i32<&Args::kv_batch_idx, &CArgs::kv_batch_idx>("B", "row of k, or of page_table, that an entry uses"),
      core::tensor<&Args::k_new, &CArgs::k_new>({.optional = true,
                                                 .dtypes = kElements,
                                                 .shapes = {"B Sn Hkv D", "total_new Hkv D"},
                                                 .meaning = "keys to append to k"}),
      core::tensor<&Args::v_new, &CArgs::v_new>({.optional = true,
                                                 .dtypes = kElements,
                                                 .shapes = {"B Sn Hkv Dv", "total_new Hkv Dv"},
                                                 .meaning = "values to append to v",
                                                 .dtype_same_as = "k_new"}),
      i32<&Args::cu_seqlens_k_new, &CArgs::cu_seqlens_k_new>("B+1",
                                                             "rows of k_new of entry b are [cu[b], cu[b+1])"),
      i32<&Args::cache_seqlens, &CArgs::cache_seqlens>(
          "B", "slots filled before the append, the left padding among them"),
      core::tensor<&Args::rotary_cos, &CArgs::rotary_cos>(
          {.optional = true,
           .dtypes = kWide,
           .shapes = {"positions pairs"},
           .meaning = "cosines of the rotary embedding, pairs = rotary_dim / 2"}),
      core::tensor<&Args::rotary_sin, &CArgs::rotary_sin>({.optional = true,
                                                           .dtypes = kWide,
                                                           .shapes = {"positions pairs"},
                                                           .meaning = "sines of the rotary embedding",
                                                           .dtype_same_as = "rotary_cos"}),
      descale<&Args::q_descale, &CArgs::q_descale>("multiplies the logits"),
      descale<&Args::k_descale, &CArgs::k_descale>("multiplies the logits"),
      descale<&Args::v_descale, &CArgs::v_descale>("multiplies out"),
      core::tensor<&Args::sink, &CArgs::sink>({.optional = true,
                                               .dtypes = kWide,
                                               .shapes = {"Hq"},
                                               .meaning = "a logit of each head, not scaled"}),
      core::tensor<&Args::k_scale, &CArgs::k_scale>(
          {.optional = true,
           .dtypes = kWide,
           .shapes = {"_ _ _ _", "_ _ _", "_ _"},
           .strides = core::Strides::any,
           .meaning = "multiplies int8 k: k's shape, the last dimension absent, 1 or D/8"}),
      core::tensor<&Args::v_scale, &CArgs::v_scale>(
          {.optional = true,
           .dtypes = kWide,
           .shapes = {"_ _ _ _", "_ _ _", "_ _"},
           .strides = core::Strides::any,
           .meaning = "multiplies int8 v: v's shape, the last dimension absent, 1 or Dv/8",
           .dtype_same_as = "k_scale"}),
      core::tensor<&Args::qv, &CArgs::qv>({.optional = true,
                                           .dtypes = kWide,
                                           .shapes = {"B Sq Hq Dv", "total_q Hq Dv"},
                                           .meaning = "queries of v (absorbed MLA): S = scale·(q·kᵀ + qv·vᵀ)",
                                           .dtype_same_as = "q"}));
}

std::vector<core::Option> option_list() {
  return core::options<Options, COptions>(
      core::option<&Options::scale, &COptions::scale>("multiplies q·k (and qv·v)",
                                                      "1/sqrt(D), with qv 1/sqrt(D + Dv)"),
      core::option<&Options::causal, &COptions::causal>("query i sees key j only where j <= i + Sk - Sq"),
      core::option<&Options::window_left, &COptions::window_left>(
          "keys left of the diagonal that are visible; -1 all"),
      core::option<&Options::window_right, &COptions::window_right>(
          "keys right of the diagonal that are visible; -1 all"),
      core::option<&Options::softcap, &COptions::softcap>(
          "S = softcap·tanh(S/softcap) before masking; 0 off"),
      core::option<&Options::max_seqlen_q, &COptions::max_seqlen_q>(
          "upper bound of the query lengths; 0 unknown"),
      core::option<&Options::max_seqlen_k, &COptions::max_seqlen_k>(
          "upper bound of the key lengths; 0 unknown"),
      core::option<&Options::rotary_interleaved, &COptions::rotary_interleaved>(
          "pairs (2i, 2i+1) instead of (i, i + rotary_dim/2)"),
      core::option<&Options::v_colmajor, &COptions::v_colmajor>(
          "v's last three dimensions are [Hkv, Dv, Sk]"),
      core::option<&Options::pack_gqa, &COptions::pack_gqa>("rows = query position × heads of one group"),
      core::option<&Options::num_splits, &COptions::num_splits>(
          "parts into which the keys are split; 0 the plan decides, 1 none"),
      core::option<&Options::split_size, &COptions::split_size>("keys of one part; 0 off"),
      core::option<&Options::attention_chunk, &COptions::attention_chunk>(
          "keys of a chunk: with p = i + Sk - Sq query i sees key j only where p - p mod chunk <= j < p - p "
          "mod "
          "chunk + chunk; 0 off"));
}

/// With cu_seqlens_q no shape has B standing alone, and before there is an output none has Dv.
void bind_symbols(const core::Call& call, core::Symbols& symbols) {
  const auto& a = call.args<AttentionArgs>();
  if (!a.out.defined() && a.v.rank >= 3)
    symbols.set("Dv", a.v.size(call.options<AttentionOptions>().v_colmajor ? -2 : -1));
  if (a.cu_seqlens_q.defined() && a.cu_seqlens_q.rank == 1)
    symbols.set("B", std::max<std::int64_t>(a.cu_seqlens_q.size(0) - 1, 0));
}

core::Work work(const core::Call& call) {
  const Geometry g(call.args<AttentionArgs>(), call.options<AttentionOptions>());
  const bool readable = g.args->q.device.type == DeviceType::cpu;
  double pairs = 0, keys = 0;
  for (std::int64_t b = 0; b < g.batch; ++b) {
    Entry e;
    e.q_len = g.seqlen_q;
    e.k_len = g.seqlen_k;
    if (readable) e = g.entry(b);
    keys += static_cast<double>(e.k_len);
    for (std::int64_t i = 0; i < e.q_len; ++i) pairs += static_cast<double>(g.visible(e, i).count());
  }
  const double dims = static_cast<double>(g.head_dim + g.head_dim_v);
  core::Work sum;
  sum.flops = 2 * pairs * static_cast<double>(g.heads) * static_cast<double>(g.contracted() + g.head_dim_v);
  sum.bytes = keys * static_cast<double>(g.heads_kv) * dims * size_of(g.k.dtype);
  for (const Tensor* t :
       {&g.args->q, &g.args->qv, &g.args->out, &g.args->lse, &g.args->k_new, &g.args->v_new})
    if (t->defined()) sum.bytes += core::bytes_of(*t);
  return sum;
}

}  // namespace

const core::Contract& contract() {
  static const core::Contract contract = [] {
    core::Contract c{
        .op = "attention",
        .summary = "out = softmax(mask(softcap(scale·q·kᵀ)))·v per query head; lse = ln Σ exp",
        .source = "FlashAttention-3 (hopper/), with sinks and an lse of −inf for empty rows",
        .args = arguments(),
        .options = option_list(),
        .clauses = form_clauses(),
        .tolerance =
            "u_out·|ref| + min(u_P·Σp|v|, 6·u_P·√Σp²v²) + 2^-20·max(1, max|S|)·Σp|v| + Σmin(p, h_P/l)|v|, "
            "u_P and h_P of q's type, l = Σe^(S − max S): h_P = 2^-25 f16, 2^-126 bf16 and f32, "
            "2^-18 e4m3fn; lse: 2^-24·|lse| + 2^-20·max(1, max Σ|q·k|); Hopper's tensor cores sum e4m3 "
            "products 2^-9 of Σ|q·k| and Σp|v| less exactly; appended k and v exact, but a "
            "rotated element within 2^-23·(|x·cos| + |y·sin|) of a tie may round either way (2^-22 "
            "where the append quantises)",
        .symbols = bind_symbols,
        .work = work,
    };
    for (core::Clause& clause : content_clauses()) c.clauses.push_back(std::move(clause));
    return core::finish(std::move(c));
  }();
  return contract;
}

core::Call bind(const AttentionArgs& a, const AttentionOptions& options) {
  return core::bind(contract(), a, options);
}

}  // namespace isomer::ops::attention

namespace isomer {

void attention(const Queue& queue, const AttentionArgs& args, const AttentionOptions& options) {
  core::dispatch(queue, ops::attention::bind(args, options));
}

Explanation explain(const Queue& queue, const AttentionArgs& args, const AttentionOptions& options) {
  return core::explain(queue, ops::attention::bind(args, options));
}

Plan<AttentionArgs> plan(const Queue& queue, const AttentionArgs& args, const AttentionOptions& options) {
  return core::PlanAccess::make_for<AttentionArgs>(queue, ops::attention::bind(args, options));
}

}  // namespace isomer
