#include "ops/attention/attention.hpp"
#include "ops/attention/oracle/cases.hpp"

#include "core/sentence.hpp"

#include <algorithm>

namespace isomer::ops::attention {

const oracle::CaseSchema& schema() {
  static const oracle::CaseSchema fields(
      "attention",
      {oracle::integer("b", 1, "batch entries"),
       oracle::integer("sq", 128, "longest query length"),
       oracle::integer("sk", -1, "longest key length, left padding and new keys included; -1: sq"),
       oracle::integer("hq", 1, "query heads"),
       oracle::integer("hkv", 0, "key/value heads; 0: hq"),
       oracle::integer("d", 64, "head dimension of q and k"),
       oracle::integer("dv", 0, "head dimension of v and out; 0: d"),
       oracle::dtype("dtype", {DType::f16, DType::bf16, DType::f32, DType::e4m3fn}, DType::f16, "of q", true),
       oracle::choice("kv", {"same", "e4m3fn", "i8", "i8x8"},
                      "dtype of k and v; i8: a scale for each row, i8x8: for each 8 channels"),
       oracle::choice("kv_scale", {"f32", "f16", "bf16"}, "dtype of the scales of int8 k and v"),
       oracle::choice("out", {"same", "f32", "f16", "bf16"}, "dtype of out; same: bf16 with e4m3fn"),
       oracle::flag("lse", "asks for lse"),
       oracle::flag("qv", "queries of v: S = scale·(q·k + qv·v)"),
       oracle::option(contract(), "causal", "bottom-right aligned causal mask"),
       oracle::option(contract(), "window_left", "window_left", "left"),
       oracle::option(contract(), "window_right", "window_right", "right"),
       oracle::option(contract(), "attention_chunk", "keys of a chunk; 0: off", "chunk"),
       oracle::option(contract(), "scale", "0: 1/sqrt(d)"),
       oracle::option(contract(), "softcap", "0: off"),
       oracle::choice("sink", {"none", "f32", "same"}, "dtype of the sinks; same: q's"),
       oracle::flag("varlen_q", "q by cu_seqlens_q"),
       oracle::flag("varlen_k", "k and v by cu_seqlens_k"),
       oracle::flag("seqused_q", "effective query lengths"),
       oracle::flag("seqused_k", "effective key lengths"),
       oracle::flag("leftpad_k", "left padding"),
       oracle::integer("page", 0, "page size; 0: not paged"),
       oracle::flag("kv_batch_idx", "cache rows chosen by index"),
       oracle::integer("append", 0, "new keys of an entry; 0: none"),
       oracle::choice("new", {"same", "f16", "bf16", "f32"}, "dtype of the new keys; same: k's"),
       oracle::flag("varlen_new", "new keys by cu_seqlens_k_new, at most `append` of an entry"),
       oracle::choice("rotary", {"none", "neox", "interleaved"}, "rotary embedding of q and the new keys"),
       oracle::integer("rotary_dim", 0, "rotated dimensions; 0: all that fit"),
       oracle::choice("rotary_dtype", {"f32", "same"}, "dtype of cos and sin"),
       oracle::flag("descale", "q, k and v descales, of the e4m3fn ones among them"),
       oracle::option(contract(), "v_colmajor", "v's last three dimensions are [Hkv, Dv, Sk]"),
       oracle::flag("v_in_k", "v is the first dv elements of k's rows"),
       oracle::flag("far", "pages so far apart that 32-bit products overflow"),
       oracle::option(contract(), "pack_gqa", "rows = query position × heads of a group"),
       oracle::option(contract(), "num_splits", "0: the plan decides"),
       oracle::option(contract(), "split_size", "keys of a split; 0: off"),
       oracle::flag("max_seqlen", "gives max_seqlen_q and max_seqlen_k"),
       oracle::choice("lengths", {"ragged", "full", "empty", "rising"},
                      "how lengths vary; empty: some are 0; rising: the first is the shortest"),
       oracle::choice("layout", {"contiguous", "padded", "offset", "transposed", "broadcast"},
                      "how tensors lie in memory", true),
       oracle::choice("regime", oracle::all_regime_names(), "values")});
  return fields;
}

namespace {

/// `count` lengths up to `most`, the first of them the longest and, where asked, one of them 0.
std::vector<std::int64_t> lengths(const oracle::Case& c, oracle::Random& random, std::int64_t most,
                                  std::int64_t zero) {
  std::vector<std::int64_t> list(static_cast<std::size_t>(c.integer("b")), most);
  for (std::size_t i = 1; i < list.size(); ++i)
    if (c.choice("lengths") != "full") list[i] = std::min<std::int64_t>(most, 1 + random.below(most));
  if (c.choice("lengths") == "rising") std::sort(list.begin(), list.end());
  if (c.choice("lengths") == "empty" && zero >= 0) list[static_cast<std::size_t>(zero)] = 0;
  return list;
}

/// Fewer than given, but some where there are some.
std::vector<std::int64_t> fewer(std::vector<std::int64_t> given, oracle::Random& random) {
  for (std::int64_t& length : given)
    if (length > 1) length = 1 + random.below(length - 1);
  return given;
}

}  // namespace

Lengths lengths_of(const oracle::Case& c, oracle::Random& random) {
  if (c.integer("b") < 0)
    core::fail(ErrorCode::bad_argument, "attention: b expects 0 or more, got ", c.integer("b"));
  const auto b = static_cast<std::size_t>(c.integer("b"));
  const std::int64_t last = static_cast<std::int64_t>(b) - 1;
  const std::int64_t sq = c.integer("sq"), sk = c.integer("sk") < 0 ? sq : c.integer("sk");
  Lengths l;
  l.q = c.flag("varlen_q") ? lengths(c, random, sq, last - 1) : std::vector<std::int64_t>(b, sq);
  l.q_used = c.flag("seqused_q") ? fewer(l.q, random) : l.q;

  l.added.assign(b, c.integer("append"));
  if (c.flag("varlen_new")) l.added = lengths(c, random, c.integer("append"), last);
  const bool cache = c.flag("seqused_k") || c.integer("page") > 0 || c.integer("append") > 0;
  l.used = c.flag("varlen_k") || cache ? lengths(c, random, sk, last) : std::vector<std::int64_t>(b, sk);
  l.given = l.used;
  if (c.flag("varlen_k") && c.flag("seqused_k")) l.used = fewer(l.given, random);
  // A cache has room left, where stale values lie.
  if (!c.flag("varlen_k")) l.given.assign(b, cache ? sk + 5 : sk);
  l.pad.assign(b, 0);
  for (std::size_t i = 0; i < b; ++i) {
    l.used[i] = std::max(l.used[i], l.added[i]);
    const std::int64_t before = l.used[i] - l.added[i];
    if (!c.flag("leftpad_k")) continue;
    l.pad[i] = i == 0 ? std::min(before, before / 3 + 1) : random.below(before / 2 + 1);
    if (c.choice("lengths") == "empty" && static_cast<std::int64_t>(i) == last) l.pad[i] = before;
  }
  return l;
}

}  // namespace isomer::ops::attention
