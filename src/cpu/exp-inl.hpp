// The exponential of softmax, for the target being compiled. Include after hwy/highway.h.
#if defined(ISOMER_CPU_EXP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef ISOMER_CPU_EXP_INL
#undef ISOMER_CPU_EXP_INL
#else
#define ISOMER_CPU_EXP_INL
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace isomer::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// e^x for x <= 0, within 1 ulp; 0 where the result would be subnormal, and for −inf; NaN
/// stays NaN. x = n·ln2 + r with |r| <= ln2/2, and e^r = 1 + r + r²·Q(r) with Q of least maximum relative
/// error (2^-28).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpOfNonPositive(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  // ln2 = 11 bits, so that n·high is exact, + the rest.
  const V r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x));
  V q = hn::Set(d, 0x1.6a2448p-10f);
  q = hn::MulAdd(q, r, hn::Set(d, 0x1.1239d6p-7f));
  q = hn::MulAdd(q, r, hn::Set(d, 0x1.5558f2p-5f));
  q = hn::MulAdd(q, r, hn::Set(d, 0x1.555492p-3f));
  q = hn::MulAdd(q, r, hn::Set(d, 0x1.fffffcp-2f));
  const V fraction = hn::Add(hn::MulAdd(hn::Mul(r, r), q, r), hn::Set(d, 1.0f));
  const V power = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127))));
  const auto vanishes = hn::Lt(x, hn::Set(d, -87.3365447f));  // ln 2^-126
  return hn::IfThenZeroElse(vanishes, hn::Mul(fraction, power));
}

}  // namespace isomer::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
