#pragma once

#include <isomer/act_quant.hpp>

namespace isomer {

/// Tensors of a layer of gated experts in block-scaled FP8, G experts. The last dimension of a, gate_up, down
/// and out is contiguous; every other stride is free, and so is every stride of the scales. Rows belong to
/// experts in one of grouped_fp8_gemm's two layouts: contiguous with expert_ids, where rows of padding become
/// 0, or masked with row_counts, where rows past a count are neither read nor written (see
/// GroupedFp8GemmArgs).
struct ExpertLayerArgs {
  Tensor a;                ///< e4m3fn [M, H], or [G, R, H] with row_counts: the tokens
  Tensor a_s;              ///< f32 [M, ceil(H/128)], or [G, R, ceil(H/128)]
  Tensor gate_up;          ///< e4m3fn [G, 2I, H], I a multiple of 128: the gate's rows and, behind them, up's
  Tensor gate_up_s;        ///< f32 [G, 2I/128, ceil(H/128)]: one scale per 128×128 block
  Tensor down;             ///< e4m3fn [G, O, I]
  Tensor down_s;           ///< f32 [G, ceil(O/128), I/128]
  Tensor out;              ///< f32, f16 or bf16 [M, O], or [G, R, O]
  Tensor expert_ids = {};  ///< i32 [M], values in [−1, G): contiguous layout
  Tensor row_counts = {};  ///< i32 [G], values in [0, R]: masked layout. Exactly one of the two is given
};

/// Options of expert_layer, for what lies between its two products.
struct ExpertLayerOptions {
  ScaleFormat scale_format = ScaleFormat::f32;  ///< how its scales are rounded
  float amax_floor = 1e-4f;                     ///< the least amax of a block: finite and not negative
};

/// x = a · gate_upᵀ with the weights of the row's expert, rounded to bf16; h = silu(x[:I]) · x[I:] in f32,
/// quantised in blocks of 128 as silu_mul_quant does; out = h · downᵀ, rounded once. It is one plan of three
/// launches, grouped_fp8_gemm, silu_mul_quant and grouped_fp8_gemm, with the same bits as these three calls;
/// x and the quantised h lie in its workspace, 5I bytes and 4I/128 for each row, and nothing of the host
/// comes between. Throws Error bad_argument, with nothing written, when a clause of the contract does not
/// hold; clauses on the contents of expert_ids and row_counts as grouped_fp8_gemm has them. Source of the
/// semantics: DeepSeek-V3 inference/model.py (Expert), with the operands quantised by inference/kernel.py.
ISOMER_API void expert_layer(const Queue& queue, const ExpertLayerArgs& args,
                             const ExpertLayerOptions& options = {});

/// What expert_layer would run for this call; nothing runs and nothing is written. Throws like expert_layer.
ISOMER_API Explanation explain(const Queue& queue, const ExpertLayerArgs& args,
                               const ExpertLayerOptions& options = {});

/// expert_layer planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like
/// expert_layer.
ISOMER_API Plan<ExpertLayerArgs> plan(const Queue& queue, const ExpertLayerArgs& args,
                                      const ExpertLayerOptions& options = {});

}  // namespace isomer
