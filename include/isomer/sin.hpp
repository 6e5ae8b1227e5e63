#pragma once

#include <isomer/explain.hpp>
#include <isomer/plan.hpp>
#include <isomer/queue.hpp>
#include <isomer/tensor.hpp>

namespace isomer {

/// Tensors of sin.
struct SinArgs {
  Tensor x;  ///< f32, f16 or bf16; any shape and strides, broadcast too
  Tensor y;  ///< same dtype and shape as x; any non-overlapping strides; may be x itself
};

/// sin has no options.
struct SinOptions {};

/// y[i] = sin(x[i]), computed in f32: within 2 ulp for f32 over the whole range, 1 ulp for f16 and bf16; NaN
/// for inf and NaN. An empty x does nothing. Throws Error bad_argument for any other dtype, shape or overlap.
/// Source of the semantics: the Triton sine kernel of TritonBench (sin_kernel.py).
ISOMER_API void sin(const Queue& queue, const SinArgs& args, const SinOptions& options = {});

/// What sin would run for this call; nothing runs and nothing is written. Throws like sin.
ISOMER_API Explanation explain(const Queue& queue, const SinArgs& args, const SinOptions& options = {});

/// sin planned for calls that differ in addresses alone: see isomer/plan.hpp. Throws like sin.
ISOMER_API Plan<SinArgs> plan(const Queue& queue, const SinArgs& args, const SinOptions& options = {});

}  // namespace isomer
