#include "ops/attention/attention.hpp"
#include "ops/attention/oracle/oracle.hpp"

#include <cmath>

namespace isomer::ops::attention {
namespace {

using oracle::Original;

enum At : std::size_t { kQ, kK, kV, kOfQ, kOfK, kMostQ, kMostK, kBatch, kCausal, kScale, kOut, kLse };

/// Sequences of other lengths one behind the other, as training and servers have them: q [total_q, Hq, D], k
/// and v [total_k, Hkv, D], and where each begins. Log-sum-exps lie [Hq, total_q].
Original packed(bool returned, bool lse) {
  using Kind = Original::Kind;
  using Reads = Original::Reads;
  Original original = {
      .op = "attention",
      .functions = {"attention_of_packed", "flash_attn_varlen_func"},
      .parameters =
          {{.name = "q",
            .argument = "q",
            .reads = Reads::outer_strides,
            .field = "dtype",
            .also = "Q query",
            .shape = "total_q Hq D"},
           {.name = "k",
            .argument = "k",
            .reads = Reads::outer_strides,
            .field = "dtype",
            .also = "K key",
            .shape = "total_k Hkv D"},
           {.name = "v",
            .argument = "v",
            .reads = Reads::outer_strides,
            .field = "dtype",
            .also = "V value",
            .shape = "_ _ _"},
           {.name = "cu_seqlens_q",
            .argument = "cu_seqlens_q",
            .index = true,
            .also = "cu_seqlens cu_seqlen_q cu_seq_q cu_q cu_q_lens cu_seqlens_q_ptr q_indptr qo_indptr "
                    "query_start_loc q_start_loc q_offsets cu_query_lens"},
           {.name = "cu_seqlens_k",
            .argument = "cu_seqlens_k",
            .index = true,
            .also = "cu_seqlens_kv cu_seqlen_k cu_seqlen_kv cu_seq_k cu_seq_kv cu_k cu_kv cu_k_lens "
                    "cu_seqlens_k_ptr k_indptr k_start_loc kv_start_loc k_offsets kv_offsets cu_kv_lens"},
           {.name = "max_seqlen_q",
            .argument = "max_seqlen_q",
            .kind = Kind::integer,
            .optional = true,
            .also = "max_seqlen max_q_len max_len_q max_q max_query_len max_seq_len max_seq_len_q max_seq_q"},
           {.name = "max_seqlen_k",
            .argument = "max_seqlen_k",
            .kind = Kind::integer,
            .optional = true,
            .also = "max_seqlen_kv max_k_len max_kv_len max_len_k max_k max_kv max_seq_len_k max_seq_k"},
           {.name = "batch",
            .argument = "batch",
            .kind = Kind::integer,
            .optional = true,
            .also = "b bs bsz batch_size batches num_seqs n_seqs num_sequences nbatch num_batches"},
           {.name = "causal",
            .argument = "causal",
            .kind = Kind::boolean,
            .optional = true,
            .also = "is_causal"},
           {.name = "scale",
            .argument = "scale",
            .kind = Kind::real,
            .optional = true,
            .also = "softmax_scale sm_scale"},
           {.name = "out",
            .argument = "out",
            .output = true,
            .returned = returned,
            .reads = Reads::outer_strides,
            .field = "out",
            .also = "o Out O output",
            .shape = "total_q Hq Dv"}},
      .bind =
          [](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>& numbers,
             DType) {
            auto& args = problem.args<AttentionArgs>();
            auto& options = problem.options<AttentionOptions>();
            args.q = t[kQ];
            args.k = t[kK];
            args.v = t[kV];
            args.cu_seqlens_q = t[kOfQ];
            args.cu_seqlens_k = t[kOfK];
            args.out = t[kOut];
            if (t.size() > kLse) args.lse = t[kLse];
            options.max_seqlen_q = static_cast<std::int64_t>(numbers[kMostQ]);
            options.max_seqlen_k = static_cast<std::int64_t>(numbers[kMostK]);
            options.causal = numbers[kCausal] != 0;
            options.scale = static_cast<float>(numbers[kScale]);
            if (!args.out.defined() && args.q.rank == 3 && args.v.rank == 3)
              args.out = problem.make("out", args.q.dtype, {args.q.size(0), args.q.size(1), args.v.size(2)});
            if (t.size() > kLse && !args.lse.defined() && args.q.rank == 3)
              args.lse = problem.make("lse", DType::f32, {args.q.size(1), args.q.size(0)});
            problem.bind(bind(args, options));
          },
      .number =
          [](const core::Call& call, std::string_view option) {
            const auto& args = call.args<AttentionArgs>();
            const auto& options = call.options<AttentionOptions>();
            if (option == "max_seqlen_q") return static_cast<double>(options.max_seqlen_q);
            if (option == "max_seqlen_k") return static_cast<double>(options.max_seqlen_k);
            if (option == "batch") return static_cast<double>(args.cu_seqlens_q.numel() - 1);
            if (option == "causal") return options.causal ? 1.0 : 0.0;
            if (options.scale != 0) return static_cast<double>(options.scale);
            return 1.0 / std::sqrt(static_cast<double>(args.q.size(-1)));
          },
      .probes = {"b=3 sq=9 sk=20 hq=4 hkv=2 d=16 causal", "b=2 sq=7 sk=12 hq=4 hkv=2 d=32",
                 "b=2 sq=12 sk=7 hq=2 hkv=1 d=16 causal", "b=2 sq=5 sk=11 hq=2 hkv=1 d=16 scale=40",
                 "b=3 sq=2 sk=140 hq=2 hkv=1 d=16 scale=1", "b=2 sq=70 sk=70 hq=2 hkv=1 d=16 causal",
                 "b=1 sq=5 sk=11 hq=2 hkv=1 d=16 regime=outlier",
                 "b=1 sq=6 sk=9 hq=2 hkv=1 d=16 regime=level"},
      .sizes = {"lengths=full sk=20 hq=2 hkv=1 d=16 causal sq=", "lengths=full sq=4 hq=2 hkv=1 d=16 sk="},
      .empties = {},
      .usual = {{{"dtype", DType::f16}}, {{"dtype", DType::bf16}}, {{"dtype", DType::f32}}}};
  const Original::Parameter sums = {.name = "lse",
                                    .argument = "lse",
                                    .output = true,
                                    .returned = returned,
                                    .reads = Reads::outer_strides,
                                    .also = "softmax_lse LSE L logsumexp",
                                    .shape = "Hq total_q"};
  if (lse) original.parameters.push_back(sums);
  if (!lse && returned) original.further = sums;
  original.larger = {"b=2 sq=3 sk=5 hq=2 hkv=1 d=128", "b=2 sq=3 sk=5 hq=2 hkv=1 d=64",
                     "b=2 sq=3 sk=5 hq=2 hkv=1 d=80", "b=1 sq=2 sk=5 hq=32 hkv=8 d=16"};
  original.seldom = {"b=2 sq=3 sk=5 hq=2 hkv=1 d=256"};
  for (std::vector<std::string>* lines : original.all_lines())
    for (std::string& line : *lines)
      line = std::string("varlen_q varlen_k max_seqlen ") + (lse ? "lse " : "") + line;
  for (const Original::Sayable& each : sayable_sizes())
    if (each.field == "hq" || each.field == "hkv" || each.field == "d") original.sayable.push_back(each);
  return original;
}

}  // namespace

std::vector<oracle::Original> packed_originals() {
  std::vector<Original> list;
  for (const bool lse : {false, true})
    for (const bool returned : {true, false}) list.push_back(packed(returned, lse));
  return list;
}

}  // namespace isomer::ops::attention
