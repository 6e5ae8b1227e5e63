#include "ops/attention/oracle/cases.hpp"

namespace isomer::ops::attention {

/// With huge values q and k balance each other, so that logits stay of order 1 and the tolerance means
/// something; v keeps room for the sum that softmax divides at the end. `tensor` is q, k or v; new keys and
/// values count as k and v.
Values values_of(const oracle::Case& c, char tensor, DType type) {
  using oracle::Regime;
  const Regime regime = oracle::regime_of(c.choice("regime"));
  const bool wide_range = type == DType::f32 || type == DType::bf16;
  // A 16-bit q stands across from e4m3fn keys where kv says so.
  const DType keys = c.choice("kv") == "same" ? c.dtype("dtype") : DType::e4m3fn;
  const bool wide_keys = keys == DType::f32 || keys == DType::bf16;
  switch (regime) {
    case Regime::ties:
      return {regime, tensor == 'q' ? 0x1p-11 : 1};
    case Regime::tiny:
      return {tensor == 'k' ? Regime::normal : regime, 1};
    case Regime::subnormal:
      return {tensor == 'k' || (tensor == 'v' && type == DType::f32) ? Regime::normal : regime, 1};
    case Regime::huge:
      if (tensor == 'q')
        return {Regime::normal, wide_keys ? 0x1p-119 : keys == DType::f16 ? 0x1p-13 : 0x1p-5};
      if (tensor == 'k') return {regime, wide_range ? 0x1p-8 : 1};
      return {regime, wide_range ? 0x1p-12 : 1};
    case Regime::outlier:
      return {tensor == 'q' ? Regime::normal : regime, 1};
    case Regime::inf:
    case Regime::nan:
      return {Regime::normal, 1};  // make() puts them where the definition says what follows
    case Regime::zero:
      return {tensor == 'q' ? regime : Regime::normal, 1};
    case Regime::level:  // every logit far below 0
      if (tensor == 'v') return {Regime::normal, 1};
      return {regime, tensor == 'q' ? 6.0 : -6.0};
    case Regime::mixed:
      if (tensor == 'v') return {regime, wide_range ? 0x1p-12 : 1};
      return {Regime::normal, 1};
    default:
      return {regime, 1};
  }
}

}  // namespace isomer::ops::attention
