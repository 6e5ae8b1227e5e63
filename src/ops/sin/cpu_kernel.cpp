// |x| less a multiple of pi, then an odd polynomial on [0, pi/2]; the sign of x comes back at the end. Lanes
// up to 65536 are reduced in f32 with fused multiply-adds and pi in two or three parts. Others, and all of
// them where there is no fused multiply-add, are reduced in f64, where two steps keep 50 bits up to 2^21. The
// lanes beyond that go to the C library's sin in f64. Which of these a lane takes depends on its value alone.
#include "ops/sin/cpu_kernel.hpp"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/sin/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/quad-inl.hpp"
#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::sin::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::F16;

constexpr float kNear = 65536.0f;
constexpr float kReducible = 2097152.0f;

/// The polynomials have the least maximum relative error for |r| up to pi/2 + 2^-9. For f32 results: 2^-27.
HWY_INLINE VF Polynomial(F32 d, VF r, float) {
  const VF z = hn::Mul(r, r);
  VF p = hn::MulAdd(hn::Set(d, 0x1.5dbddp-19f), z, hn::Set(d, -0x1.9f7054p-13f));
  p = hn::MulAdd(p, z, hn::Set(d, 0x1.110ed8p-7f));
  p = hn::MulAdd(p, z, hn::Set(d, -0x1.55554cp-3f));
  // Beyond 1 the spacing doubles, and one step too far would be two.
  const VF y = hn::MulAdd(hn::Mul(p, z), r, r);
  return hn::Min(hn::Max(y, hn::Set(d, -1.0f)), hn::Set(d, 1.0f));
}

/// For results of 11 bits or fewer: 2^-19.
template <class T>
HWY_INLINE VF Polynomial(F32 d, VF r, T) {
  const VF z = hn::Mul(r, r);
  const VF low = hn::MulAdd(hn::Set(d, 0x1.107044p-7f), z, hn::Set(d, -0x1.555108p-3f));
  const VF p = hn::MulAdd(hn::Set(d, -0x1.84c7e8p-13f), hn::Mul(z, z), low);
  return hn::MulAdd(hn::Mul(p, z), r, r);
}

#undef ISOMER_SIN_FUSED
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
#define ISOMER_SIN_FUSED 1

template <class T>
HWY_INLINE VF NearSin(F32 d, VF x) {
  const hn::RebindToUnsigned<F32> du;
  const VF magnitude = hn::Abs(x);
  // 1.5·2^23 leaves the nearest multiple in the low bits.
  const VF shifted = hn::MulAdd(magnitude, hn::Set(d, 0x1.45f306p-2f), hn::Set(d, 0x1.8p23f));
  const VF n = hn::Sub(shifted, hn::Set(d, 0x1.8p23f));
  const VF first = hn::NegMulAdd(n, hn::Set(d, 0x1.921fb6p+1f), magnitude);  // exact
  VF r = hn::NegMulAdd(n, hn::Set(d, -0x1.777a5cp-24f), first);
  // Only near a multiple of pi is the third part more than half an ulp, and there the second step was exact.
  if constexpr (sizeof(T) == sizeof(float)) r = hn::NegMulAdd(n, hn::Set(d, -0x1.ee59dap-49f), r);
  const auto odd = hn::ShiftLeft<31>(hn::BitCast(du, shifted));
  return hn::Xor(hn::Xor(Polynomial(d, r, T{}), hn::BitCast(d, odd)), hn::Xor(x, magnitude));
}
#endif

/// sin of the lanes of one f64 vector up to 2^21, none negative: 2^-43.
template <class D, class V>
HWY_INLINE V ReducibleSin(D d, V x) {
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 0x1.45f306dc9c883p-2)));
  // 33 bits of pi, so that n·high is exact, then the rest.
  const V high = hn::Set(d, 0x1.921fb544p+1), rest = hn::Set(d, 0x1.0b4611a626331p-33);
  const V r = hn::NegMulAdd(n, rest, hn::NegMulAdd(n, high, x));
  const V z = hn::Mul(r, r);
  V p = hn::Set(d, 0x1.52d2b9cp-33);
  p = hn::MulAdd(p, z, hn::Set(d, -0x1.ae037b03ap-26));
  p = hn::MulAdd(p, z, hn::Set(d, 0x1.71dcf5d44cp-19));
  p = hn::MulAdd(p, z, hn::Set(d, -0x1.a019fd4e14cep-13));
  p = hn::MulAdd(p, z, hn::Set(d, 0x1.1111110a3f625p-7));
  p = hn::MulAdd(p, z, hn::Set(d, -0x1.5555555546dacp-3));
  const V y = hn::MulAdd(hn::Mul(p, z), r, r);
  // Whether n is odd: the last bit of n + 1.5·2^52.
  const hn::RebindToUnsigned<D> du;
  const auto odd = hn::ShiftLeft<63>(hn::BitCast(du, hn::Add(n, hn::Set(d, 0x1.8p52))));
  return hn::Xor(y, hn::BitCast(d, odd));
}

HWY_NOINLINE VF AnySin(VF any) {
  const F32 d;
  const hn::Half<F32> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  const VF x = hn::Abs(any), sign = hn::Xor(any, x);
  const auto reducible = hn::Le(x, hn::Set(d, kReducible));
  const VF some = hn::IfThenElseZero(reducible, x);
  const auto low = ReducibleSin(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, some)));
  const auto high = ReducibleSin(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, some)));
  const VF y = hn::Xor(hn::Combine(d, hn::DemoteTo(dh, high), hn::DemoteTo(dh, low)), sign);
  if (hn::AllTrue(d, reducible)) return y;
  HWY_ALIGN float in[HWY_MAX_BYTES / sizeof(float)], out[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(any, d, in);
  hn::Store(y, d, out);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    if (!(std::fabs(in[i]) <= kReducible)) out[i] = static_cast<float>(std::sin(static_cast<double>(in[i])));
  return hn::Load(d, out);
}

template <class T>
HWY_INLINE Quad Sin(F32 d, const Quad& x) {
#ifdef ISOMER_SIN_FUSED
  const auto near = [&](VF v) { return hn::Le(hn::Abs(v), hn::Set(d, kNear)); };
  const Quad y = {NearSin<T>(d, x.a), NearSin<T>(d, x.b), NearSin<T>(d, x.c), NearSin<T>(d, x.d)};
  const auto all = hn::And(hn::And(near(x.a), near(x.b)), hn::And(near(x.c), near(x.d)));
  if (HWY_LIKELY(hn::AllTrue(d, all))) return y;
  const auto other = [&](VF v, VF s) { return hn::IfThenElse(near(v), s, AnySin(v)); };
  return {other(x.a, y.a), other(x.b, y.b), other(x.c, y.c), other(x.d, y.d)};
#else
  return {AnySin(x.a), AnySin(x.b), AnySin(x.c), AnySin(x.d)};
#endif
}

template <class T>
void Contiguous(const T* x, T* y, std::int64_t count) {
  const F32 d;
  const auto step = 4 * static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + step <= count; i += step) StoreQuad(Sin<T>(d, LoadQuad(d, x + i)), d, y + i);
  if (i == count) return;
  HWY_ALIGN T rest[4 * HWY_MAX_BYTES / sizeof(float)] = {};
  std::copy(x + i, x + count, rest);
  StoreQuad(Sin<T>(d, LoadQuad(d, rest)), d, rest);
  std::copy(rest, rest + (count - i), y + i);
}

template <class T>
void Strided(const T* x, std::int64_t x_stride, T* y, std::int64_t y_stride, std::int64_t count) {
  constexpr std::int64_t kBlock = 256;
  T in[kBlock], out[kBlock];
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, count - begin);
    for (std::int64_t i = 0; i < n; ++i) in[i] = x[(begin + i) * x_stride];
    Contiguous(in, out, n);
    for (std::int64_t i = 0; i < n; ++i) y[(begin + i) * y_stride] = out[i];
  }
}

void Row(DType dtype, const void* x, std::int64_t x_stride, void* y, std::int64_t y_stride,
         std::int64_t count) {
  const auto run = [&](auto tag) {
    using T = decltype(tag);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    if (x_stride == 1 && y_stride == 1)
      Contiguous(from, to, count);
    else
      Strided(from, x_stride, to, y_stride, count);
  };
  if (dtype == DType::f16)
    run(F16{});
  else if (dtype == DType::bf16)
    run(BF16{});
  else
    run(float{});
}

}  // namespace isomer::ops::sin::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "cpu/per_target.hpp"

namespace isomer::ops::sin {

const cpu::PerTarget<RowFunction>& row_function() {
  static const cpu::PerTarget<RowFunction> table = ISOMER_PER_TARGET(Row);
  return table;
}

}  // namespace isomer::ops::sin
#endif
