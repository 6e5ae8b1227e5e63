#include "ops/attention/oracle/oracle.hpp"

namespace isomer::ops::attention {

const std::vector<oracle::Variation>& variations() {
  static const std::vector<oracle::Variation> list = {
      {"causal=top-left", "causal and windows aligned at the first key instead of the last"},
      {"mask=finite", "hidden logits are -5e4 instead of −inf: an empty row becomes the mean of the values"},
      {"window_left=exclusive", "the window's left end is not part of it"},
      {"window_right=exclusive", "the window's right end, under causal the diagonal, is not part of it"},
      {"attention_chunk=sliding",
       "a query sees the keys within a chunk's length of its place, not those of its own chunk"},
      {"scale=missing", "logits are q·k"},
      {"scale=twice", "logits are scale · scale · q·k"},
      {"scale=of-dv", "the default scale is 1/sqrt(Dv)"},
      {"scale=of-d", "the default scale is 1/sqrt(D) with qv too"},
      {"qv=ignored", "logits are q·k without qv·v"},
      {"heads=modulo", "query head h reads kv head h % Hkv"},
      {"softcap=after-mask", "tanh applied to masked logits: hidden keys get the logit −softcap"},
      {"softcap=before-scale", "tanh applied to q·k, then scaled"},
      {"softcap=ignored", "no softcap"},
      {"max=none", "e^S in f32 instead of e^(S − max)"},
      {"max=from-zero",
       "the running maximum begins at 0: e^(S − max(max, 0)), a row of logits far below 0 sums to 0"},
      {"logits=f16", "logits rounded to f16 before the softmax"},
      {"log=base-2", "lse is a logarithm of base 2"},
      {"lse=without-sink", "the sink is missing in lse"},
      {"empty=nan", "a row without keys is 0/0"},
      {"empty_lse=+inf", "lse of a row without keys is +inf"},
      {"sink=ignored", "the sink is missing"},
      {"sink=scaled", "the sink is multiplied by the scale"},
      {"sink=counted-twice", "the sink is in the denominator twice, as when two splits carry it"},
      {"descale=ignored", "all descales are taken as 1"},
      {"v_descale=ignored", "v_descale is taken as 1"},
      {"kv_scale=ignored", "int8 keys and values are not multiplied by their scales"},
      {"kv_scale=of-first-group", "all channels of an int8 row are multiplied by the scale of the first 8"},
      {"v_colmajor=ignored", "a column-major v read as row-major"},
      {"strides=v-as-k", "v addressed with the strides of k"},
      {"strides=compact", "q, k and v addressed as if they were compact"},
      {"page_index=int32", "page · stride computed in 32 bits"},
      {"stale=leaks", "slots after the keys weigh 0 but their values are added: 0 · NaN = NaN"},
      {"seqused_q=ignored", "rows past the effective query length are queries too"},
      {"seqused_k=ignored", "slots past the effective key length are keys too"},
      {"leftpad=ignored", "keys start at slot 0"},
      {"cu_seqlens_k=of-q", "keys delimited by cu_seqlens_q"},
      {"kv_batch_idx=ignored", "batch entry b uses cache row b"},
      {"append=not-attended", "new keys are written but not attended"},
      {"append=at-row-start", "new keys are written from slot 0 on"},
      {"append=one-late", "new keys are written one slot late"},
      {"append=unscaled", "new keys and values are rounded to e4m3 without division by the cache's descale"},
      {"rotary=other-style", "interleaved pairs instead of halves, or the other way round"},
      {"rotary_position=from-0", "rotary positions do not count the cached keys"},
      {"rotary_q=advances", "query i rotated at its own position without a mask too"},
      {"merge=unweighted", "the results of splits are averaged"},
  };
  return list;
}

}  // namespace isomer::ops::attention
