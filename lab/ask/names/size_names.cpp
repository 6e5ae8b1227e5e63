#include "lab/ask/names/size_names.hpp"

namespace isomer::lab {

const std::map<std::string, std::vector<std::string>>& size_names() {
  static const std::map<std::string, std::vector<std::string>> names = {
      {"S", {"s", "seq_len", "seqlen", "tokens", "num_tokens", "n_tokens", "seq", "total_tokens", "ntokens"}},
      {"N",
       {"n", "out_rows", "rows", "n_rows", "num_rows", "slots", "num_slots", "n_slots", "out_features",
        "cols", "columns", "n_cols"}},
      {"H", {"h", "heads", "head_num", "num_heads", "n_heads", "nheads", "nhead", "numheads"}},
      {"D",
       {"d", "dim", "head_dim", "hd", "dh", "dhead", "d_head", "d_model", "dmodel", "channels", "headdim",
        "head_size", "block_dmodel", "head_dim_k", "head_dim_qk", "qk_head_dim", "dk", "d_k", "head_dim_q"}},
      {"Dv", {"dv", "d_v", "head_dim_v", "v_head_dim", "v_dim"}},
      {"B",
       {"b", "batch", "num_seqs", "n_seqs", "batches", "num_batches", "n_batch", "batch_size", "bs", "bsz",
        "nbatch"}},
      {"M", {"m", "rows", "num_rows", "n_rows", "tokens"}},
      {"K", {"k", "cols", "columns", "hidden", "n_cols", "row_size", "dim", "in_features"}},
      {"Sq",
       {"sq", "seqlen_q", "q_len", "seq_q", "nq", "lq", "len_q", "seq_len_q", "s", "n", "m", "l", "seq_len",
        "seqlen", "seq", "seq_length", "sequence_length", "n_ctx"}},
      {"Sk", {"sk",        "seqlen_k",    "k_len",      "seq_k",         "nk",
              "lk",        "len_k",       "seq_len_k",  "seqlen_kv",     "kv_len",
              "nkv",       "lkv",         "skv",        "n_kv",          "total_len",
              "kv_length", "context_len", "ctx_len",    "total_seq_len", "cache_len",
              "seq_kv",    "len_kv",      "seq_len_kv", "kv_seq_len",    "kv_seqlen",
              "num_keys",  "n_keys"}},
      {"Hq", {"hq",        "h",       "q_heads",   "nheads_q", "num_heads_q", "heads_q",    "h_q",
              "n_q_heads", "nhead_q", "num_heads", "heads",    "head_num",    "q_head_num", "num_q_heads",
              "nheads",    "n_heads", "nh",        "n_head",   "numheads",    "nhead"}},
      {"Hkv",
       {"hkv", "kv_heads", "nheads_k", "num_heads_k", "heads_k", "h_k", "num_key_value_heads", "nhead_k",
        "num_kv_heads", "heads_kv", "kv_head_num", "hk", "n_kv_heads", "nheads_kv", "nkvhead", "nkv_head",
        "nkvheads", "n_kv_head"}},
      {"nb",
       {"nb", "nblk", "partitions", "num_partitions", "max_num_partitions", "max_partitions",
        "max_num_blocks", "splits", "num_splits", "n_splits", "blocks", "num_blocks", "block_num",
        "seq_block_num", "n_blocks", "nblocks", "max_blocks"}},
      {"Lmax", {"lmax", "max_tokens", "req_len", "max_seq_len"}},
  };
  return names;
}

}  // namespace isomer::lab
