#include "core/sentence.hpp"
#include "core/tensor_text.hpp"
#include "ops/attention/attention.hpp"
#include "ops/attention/contract/clauses.hpp"

#include <cmath>
#include <initializer_list>

namespace isomer::ops::attention {
namespace {

using core::say;
using core::shape_text;
using Broken = std::optional<std::string>;
using Check = Broken (*)(const AttentionArgs&, const AttentionOptions&);

struct Named {
  const char* name;
  const Tensor* tensor;
};

/// The first of those tensors that is given.
std::optional<Named> given(std::initializer_list<Named> tensors) {
  for (const Named& t : tensors)
    if (t.tensor->defined()) return t;
  return {};
}

Broken excludes(const char* name, const Tensor& tensor, std::initializer_list<Named> others,
                const char* reason) {
  if (!tensor.defined()) return {};
  if (const auto other = given(others))
    return say(name, " and ", other->name, " exclude each other: ", reason);
  return {};
}

// ---- heads and head dimensions

Broken heads(const AttentionArgs& a, const AttentionOptions&) {
  const std::int64_t hq = a.q.size(-2), hkv = a.k.size(-2);
  if (hkv == 0) return say("k has 0 kv heads, expected at least 1");
  if (hq % hkv != 0) return say("k has ", hkv, " kv heads, which do not divide ", hq, " query heads");
  return {};
}

Broken head_dims(const AttentionArgs& a, const AttentionOptions&) {
  const int step = a.q.dtype == DType::e4m3fn || a.k.dtype == DType::e4m3fn ? 16 : 8;
  const std::tuple<const char*, std::int64_t, int> dims[] = {{"q and k", a.q.size(-1), 256},
                                                             {"v and out", a.out.size(-1), 512}};
  for (const auto& [who, d, most] : dims)
    if (d < step || d > most || d % step != 0)
      return say("the head dimension of ", who, " is ", d, ", expected a multiple of ", step, " from ", step,
                 " to ", most, step == 16 ? " with e4m3fn" : "");
  return {};
}

// ---- ranks and shapes

Broken q_rank(const AttentionArgs& a, const AttentionOptions&) {
  const bool varlen = a.cu_seqlens_q.defined();
  if (a.q.rank == (varlen ? 3 : 4)) return {};
  return say("q is ", a.q.describe(), ", expected ",
             varlen ? "[total_q, Hq, D] with cu_seqlens_q" : "[B, Sq, Hq, D] without cu_seqlens_q");
}

Broken k_rank(const AttentionArgs& a, const AttentionOptions&) {
  const bool varlen = a.cu_seqlens_k.defined();
  if (a.k.rank == (varlen ? 3 : 4)) return {};
  return say("k is ", a.k.describe(), ", expected ",
             varlen                   ? "[total_k, Hkv, D] with cu_seqlens_k"
             : a.page_table.defined() ? "[pages, page_size, Hkv, D] with page_table"
                                      : "[B, Sk, Hkv, D] without cu_seqlens_k");
}

Broken v_shape(const AttentionArgs& a, const AttentionOptions& o) {
  if (o.v_colmajor && a.v.dtype != DType::e4m3fn)
    return say("v_colmajor needs an e4m3fn v, v is ", name_of(a.v.dtype));
  // k's shape with Dv at its end, or the last three turned to [Hkv, Dv, Sk].
  Tensor want = a.k;
  const std::int64_t dv = a.out.size(-1);
  const std::size_t last = static_cast<std::size_t>(want.rank - 1);
  want.shape[last] = dv;
  if (o.v_colmajor) {
    want.shape[last] = a.k.size(-3);
    want.shape[last - 1] = dv;
    want.shape[last - 2] = a.k.size(-2);
  }
  const std::size_t dv_at = o.v_colmajor ? last - 1 : last;
  bool same = a.v.rank == want.rank;
  for (int i = 0; same && i < want.rank; ++i)
    same = a.v.size(i) == want.size(i) || static_cast<std::size_t>(i) == dv_at;
  if (same && a.v.shape[dv_at] == dv) return {};
  // v and out disagree on Dv alone: an output follows its inputs, unless v_new agrees with it.
  if (same && !(a.v_new.defined() && a.v_new.size(-1) == dv)) {
    Tensor out = a.out;
    out.shape[static_cast<std::size_t>(out.rank - 1)] = a.v.shape[dv_at];
    return say("out has shape ", shape_text(a.out), ", expected ", shape_text(out), " beside v ",
               shape_text(a.v));
  }
  return say("v is ", a.v.describe(), ", expected ", shape_text(want), " beside k ", shape_text(a.k),
             o.v_colmajor ? " with v_colmajor" : "");
}

Broken kv_rows(const AttentionArgs& a, const AttentionOptions&) {
  if (a.cu_seqlens_k.defined() || a.kv_batch_idx.defined()) return {};
  const std::int64_t batch = a.cu_seqlens_q.defined() ? a.cu_seqlens_q.size(0) - 1 : a.q.size(0);
  const Tensor& rows = a.page_table.defined() ? a.page_table : a.k;
  if (rows.size(0) == batch) return {};
  return say(a.page_table.defined() ? "page_table" : "k", " has a first dimension of ", rows.size(0),
             ", expected the ", batch, " batch entries without kv_batch_idx");
}

Broken new_rank(const AttentionArgs& a, const AttentionOptions&) {
  if (!a.k_new.defined()) return {};
  const bool varlen = a.cu_seqlens_k_new.defined();
  if (a.k_new.rank == (varlen ? 3 : 4)) return {};
  return say(
      "k_new is ", a.k_new.describe(), ", expected ",
      varlen ? "[total_new, Hkv, D] with cu_seqlens_k_new" : "[B, Sn, Hkv, D] without cu_seqlens_k_new");
}

// ---- element types

Broken kv_dtype(const AttentionArgs& a, const AttentionOptions&) {
  const bool sixteen_bits = a.q.dtype == DType::f16 || a.q.dtype == DType::bf16;
  const bool bytes = a.q.dtype == DType::e4m3fn;
  if (a.k.dtype == a.q.dtype || (sixteen_bits && a.k.dtype == DType::e4m3fn) ||
      (!bytes && a.k.dtype == DType::i8))
    return {};
  return say("k is ", name_of(a.k.dtype), ", expected ", name_of(a.q.dtype),
             sixteen_bits ? ", e4m3fn or i8"
             : bytes      ? ""
                          : " or i8",
             " with ", name_of(a.q.dtype), " q");
}

/// Whether `scale` has a scale for each row of `t` or for each 8 of its channels.
Broken scale_of(const char* name, const Tensor& scale, const char* of, const Tensor& t) {
  if (t.dtype != DType::i8)
    return scale.defined() ? Broken(say(name, " is given, but ", of, " is ", name_of(t.dtype),
                                        ", expected i8; an e4m3fn ", of, " has ", of, "_descale"))
                           : Broken();
  if (!scale.defined())
    return say(of, " is i8 without ", name, ", expected the scales that quantize_copy_kv wrote beside it");
  bool same = scale.rank == t.rank || scale.rank == t.rank - 1;
  for (int i = 0; same && i + 1 < t.rank; ++i) same = scale.size(i) == t.size(i);
  if (same && scale.rank == t.rank) same = scale.size(-1) == 1 || scale.size(-1) * 8 == t.size(-1);
  if (same) return {};
  Tensor rows = t, groups = t;
  rows.rank = t.rank - 1;
  groups.shape[static_cast<std::size_t>(t.rank - 1)] = t.size(-1) / 8;
  return say(name, " has shape ", shape_text(scale), ", expected ", shape_text(rows), " or ",
             shape_text(groups), " beside ", of, " ", shape_text(t));
}

Broken scales(const AttentionArgs& a, const AttentionOptions&) {
  if (Broken broken = scale_of("k_scale", a.k_scale, "k", a.k)) return broken;
  return scale_of("v_scale", a.v_scale, "v", a.v);
}

Broken new_dtype(const AttentionArgs& a, const AttentionOptions&) {
  if (!a.k_new.defined()) return {};
  if (a.k.dtype == DType::i8)
    return say("k_new is given, but k is i8: quantize_copy_kv writes an int8 cache and its scales");
  if (a.k_new.dtype == a.k.dtype || (a.k.dtype == DType::e4m3fn && a.k_new.dtype != DType::e4m3fn)) return {};
  return say("k_new is ", name_of(a.k_new.dtype), ", expected k's dtype ", name_of(a.k.dtype));
}

Broken out_dtype(const AttentionArgs& a, const AttentionOptions&) {
  if (a.q.dtype == DType::e4m3fn || a.out.dtype == a.q.dtype) return {};
  return say("out is ", name_of(a.out.dtype), ", expected q's dtype ", name_of(a.q.dtype));
}

Broken descales(const AttentionArgs& a, const AttentionOptions&) {
  struct Pair {
    const char *name, *of;
    const Tensor *descale, *tensor;
  };
  for (const Pair& p :
       {Pair{"q_descale", "q", &a.q_descale, &a.q}, Pair{"k_descale", "k", &a.k_descale, &a.k},
        Pair{"v_descale", "v", &a.v_descale, &a.v}})
    if (p.descale->defined() && p.tensor->dtype != DType::e4m3fn)
      return say(p.name, " is given, but ", p.of, " is ", name_of(p.tensor->dtype), ", expected e4m3fn");
  return {};
}

Broken qv(const AttentionArgs& a, const AttentionOptions&) {
  if (!a.qv.defined() || a.k.dtype == a.q.dtype) return {};
  return say("qv is given, but k is ", name_of(a.k.dtype), ", expected q's dtype ", name_of(a.q.dtype));
}

Broken float_or_q(const char* name, const Tensor& t, const AttentionArgs& a) {
  if (!t.defined() || t.dtype == DType::f32 || t.dtype == a.q.dtype) return {};
  return say(name, " is ", name_of(t.dtype), ", expected f32",
             a.q.dtype == DType::e4m3fn ? "" : " or q's dtype ",
             a.q.dtype == DType::e4m3fn ? "" : name_of(a.q.dtype));
}

Broken sink_dtype(const AttentionArgs& a, const AttentionOptions&) { return float_or_q("sink", a.sink, a); }

// ---- which arguments go together

Broken varlen_keys(const AttentionArgs& a, const AttentionOptions&) {
  return excludes("cu_seqlens_k", a.cu_seqlens_k,
                  {{"page_table", &a.page_table},
                   {"kv_batch_idx", &a.kv_batch_idx},
                   {"leftpad_k", &a.leftpad_k},
                   {"k_new", &a.k_new}},
                  "keys by cu_seqlens_k are no cache");
}

Broken paging(const AttentionArgs& a, const AttentionOptions&) {
  if (!a.page_table.defined()) return {};
  if (!a.seqused_k.defined() && !a.cache_seqlens.defined())
    return say(
        "page_table needs seqused_k, or cache_seqlens with k_new: pages do not say how many keys there are");
  if (a.k.size(-3) == 0) return say("k has pages of 0 keys, expected at least 1");
  return {};
}

Broken append(const AttentionArgs& a, const AttentionOptions&) {
  if (a.k_new.defined() != a.v_new.defined())
    return a.k_new.defined() ? say("k_new is given without v_new") : say("v_new is given without k_new");
  if (!a.k_new.defined()) {
    if (const auto alone =
            given({{"cache_seqlens", &a.cache_seqlens}, {"cu_seqlens_k_new", &a.cu_seqlens_k_new}}))
      return say(alone->name, " is given without k_new",
                 alone->tensor == &a.cache_seqlens ? "; lengths without an append are seqused_k" : "");
    return {};
  }
  if (!a.cache_seqlens.defined()) return say("k_new needs cache_seqlens: where in the cache the new keys go");
  return excludes("seqused_k", a.seqused_k, {{"k_new", &a.k_new}},
                  "with an append the length is cache_seqlens plus the new keys");
}

Broken rotary(const AttentionArgs& a, const AttentionOptions& o) {
  if (a.rotary_cos.defined() != a.rotary_sin.defined())
    return a.rotary_cos.defined() ? say("rotary_cos is given without rotary_sin")
                                  : say("rotary_sin is given without rotary_cos");
  if (!a.rotary_cos.defined())
    return o.rotary_interleaved ? Broken(say("rotary_interleaved is set without rotary_cos and rotary_sin"))
                                : Broken();
  if (!a.k_new.defined()) return say("rotary_cos is given without k_new: only an append rotates");
  if (Broken broken = float_or_q("rotary_cos", a.rotary_cos, a)) return broken;
  const std::int64_t dim = 2 * a.rotary_cos.size(1);
  if (dim == 0 || dim % 16 != 0 || dim > a.q.size(-1))
    return say("rotary_cos ", shape_text(a.rotary_cos), " rotates ", dim,
               " dimensions, expected a multiple of 16 from 16 to the head dimension ", a.q.size(-1));
  return {};
}

// ---- options

Broken scalars(const AttentionArgs&, const AttentionOptions& o) {
  const std::pair<const char*, float> values[] = {{"scale", o.scale}, {"softcap", o.softcap}};
  for (const auto& [name, value] : values)
    if (!std::isfinite(value) || value < 0)
      return say(name, " is ", value, ", expected a finite number of at least 0");
  return {};
}

Broken lengths(const AttentionArgs&, const AttentionOptions& o) {
  const std::tuple<const char*, std::int64_t, std::int64_t> values[] = {
      {"window_left", o.window_left, -1},
      {"window_right", o.window_right, -1},
      {"max_seqlen_q", o.max_seqlen_q, 0},
      {"max_seqlen_k", o.max_seqlen_k, 0},
      {"attention_chunk", o.attention_chunk, 0}};
  for (const auto& [name, value, least] : values)
    if (value < least) return say(name, " is ", value, ", expected at least ", least);
  return {};
}

Broken splits(const AttentionArgs&, const AttentionOptions& o) {
  if (o.num_splits < 0 || o.num_splits > 256)
    return say("num_splits is ", o.num_splits, ", expected 0 to 256");
  if (o.split_size < 0) return say("split_size is ", o.split_size, ", expected at least 0");
  if (o.split_size > 0 && o.num_splits > 1)
    return say("split_size ", o.split_size, " and num_splits ", o.num_splits, " exclude each other");
  return {};
}

core::Clause clause(const char* text, Check check) {
  return {text, [check](const core::Call& call) {
            return check(call.args<AttentionArgs>(), call.options<AttentionOptions>());
          }};
}

}  // namespace

std::vector<core::Clause> form_clauses() {
  return {
      clause("q has rank 3 exactly with cu_seqlens_q", q_rank),
      clause("k has rank 3 exactly with cu_seqlens_k", k_rank),
      clause("Hkv divides Hq", heads),
      clause("D and Dv are multiples of 8, of 16 with e4m3fn, up to 256 and 512", head_dims),
      clause("v has k's shape with Dv; with v_colmajor, e4m3fn only, its last three dimensions are [Hkv, Dv, "
             "Sk]",
             v_shape),
      clause("k is of q's dtype, e4m3fn under a 16-bit q, or int8 under any q but e4m3fn", kv_dtype),
      clause("k_scale and v_scale come exactly with int8 k and v, in their shapes with the last dimension "
             "absent, 1 or an eighth",
             scales),
      clause("k_new is of k's dtype, or f16, bf16 or f32 where k is e4m3fn, never with an int8 k", new_dtype),
      clause("out is of q's dtype; f16, bf16 or f32 for an e4m3fn q", out_dtype),
      clause("qv goes with k and v of q's dtype", qv),
      clause("a descale goes with an e4m3fn tensor", descales),
      clause("sink is f32 or of q's dtype", sink_dtype),
      clause("cu_seqlens_k excludes page_table, kv_batch_idx, leftpad_k and k_new", varlen_keys),
      clause("page_table needs seqused_k or cache_seqlens", paging),
      clause("k_new, v_new and cache_seqlens come together and exclude seqused_k", append),
      clause("k_new has rank 3 exactly with cu_seqlens_k_new", new_rank),
      clause("k, or page_table, has one row for each batch entry unless kv_batch_idx chooses", kv_rows),
      clause("rotary_cos and rotary_sin come together, with k_new, in f32 or q's dtype, for a multiple of 16 "
             "dimensions of D",
             rotary),
      clause("scale and softcap are finite and at least 0", scalars),
      clause("windows are at least -1, max_seqlens and attention_chunk at least 0", lengths),
      clause("num_splits is 0 to 256, split_size at least 0, and split_size excludes num_splits > 1", splits),
  };
}

}  // namespace isomer::ops::attention
