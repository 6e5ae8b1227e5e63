#pragma once

#include <isomer/explain.hpp>
#include <isomer/plan.hpp>
#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

#include <cstdint>

namespace isomer {

/// S tokens of H heads with D channels, scattered into a cache of N rows. Every stride of every tensor is
/// free.
struct QuantizeCopyKvArgs {
  Tensor k;          ///< f32, f16 or bf16 [S, H, D]
  Tensor dest;       ///< i32 or i64 [S]: the row of out that each token goes to, in [0, N)
  Tensor out;        ///< i8 [N, H, D]; rows that dest does not name stay as they are
  Tensor out_scale;  ///< f32, f16 or bf16 [N, H, 1] or [N, H]; [N, H, D / 8] with group = 8
};

/// Options of quantize_copy_kv.
struct QuantizeCopyKvOptions {
  std::int64_t group = 0;  ///< channels that share a scale: 0 for the whole head, or 8 (D a multiple of 8)
};

/// Writes token s as int8 into row dest[s]. For each head, or each group of 8 channels, scale = max|k| / 127
/// in f32, rounded to out_scale's type, and out = k / scale in f32 truncated toward zero and clamped to
/// [-128, 127]; a NaN quotient gives 0. So a zero row gives scale 0 and zeros; a row with a NaN gives scale
/// NaN and zeros; an infinite scale gives zeros. Of tokens with the same dest the last one wins on the CPU;
/// on a GPU each byte comes from one of them. A dest outside [0, N) throws Error bad_argument before anything
/// is written on the CPU and in checked mode, elsewhere its token is skipped. Throws bad_argument for other
/// dtypes and shapes. Source of the semantics: lightllm destindex_copy_kv.py and ppl_quant_copy_kv.py,
/// destindex_copy_quantize_kv.
ISOMER_API void quantize_copy_kv(const Queue& queue, const QuantizeCopyKvArgs& args,
                                 const QuantizeCopyKvOptions& options = {});

/// What quantize_copy_kv would run for this call; nothing runs and nothing is written. Throws like
/// quantize_copy_kv.
ISOMER_API Explanation explain(const Queue& queue, const QuantizeCopyKvArgs& args,
                               const QuantizeCopyKvOptions& options = {});

/// quantize_copy_kv planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// quantize_copy_kv.
ISOMER_API Plan<QuantizeCopyKvArgs> plan(const Queue& queue, const QuantizeCopyKvArgs& args,
                                         const QuantizeCopyKvOptions& options = {});

}  // namespace isomer
