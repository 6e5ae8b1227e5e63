#pragma once

#include <isomer/explain.hpp>
#include <isomer/plan.hpp>
#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

#include <cstdint>

namespace isomer {

/// Tensors of one attention call. B batch entries, Hq query heads, Hkv key/value heads (Hq % Hkv = 0, query
/// head h reads kv head h / (Hq/Hkv)), D the head dimension of q and k, Dv that of v and out; D up to 256,
/// Dv up to 512, multiples of 8 (of 16 for FP8). The last dimension of every tensor is contiguous; every
/// other stride is free.
struct AttentionArgs {
  /// [B, Sq, Hq, D], or [total_q, Hq, D] with cu_seqlens_q. f16, bf16, f32 or e4m3fn.
  Tensor q;
  /// [B, Sk, Hkv, D]; [total_k, Hkv, D] with cu_seqlens_k; [pages, page_size, Hkv, D] with page_table. q's
  /// dtype, e4m3fn under a 16-bit q, or int8 with k_scale. Written at the append positions when k_new is
  /// given, otherwise only read.
  Tensor k;
  /// k's dtype and shape with Dv. With v_colmajor (e4m3fn only) the last three dimensions are [Hkv, Dv, Sk],
  /// the keys contiguous: [B, Hkv, Dv, Sk], [Hkv, Dv, total_k] or [pages, Hkv, Dv, page_size].
  Tensor v;
  /// [B, Sq, Hq, Dv] or [total_q, Hq, Dv]. q's dtype; bf16, f16 or f32 for e4m3fn q. Rows past the sequences
  /// of cu_seqlens_q and seqused_q are left as they are, in lse too.
  Tensor out;
  /// Optional f32 [B, Hq, Sq], or [Hq, total_q] with cu_seqlens_q: natural log of the softmax denominator.
  Tensor lse = {};

  /// Optional i32 [B + 1], ascending from 0: rows of q of batch entry b are [cu[b], cu[b + 1]).
  Tensor cu_seqlens_q = {};
  Tensor cu_seqlens_k = {};  ///< optional i32 [B + 1], likewise for unpaged k and v
  Tensor seqused_q = {};     ///< optional i32 [B]: effective query lengths
  /// Optional i32 [B]: slots in use. page_table needs it (or an append), an append excludes it.
  Tensor seqused_k = {};
  /// Optional i32 [B]: the slot of the first key. Lengths count slots: the effective key length is less by
  /// it.
  Tensor leftpad_k = {};
  /// Optional i32 [B, max_pages]: the page of every page_size slots. Entries past the keys are not read.
  Tensor page_table = {};
  Tensor kv_batch_idx = {};  ///< optional i32 [B]: row of k, v (or of page_table) that batch entry b uses

  /// Append: optional [B, Sn, Hkv, D] and [B, Sn, Hkv, Dv] (or [total_new, …] with cu_seqlens_k_new) of k's
  /// dtype, written into k and v in place from slot cache_seqlens[b] on, then attended: cache_seqlens[b] + Sn
  /// slots are in use. A slot that is written must be of one batch entry alone. f16, bf16 or f32 into an
  /// e4m3fn cache is quantised by the cache's descale: e4m3(x / descale[b, hkv]), the quotient in f32,
  /// rounded to nearest even, saturating. An int8 cache is written by quantize_copy_kv.
  Tensor k_new = {};
  Tensor v_new = {};             ///< likewise for v
  Tensor cu_seqlens_k_new = {};  ///< optional i32 [B + 1]
  Tensor cache_seqlens = {};     ///< i32 [B], with k_new only: slots in use before it, left padding included
  /// Rotary embedding of q and k_new, with k_new only: f32 or q's dtype [positions, rotary_dim / 2],
  /// rotary_dim a multiple of 16 up to D. The position of new key j is cache_seqlens[b] + j, of query i
  /// likewise when causal or windowed, and cache_seqlens[b] otherwise. Rotated in f32 and rounded once to the
  /// dtype of q or k (after the division by the descale, where the append quantises).
  Tensor rotary_cos = {};
  Tensor rotary_sin = {};  ///< rotary_cos's dtype and shape

  Tensor q_descale = {};  ///< optional f32 [B, Hkv], FP8: multiplies the logits
  Tensor k_descale = {};  ///< optional f32 [B, Hkv], FP8: multiplies the logits
  Tensor v_descale = {};  ///< optional f32 [B, Hkv], FP8: multiplies out
  /// Optional [Hq], f32 or q's dtype (f32 for e4m3fn): a logit that joins the denominator and lse, not
  /// scaled.
  Tensor sink = {};

  /// With int8 k and v: what multiplies them, as quantize_copy_kv writes it: k's and v's own shapes without
  /// the last dimension or with 1 there (a scale for each row and head), or with D / 8 and Dv / 8 (for each 8
  /// channels). f32, f16 or bf16, any strides. An element is int8 · scale in f32.
  Tensor k_scale = {};
  Tensor v_scale = {};  ///< likewise for v

  /// Optional [B, Sq, Hq, Dv] or [total_q, Hq, Dv] of q's dtype, f16, bf16 or f32, with k and v of that dtype
  /// too (absorbed MLA): the logits are scale·(q·kᵀ + qv·vᵀ). It is not rotated.
  Tensor qv = {};
};

/// Options of attention.
struct AttentionOptions {
  float scale = 0.0f;  ///< multiplies q·k, at least 0; 0 means 1/sqrt(D), with qv 1/sqrt(D + Dv)
  /// Query i sees key j only where j <= i + Sk − Sq (bottom-right aligned, effective lengths): window_right =
  /// 0 whatever it says.
  bool causal = false;
  std::int64_t window_left = -1;    ///< keys left of the diagonal that are visible; −1 all
  std::int64_t window_right = -1;   ///< keys right of the diagonal that are visible; −1 all
  float softcap = 0.0f;             ///< S = softcap·tanh(S/softcap), before masking; 0 off
  std::int64_t max_seqlen_q = 0;    ///< with cu_seqlens_q: an upper bound of the lengths; 0 unknown
  std::int64_t max_seqlen_k = 0;    ///< an upper bound of the effective key lengths; 0 unknown
  bool rotary_interleaved = false;  ///< pairs (2i, 2i+1) instead of (i, i + rotary_dim/2)
  bool v_colmajor = false;          ///< v's last three dimensions are [Hkv, Dv, Sk]; needs an e4m3fn v
  /// Whether something is done: as the plan decides, or as the caller says.
  enum class Choice { plan, never, always };
  Choice pack_gqa = Choice::plan;  ///< rows = query position × heads of one group
  int num_splits = 0;  ///< parts into which the keys are split, up to 256: 0 the plan decides, 1 none
  /// Keys of one split, counted from key 0: the same bits whatever the batch; 0 off. Excludes num_splits > 1.
  std::int64_t split_size = 0;
  /// Query i, which stands at p = i + Sk − Sq, sees no key but those of its own chunk, p − p mod chunk <= j <
  /// p − p mod chunk + chunk (and those among them that causal and the window leave it); 0 off.
  std::int64_t attention_chunk = 0;
};

/// Forward attention for inference: out = softmax(mask(softcap(scale·q·kᵀ)))·v per query head, in f32
/// accumulation. A row with no visible key gives out = 0 and lse = −inf (with a sink: lse = sink). Throws
/// Error bad_argument, with nothing written, when a clause of the contract does not hold (`isomer ops
/// attention`). Source of the semantics: FlashAttention-3 (hopper/), with the differences named in the
/// contract.
ISOMER_API void attention(const Queue& queue, const AttentionArgs& args,
                          const AttentionOptions& options = {});

/// What attention would run for this call; nothing runs and nothing is written. Throws like attention.
ISOMER_API Explanation explain(const Queue& queue, const AttentionArgs& args,
                               const AttentionOptions& options = {});

/// attention planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like attention.
ISOMER_API Plan<AttentionArgs> plan(const Queue& queue, const AttentionArgs& args,
                                    const AttentionOptions& options = {});

/// Tensors of merge_attention.
struct MergeAttentionArgs {
  Tensor out_a;     ///< [..., H, Dv] f32, f16 or bf16
  Tensor lse_a;     ///< f32 [..., H]
  Tensor out_b;     ///< out_a's shape and dtype
  Tensor lse_b;     ///< lse_a's shape
  Tensor out;       ///< out_a's shape, f32, f16 or bf16; may be out_a
  Tensor lse = {};  ///< optional f32 [..., H]; may be lse_a
};

/// merge_attention has no options.
struct MergeAttentionOptions {};

/// Attention over the union of two disjoint key sets from the results over each: in f32, for ring or cascaded
/// attention. A part with lse = −inf weighs nothing; both −inf give out = 0, lse = −inf. If the parts have a
/// sink, exactly one of them carried it. Throws Error bad_argument.
ISOMER_API void merge_attention(const Queue& queue, const MergeAttentionArgs& args,
                                const MergeAttentionOptions& options = {});

/// What merge_attention would run for this call; nothing runs and nothing is written. Throws like
/// merge_attention.
ISOMER_API Explanation explain(const Queue& queue, const MergeAttentionArgs& args,
                               const MergeAttentionOptions& options = {});

/// merge_attention planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// merge_attention.
ISOMER_API Plan<MergeAttentionArgs> plan(const Queue& queue, const MergeAttentionArgs& args,
                                         const MergeAttentionOptions& options = {});

}  // namespace isomer
