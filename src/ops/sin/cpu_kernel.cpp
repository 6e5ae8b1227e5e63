// Argument reduction by multiples of pi in f64, where two fused or exact steps keep 50 bits up to |x| = 2^21, then an odd
// polynomial in f32 on [-pi/2, pi/2]. The few lanes beyond 2^21 go to the C library's sin in f64.
#include "ops/sin/cpu_kernel.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/sin/cpu_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "cpu/vector-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace isomer::ops::sin::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using namespace isomer::cpu::HWY_NAMESPACE;
using cpu::BF16;
using cpu::F16;

constexpr float kReducible = 2097152.0f;

/// x − n·pi and the parity of n, for the lanes of one f64 vector.
template <class DD, class VD>
HWY_INLINE VD Reduce(DD d, VD x, VD& n) {
  n = hn::Round(hn::Mul(x, hn::Set(d, 0.31830988618379067154)));
  // 33 bits of pi, so that n·high is exact, then the rest.
  const VD high = hn::Set(d, 0x1.921fb544p+1);
  const VD low = hn::Set(d, 0x1.0b4611a626331p-33);
  return hn::NegMulAdd(n, low, hn::NegMulAdd(n, high, x));
}

HWY_INLINE VF Sin(F32 d, VF x) {
  const hn::RebindToUnsigned<F32> du;
  const hn::Half<F32> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  const hn::Rebind<int32_t, decltype(dh)> dih;
  auto n_low = hn::Zero(dd), n_high = hn::Zero(dd);
  const auto r_low = Reduce(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, x)), n_low);
  const auto r_high = Reduce(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, x)), n_high);
  const VF r = hn::Combine(d, hn::DemoteTo(dh, r_high), hn::DemoteTo(dh, r_low));
  const hn::RebindToSigned<F32> di;
  const auto n = hn::BitCast(du, hn::Combine(di, hn::DemoteTo(dih, n_high), hn::DemoteTo(dih, n_low)));
  const VF square = hn::Mul(r, r);
  // Least maximum relative error on [0, pi/2].
  VF p = hn::Set(d, 2.6083159809786593541503e-06f);
  p = hn::MulAdd(p, square, hn::Set(d, -1.9810690719168633222580e-04f));
  p = hn::MulAdd(p, square, hn::Set(d, 8.3330785855650901794434e-03f));
  p = hn::MulAdd(p, square, hn::Set(d, -1.6666659712791442871094e-01f));
  VF y = hn::MulAdd(hn::Mul(p, square), r, r);
  y = hn::BitCast(d, hn::Xor(hn::BitCast(du, y), hn::ShiftLeft<31>(n)));
  const auto far = hn::Not(hn::Le(hn::Abs(x), hn::Set(d, kReducible)));
  if (HWY_UNLIKELY(!hn::AllFalse(d, far))) {
    HWY_ALIGN float in[HWY_MAX_BYTES / sizeof(float)], out[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(x, d, in);
    hn::Store(y, d, out);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      if (!(std::fabs(in[i]) <= kReducible)) out[i] = static_cast<float>(std::sin(static_cast<double>(in[i])));
    y = hn::Load(d, out);
  }
  // sin(−0) is −0 and the tiniest arguments are their own sines.
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 1e-4f)), x, y);
}

template <class T>
void Contiguous(const T* x, T* y, std::int64_t count) {
  const F32 d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) StoreF32(Sin(d, LoadF32(d, x + i)), d, y + i);
  if (i < count) {
    const auto rest = static_cast<size_t>(count - i);
    StoreF32N(Sin(d, LoadF32N(d, x + i, rest)), d, y + i, rest);
  }
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

void Row(DType dtype, const void* x, std::int64_t x_stride, void* y, std::int64_t y_stride, std::int64_t count) {
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
