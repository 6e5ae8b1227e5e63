// Argument reduction by multiples n of pi/2, then the sine or the cosine of the remainder in [-pi/4, pi/4] as
// a polynomial in f32, by the quadrant n mod 4. The few lanes beyond |x| = 2^17 go to the C library's sin in
// f64.
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

constexpr float kReducible = 131072.0f;

#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR

/// x − n·pi/2 in f64: 33 bits of pi/2, so that n times them is exact, then the rest.
HWY_INLINE VF Remainder(F32 d, VF x, VF n) {
  HWY_ALIGN float of[HWY_MAX_BYTES / sizeof(float)], times[HWY_MAX_BYTES / sizeof(float)];
  hn::Store(x, d, of);
  hn::Store(n, d, times);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    const double m = times[i];
    of[i] = static_cast<float>(static_cast<double>(of[i]) - m * 0x1.921fb544p+0 - m * 0x1.0b4611a626331p-34);
  }
  return hn::Load(d, of);
}

#else

/// x − n·pi/2 in three fused steps. The first is exact: x and n·0x1.921fb6p+0 are multiples of 2^-23 less
/// than 2 apart.
HWY_INLINE VF Remainder(F32 d, VF x, VF n) {
  VF r = hn::NegMulAdd(n, hn::Set(d, 0x1.921fb6p+0f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -0x1.777a5cp-25f), r);
  return hn::NegMulAdd(n, hn::Set(d, -0x1.ee59dap-50f), r);
}

#endif

HWY_INLINE VF Sin(F32 d, VF x) {
  const hn::RebindToUnsigned<F32> du;
  const hn::RebindToSigned<F32> di;
  const VF n = hn::Round(hn::Mul(x, hn::Set(d, 0.63661977236758134308f)));
  const auto quadrant = hn::BitCast(du, hn::ConvertTo(di, n));
  const VF r = Remainder(d, x, n);
  const VF square = hn::Mul(r, r);
  // Least maximum relative error on [-pi/4, pi/4]: 4e-9 and 1.2e-10.
  VF sine = hn::MulAdd(hn::Set(d, -0x1.994222p-13f), square, hn::Set(d, 0x1.110736p-7f));
  sine = hn::MulAdd(sine, square, hn::Set(d, -0x1.555546p-3f));
  sine = hn::MulAdd(hn::Mul(sine, square), r, r);
  VF cosine = hn::MulAdd(hn::Set(d, 0x1.99ea02p-16f), square, hn::Set(d, -0x1.6c0c2ep-10f));
  cosine = hn::MulAdd(cosine, square, hn::Set(d, 0x1.55554ap-5f));
  cosine =
      hn::MulAdd(hn::Mul(cosine, square), square, hn::NegMulAdd(hn::Set(d, 0.5f), square, hn::Set(d, 1.0f)));
  const auto odd = hn::RebindMask(d, hn::Ne(hn::And(quadrant, hn::Set(du, 1)), hn::Zero(du)));
  const auto sign = hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(du, 2)));
  VF y = hn::BitCast(d, hn::Xor(hn::BitCast(du, hn::IfThenElse(odd, cosine, sine)), sign));
  const auto far = hn::Not(hn::Le(hn::Abs(x), hn::Set(d, kReducible)));
  if (HWY_UNLIKELY(!hn::AllFalse(d, far))) {
    HWY_ALIGN float in[HWY_MAX_BYTES / sizeof(float)], out[HWY_MAX_BYTES / sizeof(float)];
    hn::Store(x, d, in);
    hn::Store(y, d, out);
    for (size_t i = 0; i < hn::Lanes(d); ++i)
      if (!(std::fabs(in[i]) <= kReducible))
        out[i] = static_cast<float>(std::sin(static_cast<double>(in[i])));
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
