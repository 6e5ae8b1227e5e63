#include "ops/attention/attention.hpp"
#include "ops/attention/oracle/oracle.hpp"

#include <algorithm>
#include <cmath>

namespace isomer::ops::attention {
namespace {

using oracle::Original;

constexpr int kQueries = 1;  // the dimension of a query, of which there is one for each entry

constexpr const char* kLength =
    "max_seqlen_k";  // an option of the op, where a number is every entry's length

constexpr int kQueriesOfSums = 2;  // the same of log-sum-exps, [B, Hq, Sq]

/// What some of these return besides.
Original::Parameter sums() {
  return {.name = "lse",
          .argument = "lse",
          .output = true,
          .returned = true,
          .reads = Original::Reads::outer_strides,
          .also = "softmax_lse LSE L logsumexp",
          .without = kQueriesOfSums};
}

/// The results: what is not given is made, and log-sum-exps only where there is a place for them.
void bind_results(oracle::Problem& problem, const std::vector<Tensor>& t, std::size_t out) {
  auto& args = problem.args<AttentionArgs>();
  args.out = t[out];
  if (!args.out.defined() && args.q.rank == 4 && args.v.rank == 4)
    args.out =
        problem.make("out", args.q.dtype, {args.q.size(0), args.q.size(1), args.q.size(2), args.v.size(3)});
  if (t.size() <= out + 1) return;
  args.lse = t[out + 1];
  if (!args.lse.defined() && args.q.rank == 4)
    args.lse = problem.make("lse", DType::f32, {args.q.size(0), args.q.size(2), args.q.size(1)});
}

/// Decode as the engines of servers have it: one query for each entry, [B, Hq, D], how many keys each has,
/// and k and v [pages, page_size, Hkv, D] with a table of pages for each entry, or [B, keys, Hkv, D].
Original cached(bool paged, bool returned) {
  // Where the numbers and tensors behind the lengths are.
  const std::size_t table = 4, scale = paged ? 5 : 4, out = scale + 1;
  using Reads = Original::Reads;
  Original original = {
      .op = "attention",
      .functions = {paged ? "attention_of_pages" : "attention_of_caches"},
      .parameters =
          {{.name = "q",
            .argument = "q",
            .reads = Reads::outer_strides,
            .field = "dtype",
            .also = "Q query",
            .without = kQueries},
           {.name = "k",
            .argument = "k",
            .reads = Reads::outer_strides,
            .field = "dtype",
            .also = "K key key_cache k_cache kcache"},
           {.name = "v",
            .argument = "v",
            .reads = Reads::outer_strides,
            .field = "dtype",
            .also = "V value value_cache v_cache vcache"},
           {.name = "seqused_k",
            .argument = "seqused_k",
            .also =
                "seq_lens seqlens context_lens kv_lens cache_seqlens seqlens_k sequence_lengths kv_seq_lens "
                "context_lengths seq_lengths lengths kv_lengths cache_lens cache_lengths k_lens "
                "kv_seqlens kv_len_arr seq_lens_k b_seq_len b_seqlen num_keys_per_seq"},
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
            .also = "o Out O output",
            .without = kQueries}},
      .bind =
          [=](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>& numbers,
              DType) {
            auto& args = problem.args<AttentionArgs>();
            args.q = t[0];
            args.k = t[1];
            args.v = t[2];
            args.seqused_k = t[3];
            if (paged) args.page_table = t[table];
            bind_results(problem, t, out);
            auto& options = problem.options<AttentionOptions>();
            options.scale = static_cast<float>(numbers[scale]);
            problem.bind(bind(args, options));
          },
      .number =
          [](const core::Call& call, std::string_view) {
            const float scale = call.options<AttentionOptions>().scale;
            if (scale != 0) return static_cast<double>(scale);
            return 1.0 / std::sqrt(static_cast<double>(call.args<AttentionArgs>().q.size(-1)));
          },
      .probes = {"b=3 sq=1 sk=40 hq=4 hkv=2 d=16", "b=2 sq=1 sk=21 hq=2 hkv=2 d=32",
                 "b=2 sq=1 sk=20 hq=2 hkv=1 d=16 scale=40", "b=4 sq=1 sk=150 hq=6 hkv=3 d=16",
                 "b=2 sq=1 sk=33 hq=2 hkv=1 d=16 regime=outlier",
                 "b=2 sq=1 sk=19 hq=2 hkv=1 d=16 regime=level"},
      .sizes = {"sq=1 hq=2 hkv=1 d=16 sk="},
      .empties = {},
      .usual = {{{"dtype", DType::f16}}, {{"dtype", DType::bf16}}, {{"dtype", DType::f32}}}};
  if (paged)
    original.parameters.insert(original.parameters.begin() + table,
                               {.name = "page_table",
                                .argument = "page_table",
                                .index = true,
                                .also = "block_table block_tables page_tables block_tables_ptr page_indices "
                                        "block_indices page_table_ptr block_table_ptr kv_page_table"});
  if (returned) original.further = sums();
  original.larger = {"b=1 sq=1 sk=150 hq=2 hkv=1 d=128", "b=2 sq=1 sk=21 hq=2 hkv=1 d=64",
                     "b=2 sq=1 sk=21 hq=2 hkv=1 d=80", "b=1 sq=1 sk=12 hq=32 hkv=8 d=16"};
  original.seldom = {"b=1 sq=1 sk=300 hq=2 hkv=1 d=256"};
  for (std::vector<std::string>* lines : original.all_lines())
    for (std::string& line : *lines) line = (paged ? "page=8 " : "seqused_k ") + line;
  for (const Original::Sayable& each : sayable_sizes())
    if (each.field == "b" || each.field == "hkv" || each.field == "d") original.sayable.push_back(each);
  if (paged) original.sayable.push_back({"page", "none", {"16"}});
  return original;
}

/// Pages of entries that all have as many keys as a number says.
Original of_one_length(bool returned) {
  constexpr std::size_t kPages = 4, kScale = 5, kOut = 6;
  Original original = cached(true, returned);
  original.functions = {"attention_of_pages_of_one_length"};
  for (Original::Parameter& parameter : original.parameters)
    if (parameter.argument == "seqused_k")
      parameter = {.name = kLength,
                   .argument = kLength,
                   .kind = Original::Kind::integer,
                   .also =
                       "seq_len_k seqlen_k seq_len seqlen kv_len kv_seq_len context_len ctx_len total_len "
                       "context_size ctx_size cur_len current_len cache_len len_k num_keys n_keys length sk"};
  const auto scale_of = original.number;
  original.number = [=](const core::Call& call, std::string_view option) {
    if (option != kLength) return scale_of(call, option);
    const Tensor& used = call.args<AttentionArgs>().seqused_k;
    return used.defined() && used.numel() > 0 ? static_cast<double>(*used.at<std::int32_t>(0)) : 0.0;
  };
  original.bind = [=](oracle::Problem& problem, const std::vector<Tensor>& t,
                      const std::vector<double>& numbers, DType) {
    auto& args = problem.args<AttentionArgs>();
    args.q = t[0];
    args.k = t[1];
    args.v = t[2];
    args.page_table = t[kPages];
    bind_results(problem, t, kOut);
    const std::int64_t batch = args.q.rank > 0 ? args.q.size(0) : 0;
    args.seqused_k = problem.make(
        "seqused_k", DType::i32, {batch},
        std::vector<std::int64_t>(static_cast<std::size_t>(batch), static_cast<std::int64_t>(numbers[3])));
    problem.options<AttentionOptions>().scale = static_cast<float>(numbers[kScale]);
    problem.bind(bind(args, problem.options<AttentionOptions>()));
  };
  for (std::vector<std::string>* lines : original.all_lines())
    for (std::string& line : *lines) line = "lengths=full " + line;
  return original;
}

/// The same over tensors where every entry has all keys: q [B, Hq, D], and k and v [B, keys, Hkv, D], or
/// [B, Hkv, keys, D] with heads first.
Original of_one_query(bool heads_first, bool returned) {
  Original original = cached(false, returned);
  original.functions = {"attention_of_one_query"};
  const auto lengths = std::find_if(original.parameters.begin(), original.parameters.end(),
                                    [](const Original::Parameter& p) { return p.argument == "seqused_k"; });
  original.parameters.erase(lengths);
  original.bind = [](oracle::Problem& problem, const std::vector<Tensor>& t,
                     const std::vector<double>& numbers, DType) {
    auto& args = problem.args<AttentionArgs>();
    args.q = t[0];
    args.k = t[1];
    args.v = t[2];
    bind_results(problem, t, 4);
    auto& options = problem.options<AttentionOptions>();
    options.scale = static_cast<float>(numbers[3]);
    problem.bind(bind(args, options));
  };
  for (std::vector<std::string>* lines : original.all_lines())
    for (std::string& line : *lines) line = line.substr(line.find(' ') + 1);
  original.probes.emplace_back("b=1 sq=1 sk=600 hq=2 hkv=1 d=16 scale=1");  // more than one part of the keys
  if (heads_first)
    for (Original::Parameter& parameter : original.parameters)
      if (parameter.argument == "k" || parameter.argument == "v") parameter.axes = {0, 2, 1, 3};
  original.of_tensors = true;
  return original;
}

}  // namespace

std::vector<oracle::Original> cached_originals() {
  std::vector<Original> list = {cached(true, false), cached(true, true), cached(false, false),
                                cached(false, true)};
  // Who takes the first entry's length for each keeps to the keys that the others have.
  for (Original& each : list)
    for (std::string& line : each.probes) line += " lengths=rising";
  for (const bool returned : {false, true}) list.push_back(of_one_length(returned));
  for (const bool heads_first : {false, true})
    for (const bool returned : {false, true}) list.push_back(of_one_query(heads_first, returned));
  return list;
}

}  // namespace isomer::ops::attention
