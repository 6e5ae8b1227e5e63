#include "ops/attention/attention.hpp"
#include "ops/attention/oracle/oracle.hpp"

#include <cmath>

namespace isomer::ops::attention {

/// Decode over keys in pages, as the engines of servers have it: one query for each entry, k and v
/// [pages, page_size, Hkv, D], a table of pages for each entry, and how many keys each has.
oracle::Original paged_original() {
  using oracle::Original;
  using Reads = Original::Reads;
  return {
      .op = "attention",
      .functions = {"attention_of_pages"},
      .parameters =
          {{.name = "q", .argument = "q", .reads = Reads::outer_strides, .field = "dtype", .also = "Q query"},
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
           {.name = "page_table",
            .argument = "page_table",
            .index = true,
            .also = "block_table block_tables page_tables block_tables_ptr page_indices block_indices"},
           {.name = "seqused_k",
            .argument = "seqused_k",
            .also = "seq_lens seqlens context_lens kv_lens cache_seqlens seqlens_k sequence_lengths "
                    "kv_seq_lens context_lengths seq_lengths"},
           {.name = "scale",
            .argument = "scale",
            .kind = Original::Kind::real,
            .optional = true,
            .also = "softmax_scale sm_scale"},
           {.name = "out",
            .argument = "out",
            .output = true,
            .reads = Reads::outer_strides,
            .field = "out",
            .also = "o Out O output"}},
      .bind =
          [](oracle::Problem& problem, const std::vector<Tensor>& t, const std::vector<double>& numbers,
             DType) {
            auto& args = problem.args<AttentionArgs>();
            args.q = t[0];
            args.k = t[1];
            args.v = t[2];
            args.page_table = t[3];
            args.seqused_k = t[4];
            args.out = t[6];
            auto& options = problem.options<AttentionOptions>();
            options.scale = static_cast<float>(numbers[5]);
            problem.bind(bind(args, options));
          },
      .number =
          [](const core::Call& call, std::string_view) {
            const float scale = call.options<AttentionOptions>().scale;
            if (scale != 0) return static_cast<double>(scale);
            return 1.0 / std::sqrt(static_cast<double>(call.args<AttentionArgs>().q.size(-1)));
          },
      .probes = {"b=3 sq=1 sk=40 hq=4 hkv=2 d=16 page=8", "b=2 sq=1 sk=21 hq=2 hkv=2 d=32 page=8",
                 "b=2 sq=1 sk=20 hq=2 hkv=1 d=16 page=4 scale=40", "b=4 sq=1 sk=150 hq=6 hkv=3 d=16 page=16",
                 "b=2 sq=1 sk=33 hq=2 hkv=1 d=16 page=8 regime=outlier"},
      .sizes = {"sq=1 hq=2 hkv=1 d=16 page=8 sk="},
      .usual = {{{"dtype", DType::f16}}, {{"dtype", DType::bf16}}, {{"dtype", DType::f32}}}};
}

}  // namespace isomer::ops::attention
