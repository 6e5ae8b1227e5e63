#include "lab/ask/names/size_names.hpp"

#include <algorithm>

namespace isomer::lab {

const std::map<std::string, std::vector<std::string>>& size_names() {
  static const std::map<std::string, std::vector<std::string>> names = {
      {"S", {"s", "seq_len", "seqlen", "tokens", "num_tokens", "n_tokens", "seq", "total_tokens", "ntokens"}},
      {"N",
       {"n", "out_rows", "rows", "n_rows", "num_rows", "slots", "num_slots", "n_slots", "out_features",
        "cols", "columns", "n_cols"}},
      {"H", {"h", "heads", "head_num", "num_heads", "n_heads", "nheads", "nhead", "numheads"}},
      {"D", {"d",           "dim",         "head_dim", "hd",      "dh",         "dhead",        "d_head",
             "d_model",     "dmodel",      "channels", "headdim", "head_size",  "block_dmodel", "head_dim_k",
             "head_dim_qk", "qk_head_dim", "dk",       "d_k",     "head_dim_q", "k_dim",        "q_dim",
             "dim_k",       "dim_q"}},
      {"Dv", {"dv", "d_v", "head_dim_v", "v_head_dim", "v_dim"}},
      {"B",
       {"b", "batch", "num_seqs", "n_seqs", "batches", "num_batches", "n_batch", "batch_size", "bs", "bsz",
        "nbatch"}},
      {"M", {"m", "rows", "num_rows", "n_rows", "tokens", "num_tokens", "n_tokens"}},
      {"K",
       {"k", "cols", "columns", "hidden", "n_cols", "row_size", "dim", "in_features", "hidden_size",
        "hidden_dim", "inter_size", "inter_dim", "intermediate_size", "ffn_dim", "ncols"}},
      {"W/2", {"d", "intermediate_size", "inter_size", "inter_dim", "ffn_dim"}},
      {"Sq", {"sq",    "seqlen_q",   "q_len",    "seq_q",   "nq",         "lq",
              "len_q", "seq_len_q",  "s",        "n",       "m",          "l",
              "t",     "seq_len",    "seqlen",   "seq",     "seq_length", "sequence_length",
              "n_ctx", "num_tokens", "n_tokens", "ntokens", "tokens",     "total_tokens"}},
      {"total_q",
       {"total_q", "total_tokens", "num_tokens", "n_tokens", "tokens", "total_q_tokens", "total_len_q",
        "total_seqlen_q", "total_seq_len"}},
      {"total_k", {"total_k", "total_kv", "total_kv_tokens", "total_len_k", "total_seqlen_k"}},
      {"Sk", {"sk",        "seqlen_k",    "k_len",        "seq_k",         "nk",
              "lk",        "len_k",       "seq_len_k",    "seqlen_kv",     "kv_len",
              "nkv",       "lkv",         "skv",          "n_kv",          "total_len",
              "kv_length", "context_len", "ctx_len",      "total_seq_len", "cache_len",
              "seq_kv",    "len_kv",      "seq_len_kv",   "kv_seq_len",    "kv_seqlen",
              "num_keys",  "n_keys",      "context_size", "ctx_size",      "nkv_ctx",
              "n_kv_ctx",  "kv_ctx",      "n_ctx_k",      "n_ctx_kv"}},
      {"Hq",
       {"hq",      "h",         "q_heads",  "nheads_q", "num_heads_q", "heads_q",      "h_q",    "n_q_heads",
        "nhead_q", "num_heads", "heads",    "head_num", "q_head_num",  "num_q_heads",  "nheads", "n_heads",
        "nh",      "n_head",    "numheads", "nhead",    "qo_heads",    "num_qo_heads", "h_qo"}},
      {"Hkv",
       {"hkv",     "kv_heads",     "nheads_k", "num_heads_k", "heads_k", "h_k",        "num_key_value_heads",
        "nhead_k", "num_kv_heads", "heads_kv", "kv_head_num", "hk",      "n_kv_heads", "nheads_kv",
        "nkvhead", "nkv_head",     "nkvheads", "n_kv_head",   "kv_h",    "h_kv"}},
      {"nb",
       {"nb", "nblk", "partitions", "num_partitions", "max_num_partitions", "max_partitions",
        "max_num_blocks", "splits", "num_splits", "n_splits", "blocks", "num_blocks", "block_num",
        "seq_block_num", "num_seq_blocks", "n_blocks", "nblocks", "max_blocks"}},
      {"Lmax", {"lmax", "max_tokens", "req_len", "max_seq_len"}},
  };
  return names;
}

bool one_of(const std::vector<std::string>& names, const std::string& name) {
  const auto letter = [](const std::string& text, std::size_t at) { return text.find_first_not_of('_', at); };
  const auto same = [&](const std::string& known) {
    std::size_t a = letter(known, 0), b = letter(name, 0);
    for (; a != std::string::npos && b != std::string::npos && known[a] == name[b];
         a = letter(known, a + 1), b = letter(name, b + 1)) {
    }
    return a == b && a == std::string::npos;
  };
  return std::any_of(names.begin(), names.end(), same);
}

}  // namespace isomer::lab
