#pragma once

#include <isomer/explain.hpp>
#include <isomer/plan.hpp>
#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

#include <cstdint>

namespace isomer {

/// Tensors of one decode step over a token-indexed KV cache. B sequences, Hq query heads, Hkv key/value heads
/// (Hq % Hkv = 0, query head h reads kv head h / (Hq/Hkv)), D the head dimension, a multiple of 8 up to 256.
/// Every stride of every tensor is free, those of k and v independently of each other.
struct FlashDecodeArgs {
  Tensor q;  ///< [B, Hq, D] f32, f16 or bf16: one query per sequence
  Tensor k;  ///< [slots, Hkv, D], q's dtype, or int8 with k_scale
  Tensor v;  ///< [slots, Hkv, D], k's dtype
  /// i32 [R, Lmax]: the slot of token t of request r. Entries past a sequence's length are never read.
  Tensor req_to_tokens;
  Tensor b_req_idx;  ///< i32 or i64 [B]: the row of req_to_tokens; not read where the length is 0
  Tensor b_seqlen;   ///< i32 or i64 [B]: tokens of each sequence, 0 to Lmax
  Tensor out;        ///< [B, Hq, D] f32, f16 or bf16
  /// With int8 k and v: what multiplies them, f32, f16 or bf16, as quantize_copy_kv writes it: [slots, Hkv,
  /// 1] or [slots, Hkv], or [slots, Hkv, D / 8] with a scale for each 8 channels. An element is int8 · scale
  /// in f32.
  Tensor k_scale = {};
  Tensor v_scale = {};  ///< likewise for v
};

/// Options of flash_decode.
struct FlashDecodeOptions {
  /// Tokens that one block reads, a multiple of 16; 0 lets the plan decide.
  std::int64_t block_seq = 0;
  /// An upper bound of b_seqlen that sizes grid and workspace; 0 takes Lmax.
  std::int64_t max_len = 0;
  float scale = 0.0f;  ///< multiplies q·k; 0 means 1/sqrt(D)
};

/// out[b, h] = softmax(scale·q·kᵀ)·v over the b_seqlen[b] tokens of sequence b: flash_decode_stage1 and
/// flash_decode_stage2 in one call, the partial results in the queue's workspace. A sequence of length 0
/// gives 0. Throws Error bad_argument, with nothing written, when a clause of the contract does not hold: on
/// the CPU and in checked mode also for lengths, request rows and token slots out of range. Source of the
/// semantics: lightllm's flash_decoding (llama), with the differences named in the contract.
ISOMER_API void flash_decode(const Queue& queue, const FlashDecodeArgs& args,
                             const FlashDecodeOptions& options = {});

/// What flash_decode would run for this call; nothing runs and nothing is written. Throws like flash_decode.
ISOMER_API Explanation explain(const Queue& queue, const FlashDecodeArgs& args,
                               const FlashDecodeOptions& options = {});

/// flash_decode planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// flash_decode.
ISOMER_API Plan<FlashDecodeArgs> plan(const Queue& queue, const FlashDecodeArgs& args,
                                      const FlashDecodeOptions& options = {});

/// As FlashDecodeArgs, with the result of each block instead of out.
struct FlashDecodeStage1Args {
  Tensor q;              ///< [B, Hq, D]
  Tensor k;              ///< [slots, Hkv, D]
  Tensor v;              ///< [slots, Hkv, D]
  Tensor req_to_tokens;  ///< i32 [R, Lmax]
  Tensor b_req_idx;      ///< i32 or i64 [B]
  Tensor b_seqlen;       ///< i32 or i64 [B]
  Tensor mid_out;        ///< f32 [B, Hq, nb, D]; nb·block_seq covers the longest sequence
  Tensor mid_lse;        ///< f32 [B, Hq, nb]: natural-log softmax denominator
  Tensor k_scale = {};   ///< with int8 k, as FlashDecodeArgs has it
  Tensor v_scale = {};   ///< with int8 v
};

/// Options of flash_decode_stage1.
struct FlashDecodeStage1Options {
  std::int64_t block_seq = 256;  ///< tokens of one block, a multiple of 16
  std::int64_t max_len = 0;      ///< an upper bound of b_seqlen, at most nb·block_seq; 0 takes nb·block_seq
  float scale = 0.0f;            ///< multiplies q·k; 0 means 1/sqrt(D)
};

/// Attention over each block of block_seq tokens: block j covers tokens [j·block_seq, min(len,
/// (j+1)·block_seq)), mid_out = softmax(S)·v and mid_lse = ln Σ e^S with S = scale·q·kᵀ. Blocks without a
/// token stay untouched. Throws as flash_decode. Source of the semantics: lightllm's flash_decode_stage1
/// (llama).
ISOMER_API void flash_decode_stage1(const Queue& queue, const FlashDecodeStage1Args& args,
                                    const FlashDecodeStage1Options& options = {});

/// What flash_decode_stage1 would run for this call; nothing runs and nothing is written. Throws like
/// flash_decode_stage1.
ISOMER_API Explanation explain(const Queue& queue, const FlashDecodeStage1Args& args,
                               const FlashDecodeStage1Options& options = {});

/// flash_decode_stage1 planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// flash_decode_stage1.
ISOMER_API Plan<FlashDecodeStage1Args> plan(const Queue& queue, const FlashDecodeStage1Args& args,
                                            const FlashDecodeStage1Options& options = {});

/// Tensors of flash_decode_stage2.
struct FlashDecodeStage2Args {
  Tensor mid_out;   ///< [B, H, nb, D] f32, f16 or bf16; any D
  Tensor mid_lse;   ///< f32 [B, H, nb]: natural log; a block with −inf weighs nothing, its mid_out is not
                    ///< looked at
  Tensor b_seqlen;  ///< i32 or i64 [B], 0 to nb·block_seq
  Tensor out;       ///< [B, H, D] f32, f16 or bf16
};

/// Options of flash_decode_stage2.
struct FlashDecodeStage2Options {
  std::int64_t block_seq = 256;  ///< tokens of one block of the first stage, any positive number
};

/// Merges the first ceil(b_seqlen/block_seq) blocks of every row: out = Σ e^(lse_j − m)·mid_out_j / Σ
/// e^(lse_j − m) with m the largest lse. Length 0, or every lse −inf, gives 0. Throws as flash_decode. Source
/// of the semantics: lightllm's flash_decode_stage2 (llama) and TritonBench's flash_decode2_llama.py and
/// flash_decode2_phi.py, where such a row is 0/0.
ISOMER_API void flash_decode_stage2(const Queue& queue, const FlashDecodeStage2Args& args,
                                    const FlashDecodeStage2Options& options = {});

/// What flash_decode_stage2 would run for this call; nothing runs and nothing is written. Throws like
/// flash_decode_stage2.
ISOMER_API Explanation explain(const Queue& queue, const FlashDecodeStage2Args& args,
                               const FlashDecodeStage2Options& options = {});

/// flash_decode_stage2 planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// flash_decode_stage2.
ISOMER_API Plan<FlashDecodeStage2Args> plan(const Queue& queue, const FlashDecodeStage2Args& args,
                                            const FlashDecodeStage2Options& options = {});

}  // namespace isomer
