// What both kernels of attention do to logits, for the target being compiled. Include after hwy/highway.h.
#if defined(ISOMER_ATTENTION_SOFTMAX_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_ATTENTION_SOFTMAX_INL
#undef ISOMER_ATTENTION_SOFTMAX_INL
#else
#define ISOMER_ATTENTION_SOFTMAX_INL
#endif

#include <hwy/highway.h>

#include "cpu/exp-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::attention::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using I32 = hn::RebindToSigned<F32>;

constexpr int kLanes = HWY_LANES(float);
constexpr float kNever = -__builtin_inff();
constexpr bool kManyRegisters = HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON;
// The portable target has loops for vectors: unrolling them makes it slow to compile and no faster.
constexpr bool kPortable = HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR;

/// Relative error below 2^-22.
HWY_INLINE VF Tanh(F32 d, VF x) {
  const VF magnitude = hn::Abs(x);
  const VF square = hn::Mul(x, x);
  // Least maximum relative error on [0, 0.625].
  VF p = hn::Set(d, -5.704987e-3f);
  p = hn::MulAdd(p, square, hn::Set(d, 2.0639088e-2f));
  p = hn::MulAdd(p, square, hn::Set(d, -5.3739715e-2f));
  p = hn::MulAdd(p, square, hn::Set(d, 1.3331442e-1f));
  p = hn::MulAdd(p, square, hn::Set(d, -3.333328e-1f));
  const VF small = hn::MulAdd(hn::Mul(p, square), x, x);
  const VF one = hn::Set(d, 1.0f);
  const VF e = ExpOfNonPositive(d, hn::Mul(magnitude, hn::Set(d, -2.0f)));
  const VF large = hn::Div(hn::Sub(one, e), hn::Add(one, e));
  return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0.625f)), small, hn::CopySign(large, x));
}

/// The softmax's new maximum, and what the old sums must be multiplied by. A row that has seen no key keeps
/// −inf.
HWY_INLINE VF NewMax(F32 d, VF old, VF highest, VF& base, VF& decay) {
  const VF next = hn::Max(old, highest);
  base = hn::IfThenZeroElse(hn::Eq(next, hn::Set(d, kNever)), next);
  decay = ExpOfNonPositive(d, hn::Sub(old, base));
  return next;
}

/// Logits that a mask hides: `key` outside of [begin, end).
template <class VI>
HWY_INLINE VF Hide(F32 d, VF logits, VI key, VI begin, VI end) {
  const auto hidden = hn::Or(hn::Lt(key, begin), hn::Not(hn::Lt(key, end)));
  return hn::IfThenElse(hn::RebindMask(d, hidden), hn::Set(d, kNever), logits);
}

}  // namespace isomer::ops::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
