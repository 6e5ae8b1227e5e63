#pragma once

#include <isomer/explain.hpp>
#include <isomer/plan.hpp>
#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

#include <cstdint>

namespace isomer {

/// Tensors of one block-scaled FP8 product. The last dimension of a, b, c and addend is contiguous; every
/// other stride is free, and so is every stride of the scales and of bias.
struct Fp8GemmArgs {
  Tensor a;          ///< e4m3fn [..., K]; the leading dimensions together are the M rows
  Tensor a_s;        ///< f32 [..., ceil(K/128)]: one scale per row and 128 columns of a; row- or column-major
  Tensor b;          ///< e4m3fn [N, K]
  Tensor b_s;        ///< f32 [ceil(N/128), ceil(K/128)]: one scale per 128×128 block of b
  Tensor c;          ///< f32, f16 or bf16 [..., N]; may be addend itself
  Tensor bias = {};  ///< optional f32, f16 or bf16 [N], added to every row
  Tensor addend = {};  ///< optional [..., N] of c's dtype, added to the product; c itself accumulates into c
};

/// Options of fp8_gemm.
struct Fp8GemmOptions {
  /// 1 promises that nothing which is still under way in the queue writes b, as nothing does where b are
  /// weights; 0 promises nothing. The product may then read its first blocks of b while the launch ahead of
  /// it still runs. Where the promise is broken c is undefined.
  std::int64_t b_ready = 0;
};

/// c[m, n] = Σ_kb (Σ_{k in block kb} a[m, k]·b[n, k]) · a_s[m, kb] · b_s[n/128, kb] + bias[n] + addend[m, n],
/// blocks of 128 along K, the last one possibly shorter. Products are exact; sums inside a block and across
/// blocks are in f32; c is rounded once. M = 0 or N = 0 does nothing; K = 0 leaves bias + addend, or 0. NaN
/// in a or b makes the elements that read it NaN. Throws Error bad_argument, with nothing written, for any
/// other dtype, shape, stride or overlap. Source of the semantics: DeepSeek-V3 inference/kernel.py
/// (fp8_gemm), with bias and addend beside it.
ISOMER_API void fp8_gemm(const Queue& queue, const Fp8GemmArgs& args, const Fp8GemmOptions& options = {});

/// What fp8_gemm would run for this call; nothing runs and nothing is written. Throws like fp8_gemm.
ISOMER_API Explanation explain(const Queue& queue, const Fp8GemmArgs& args,
                               const Fp8GemmOptions& options = {});

/// fp8_gemm planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like fp8_gemm.
ISOMER_API Plan<Fp8GemmArgs> plan(const Queue& queue, const Fp8GemmArgs& args,
                                  const Fp8GemmOptions& options = {});

/// Tensors of one product per expert of a mixture of experts, G experts, in one of two layouts. The last
/// dimension of a, b, c and addend is contiguous; every other stride is free, and so is every stride of the
/// scales and of bias.
///
/// Contiguous, with expert_ids: a [M, K], c [M, N]. The rows of one expert are a segment that begins at a
/// multiple of 128; segments come in ascending order of expert; an expert may have none. Row m is multiplied
/// with b[expert_ids[m]]. −1 marks a padding row, which fills a segment up to the next multiple of 128: it is
/// not read, and its row of c becomes 0 whatever bias and addend are.
///
/// Masked, with row_counts: a [G, R, K], c [G, R, N]. The first row_counts[g] rows of entry g are multiplied
/// with b[g]; the rows past them are neither read nor written.
struct GroupedFp8GemmArgs {
  Tensor a;                ///< e4m3fn [M, K], or [G, R, K] with row_counts
  Tensor a_s;              ///< f32 [M, ceil(K/128)], or [G, R, ceil(K/128)]
  Tensor b;                ///< e4m3fn [G, N, K]
  Tensor b_s;              ///< f32 [G, ceil(N/128), ceil(K/128)]
  Tensor c;                ///< f32, f16 or bf16 [M, N], or [G, R, N]; may be addend itself
  Tensor expert_ids = {};  ///< i32 [M], values in [−1, G): contiguous layout
  Tensor row_counts = {};  ///< i32 [G], values in [0, R]: masked layout. Exactly one of the two is given
  Tensor bias = {};        ///< optional f32, f16 or bf16 [G, N]
  Tensor addend = {};      ///< optional, c's dtype and shape
};

/// grouped_fp8_gemm has no options.
struct GroupedFp8GemmOptions {};

/// fp8_gemm of every row with the weights of its expert; see GroupedFp8GemmArgs for the two layouts.
/// Throws Error bad_argument, with nothing written, when a clause of the contract does not hold; clauses on
/// the contents of expert_ids and row_counts are checked on the CPU and in checked mode, elsewhere an id
/// outside [0, G) means padding and a count is clamped to [0, R]. Source of the semantics: DeepGEMM's
/// m-grouped contiguous and masked products.
ISOMER_API void grouped_fp8_gemm(const Queue& queue, const GroupedFp8GemmArgs& args,
                                 const GroupedFp8GemmOptions& options = {});

/// What grouped_fp8_gemm would run for this call; nothing runs and nothing is written. Throws like
/// grouped_fp8_gemm.
ISOMER_API Explanation explain(const Queue& queue, const GroupedFp8GemmArgs& args,
                               const GroupedFp8GemmOptions& options = {});

/// grouped_fp8_gemm planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// grouped_fp8_gemm.
ISOMER_API Plan<GroupedFp8GemmArgs> plan(const Queue& queue, const GroupedFp8GemmArgs& args,
                                         const GroupedFp8GemmOptions& options = {});

}  // namespace isomer
