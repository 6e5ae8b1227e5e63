#include "ops/attention/attention.hpp"
#include "ops/attention/contract/clauses.hpp"
#include "ops/attention/contract/geometry.hpp"

namespace isomer::ops::attention {
namespace {

using core::Role;

const std::vector<DType> kElements = {DType::f32, DType::f16, DType::bf16, DType::e4m3fn};
const std::vector<DType> kWide = {DType::f32, DType::f16, DType::bf16};

core::Arg i32(const char* name, const char* shape, const char* meaning) {
  return {.name = name, .optional = true, .dtypes = {DType::i32}, .shapes = {shape}, .meaning = meaning};
}

core::Arg descale(const char* name, const char* meaning) {
  return {.name = name, .optional = true, .dtypes = {DType::f32}, .shapes = {"B Hkv"}, .meaning = meaning};
}

std::vector<core::Arg> arguments() {
  return {
      {.name = "q", .dtypes = kElements, .shapes = {"B Sq Hq D", "total_q Hq D"}, .meaning = "queries"},
      {.name = "k",
       .role = Role::inout,
       .dtypes = kElements,
       .shapes = {"rows Sk Hkv D", "total_k Hkv D"},
       .meaning = "keys: by cache row, by page (rows = pages, Sk = page_size), or of all entries",
       .written_with = "k_new"},
      {.name = "v",
       .role = Role::inout,
       .dtypes = kElements,
       .shapes = {"_ _ _ _", "_ _ _"},
       .meaning = "values: k's shape with Dv, or its last three dimensions [Hkv, Dv, Sk] with v_colmajor",
       .dtype_same_as = "k",
       .written_with = "k_new"},
      {.name = "out",
       .role = Role::out,
       .dtypes = kWide,
       .shapes = {"B Sq Hq Dv", "total_q Hq Dv"},
       .meaning = "result"},
      {.name = "lse",
       .role = Role::out,
       .optional = true,
       .dtypes = {DType::f32},
       .shapes = {"B Hq Sq", "Hq total_q"},
       .meaning = "natural log of the softmax denominator"},
      i32("cu_seqlens_q", "B+1", "query rows of entry b are [cu[b], cu[b+1])"),
      i32("cu_seqlens_k", "B+1", "keys of entry b are rows [cu[b], cu[b+1]) of k"),
      i32("seqused_q", "B", "effective query lengths"),
      i32("seqused_k", "B", "effective key lengths, the left padding among them"),
      i32("leftpad_k", "B", "slot of each entry's first key"),
      i32("page_table", "table_rows max_pages", "page of every page_size keys"),
      i32("kv_batch_idx", "B", "row of k, or of page_table, that an entry uses"),
      {.name = "k_new",
       .optional = true,
       .dtypes = kElements,
       .shapes = {"B Sn Hkv D", "total_new Hkv D"},
       .meaning = "keys to append to k",
       .dtype_same_as = "k"},
      {.name = "v_new",
       .optional = true,
       .dtypes = kElements,
       .shapes = {"B Sn Hkv Dv", "total_new Hkv Dv"},
       .meaning = "values to append to v",
       .dtype_same_as = "v"},
      i32("cu_seqlens_k_new", "B+1", "rows of k_new of entry b are [cu[b], cu[b+1])"),
      i32("cache_seqlens", "B", "slots filled before the append, the left padding among them"),
      {.name = "rotary_cos",
       .optional = true,
       .dtypes = kWide,
       .shapes = {"positions pairs"},
       .meaning = "cosines of the rotary embedding, pairs = rotary_dim / 2"},
      {.name = "rotary_sin",
       .optional = true,
       .dtypes = kWide,
       .shapes = {"positions pairs"},
       .meaning = "sines of the rotary embedding",
       .dtype_same_as = "rotary_cos"},
      descale("q_descale", "multiplies the logits"),
      descale("k_descale", "multiplies the logits"),
      descale("v_descale", "multiplies out"),
      {.name = "sink",
       .optional = true,
       .dtypes = kWide,
       .shapes = {"Hq"},
       .meaning = "a logit of each head, not scaled"},
  };
}

std::vector<core::Option> option_list() {
  return {
      {"scale", "f32", "1/sqrt(D)", "multiplies q·k"},
      {"causal", "bool", "false", "query i sees key j only where j <= i + Sk - Sq"},
      {"window_left", "int", "-1", "keys left of the diagonal that are visible; -1 all"},
      {"window_right", "int", "-1", "keys right of the diagonal that are visible; -1 all"},
      {"softcap", "f32", "0", "S = softcap·tanh(S/softcap) before masking; 0 off"},
      {"max_seqlen_q", "int", "0", "upper bound of the query lengths; 0 unknown"},
      {"max_seqlen_k", "int", "0", "upper bound of the key lengths; 0 unknown"},
      {"rotary_interleaved", "bool", "false", "pairs (2i, 2i+1) instead of (i, i + rotary_dim/2)"},
      {"v_colmajor", "bool", "false", "v's last three dimensions are [Hkv, Dv, Sk]"},
      {"pack_gqa", "plan | never | always", "plan", "rows = query position × heads of one group"},
      {"num_splits", "int", "0", "parts into which the keys are split; 0 the plan decides, 1 none"},
      {"split_size", "int", "0", "keys of one part; 0 off"},
  };
}

/// With cu_seqlens_q no shape has B standing alone.
void bind_symbols(const core::Call& call, core::Symbols& symbols) {
  const auto& a = call.args<AttentionArgs>();
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
  sum.flops = 2 * pairs * static_cast<double>(g.heads) * dims;
  sum.bytes = keys * static_cast<double>(g.heads_kv) * dims * size_of(g.k.dtype);
  for (const Tensor* t : {&g.args->q, &g.args->out, &g.args->lse, &g.args->k_new, &g.args->v_new})
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
            "2^-18 e4m3fn; lse: 2^-24·|lse| + 2^-20·max(1, max Σ|q·k|); appended k and v exact, but a "
            "rotated element within 2^-23·(|x·cos| + |y·sin|) of a tie may round either way",
        .symbols = bind_symbols,
        .work = work,
    };
    for (core::Clause& clause : content_clauses()) c.clauses.push_back(std::move(clause));
    return core::finish(std::move(c));
  }();
  return contract;
}

core::Call bind(const AttentionArgs& a, const AttentionOptions& options) {
  return core::bind(contract(), a, options,
                    {&a.q,
                     &a.k,
                     &a.v,
                     &a.out,
                     &a.lse,
                     &a.cu_seqlens_q,
                     &a.cu_seqlens_k,
                     &a.seqused_q,
                     &a.seqused_k,
                     &a.leftpad_k,
                     &a.page_table,
                     &a.kv_batch_idx,
                     &a.k_new,
                     &a.v_new,
                     &a.cu_seqlens_k_new,
                     &a.cache_seqlens,
                     &a.rotary_cos,
                     &a.rotary_sin,
                     &a.q_descale,
                     &a.k_descale,
                     &a.v_descale,
                     &a.sink});
}

}  // namespace isomer::ops::attention

namespace isomer {

void attention(const Queue& queue, const AttentionArgs& args, const AttentionOptions& options) {
  core::dispatch(queue, ops::attention::bind(args, options));
}

Explanation explain(const Queue& queue, const AttentionArgs& args, const AttentionOptions& options) {
  return core::explain(queue, ops::attention::bind(args, options));
}

}  // namespace isomer
