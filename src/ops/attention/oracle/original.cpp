#include "ops/attention/attention.hpp"
#include "ops/attention/oracle/oracle.hpp"

#include <cmath>
#include <utility>

namespace isomer::ops::attention {
namespace {

using oracle::Original;
using Reads = Original::Reads;

/// `lse`: gives the logarithm of the sums as well. `heads_first`: tensors are [batch, heads, sequence, dim],
/// as the kernels of Triton's tutorials have them.
Original original(bool returned, bool lse, bool heads_first) {
  Original original = {
      .op = "attention",
      .functions = {"attention", "flash_attn_func", "flash_attention"},
      .parameters =
          {{.name = "q", .argument = "q", .reads = Reads::outer_strides, .field = "dtype", .also = "Q query"},
           {.name = "k", .argument = "k", .reads = Reads::outer_strides, .field = "dtype", .also = "K key"},
           {.name = "v", .argument = "v", .reads = Reads::outer_strides, .field = "dtype", .also = "V value"},
           {.name = "causal",
            .argument = "causal",
            .kind = Original::Kind::boolean,
            .optional = true,
            .also = "is_causal"},
           {.name = "scale",
            .argument = "scale",
            .kind = Original::Kind::real,
            .optional = true,
            .also = "softmax_scale sm_scale"},
           {.name = "out",
            .argument = "out",
            .output = true,
            .returned = returned,
            .reads = Reads::outer_strides,
            .field = "out",
            .also = "o Out O output"}},
      .bind =
          [](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>& numbers,
             DType) {
            auto& args = problem.args<AttentionArgs>();
            auto& options = problem.options<AttentionOptions>();
            args.q = t[0];
            args.k = t[1];
            args.v = t[2];
            args.out = t[5];
            if (t.size() > 6) args.lse = t[6];
            options.causal = numbers[3] != 0;
            options.scale = static_cast<float>(numbers[4]);
            if (!args.out.defined() && args.q.rank == 4 && args.v.rank == 4)
              args.out = problem.make("out", is_fp8(args.q.dtype) ? DType::bf16 : args.q.dtype,
                                      {args.q.size(0), args.q.size(1), args.q.size(2), args.v.size(3)});
            if (t.size() > 6 && !args.lse.defined() && args.q.rank == 4)
              args.lse = problem.make("lse", DType::f32, {args.q.size(0), args.q.size(2), args.q.size(1)});
            problem.bind(bind(args, options));
          },
      .number =
          [](const core::Call& call, std::string_view option) {
            const auto& options = call.options<AttentionOptions>();
            if (option == "causal") return options.causal ? 1.0 : 0.0;
            if (options.scale != 0) return static_cast<double>(options.scale);
            return 1.0 / std::sqrt(static_cast<double>(call.args<AttentionArgs>().q.size(-1)));
          },
      .probes = {"b=2 sq=7 sk=12 hq=4 hkv=2 d=16 causal", "b=1 sq=9 sk=9 hq=4 hkv=2 d=32",
                 "b=1 sq=12 sk=7 hq=2 hkv=1 d=16 causal", "b=1 sq=5 sk=11 hq=2 hkv=1 d=16 scale=40",
                 "b=2 sq=8 sk=2 hq=4 hkv=2 d=16 scale=40", "b=2 sq=6 sk=10 hq=6 hkv=3 d=16 causal scale=0.5"},
      .sizes = {"sk=20 hq=2 hkv=1 d=16 causal sq=", "sq=4 hq=2 hkv=1 d=16 sk="},
      .empties = {"b=0 sq=4 d=16"},
      .usual = {{{"dtype", DType::f16}}, {{"dtype", DType::bf16}}, {{"dtype", DType::f32}}}};
  const std::string any = "\\w+",
                    heads = "h|hq|hkv|nh|n_?heads?\\w*|num_\\w*heads?|\\w*_heads?|heads?|heads?_\\w+",
                    rows = "s|sq|sk|n|m|l|t|lq|lk|\\w*seq\\w*|n_?ctx\\w*|ctx|\\w*_?len|tokens?|queries|keys";
  original.probes.emplace_back("b=1 sq=2 sk=140 hq=2 hkv=1 d=16 scale=1");  // more than one tile of keys
  // The same for who has one length, and scores beyond what e^x has room for where nobody says a scale.
  original.probes.emplace_back("b=1 sq=70 sk=70 hq=2 hkv=1 d=16");
  original.probes.emplace_back("b=1 sq=5 sk=11 hq=2 hkv=1 d=16 regime=outlier");
  original.probes.emplace_back("b=1 sq=6 sk=9 hq=2 hkv=1 d=16 regime=level");
  original.larger = {"b=1 sq=2 sk=140 hq=2 hkv=1 d=128", "b=1 sq=3 sk=5 hq=2 hkv=1 d=64",
                     "b=1 sq=3 sk=5 hq=2 hkv=1 d=80", "b=1 sq=2 sk=5 hq=32 hkv=8 d=16"};
  original.seldom = {"b=1 sq=1 sk=300 hq=2 hkv=1 d=256"};
  original.features = {{"hkv",
                        [](const core::Call& c) {
                          return c.args<AttentionArgs>().q.size(-2) != c.args<AttentionArgs>().k.size(-2);
                        }},
                       {"sk", [](const core::Call& c) {
                          return c.args<AttentionArgs>().q.size(-3) != c.args<AttentionArgs>().k.size(-3);
                        }}};
  original.sayable = sayable_sizes();
  original.leading = {"b"};
  original.axis_words = {any, rows, heads, any};
  const Original::Parameter sums = {.name = "lse",
                                    .argument = "lse",
                                    .output = true,
                                    .returned = returned,
                                    .reads = Reads::outer_strides,
                                    .also = "softmax_lse LSE L logsumexp"};
  if (!lse && returned) original.further = sums;
  if (lse) {
    original.parameters.push_back(sums);
    for (std::vector<std::string>* lines : original.all_lines())
      for (std::string& line : *lines) line = "lse " + line;
  }
  if (heads_first) {
    std::swap(original.axis_words[1], original.axis_words[2]);
    original.leading = {"b", "hq"};
    for (Original::Parameter& parameter : original.parameters)
      if (parameter.kind == Original::Kind::tensor && parameter.name != "lse") parameter.axes = {0, 2, 1, 3};
  }
  return original;
}

}  // namespace

std::vector<Original::Sayable> sayable_sizes() {
  // num_kv_heads says no length, and seq_k no heads.
  const std::string heads_of_keys =
      ".*(kv_?n?_?h|k_h|heads?_?(kv|k)\\b|hkv|h_kv|h_k|hk|value_h|group|rep|gqa|ratio).*|kv_?dim";
  const std::string length_of_keys =
      "([a-z]*_)*((sk|lk|nk|skv|lkv|nkv|keys|(kv|k)_?(seq|len|tok|ctx|size|n|l|s|t)\\w*)|"
      "(s|n|l|t|num|max)_?(kv|k)|total_(seq_?)?len|(context|ctx)_(len|size)|(cur|current|cached?|past)_(seq_?"
      ")?"
      "len\\w*|\\w*(seq|len|ctx|tok|cache)\\w*_?(kv|"
      "k))(_ptr|_max)?";
  return {{"b", "b|bs|z|n_?b|nbatch|.*(batch|bsz|seqs|bh).*"},
          {"hq", "h|h_?q|nh|.*heads.*|.*head(_?(q|kv|k|v|n|nb|num|number|count))?"},  // head_dim says none
          {"hkv", heads_of_keys},
          {"sk", length_of_keys},
          {"d", "d|hd|dh|dk|.*(dim|d_|_d|head_?size|embed|channels).*", {"64", "128"}},
          {"sq", ".*", {"64"}, "decod", "1"}};
}

std::vector<Original> originals() {
  std::vector<Original> list;
  for (const bool heads_first : {false, true})
    for (const bool lse : {false, true})
      for (const bool returned : {true, false}) list.push_back(original(returned, lse, heads_first));
  for (Original& each : cached_originals()) list.push_back(std::move(each));
  for (Original& each : packed_originals()) list.push_back(std::move(each));
  return list;
}

}  // namespace isomer::ops::attention
