#pragma once

#include "core/codec.hpp"

#include <algorithm>
#include <cmath>

/// How far an attention result may be from the f64 reference: what every op that computes softmax(S)·V
/// promises. S are the logits of the row as they enter the softmax, p = softmax(S).
namespace isomer::oracle {

/// What rounding P to `type` may cost a key of probability p beyond u_P·p. Kernels round e^(S − m), at most
/// 1, and divide by its sum `l` afterwards: among the subnormals of the type (f32: below 2^-126, where it may
/// vanish) that rounding is off by up to half a step, though never by more than the value itself. e4m3fn has
/// room for 256·e^(S − m), which kernels use. Queries of bf16 over values of e4m3fn have no input type of 16
/// bits that holds both: P may be f16 there, with room for 2^14·e^(S − m).
inline double lost_to_underflow(DType type, DType values, double p, double l) {
  const bool mixed = type == DType::bf16 && values == DType::e4m3fn;
  const double half_step = mixed                   ? 0x1p-39
                           : type == DType::f16    ? 0x1p-25
                           : type == DType::e4m3fn ? 0x1p-18
                                                   : 0x1p-126;
  return std::min(p, half_step / l);
}

/// Bound of one output element: u_out·|ref| + min(u_P·Σp|v|, 6·u_P·√Σp²v²) + 2^-20·max(1, max|S|)·Σp|v|.
/// The first term is the final rounding to `out`; below its smallest normal value, half the step between
/// subnormals. The second is P rounded to the type `p` before it meets V: the worst case, or six deviations
/// of independent roundings. The third is the logits, exponentials and sums in f32: an error e of a logit
/// moves p by the factor 1 + e. The sums run over the row's visible keys. Two terms for underflow: `lost` =
/// Σ lost_to_underflow(p)·|v|, and averages of subnormal values are made of multiples of 2^-149, of which a
/// few are allowed.
inline double attention_bound(DType out, DType p, double ref, double sum_p_abs_v, double sum_p2_v2,
                              double max_abs_s, double lost) {
  const double smallest_normal = out == DType::f16 ? 0x1p-14 : 0x1p-126;
  const double u_p = core::unit_roundoff(p);
  return core::unit_roundoff(out) * std::max(std::fabs(ref), smallest_normal) +
         std::min(u_p * sum_p_abs_v, 6.0 * u_p * std::sqrt(sum_p2_v2)) +
         0x1p-20 * std::max(1.0, max_abs_s) * sum_p_abs_v + lost + 0x1p-146;
}

/// Bound of lse = ln Σ e^S in f32: 2^-24·|lse| + 2^-20·max(1, max Σ|q·k|), the largest sum of absolute
/// products (times the scale) of a visible key. The first is its own rounding. The second is the error of the
/// logits, since |ln Σ e^(S+e) − ln Σ e^S| ≤ max|e|, and the relative error of the f32 sum, which ln makes
/// absolute; P is summed before any rounding to a narrower type. It is not max|S|: a row of one or two keys
/// may have S near 0 by cancellation, and nothing averages its error away. Exact for lse = −inf.
inline double lse_bound(double lse, double max_abs_products) {
  if (std::isinf(lse)) return 0.0;
  return 0x1p-24 * std::fabs(lse) + 0x1p-20 * std::max(1.0, max_abs_products);
}

}  // namespace isomer::oracle
