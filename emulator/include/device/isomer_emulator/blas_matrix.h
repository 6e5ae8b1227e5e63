// What the products of cuBLAS are computed with: matrices in columns, brought to the host, multiplied there
// and brought back, so that reads and writes past a buffer are refused as those of a copy are.
#pragma once

#include "host_library.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>
#include <vector>

#include "../library_types.h"
#include "bfloat16.h"
#include "cmath.h"
#include "cuda_runtime.h"
#include "fp8.h"
#include "half.h"

namespace isomer::emulator::blas {

constexpr int kAnyDirection = 4;

inline std::size_t bytes_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_C_64F:
      return 16;
    case CUDA_R_64F:
    case CUDA_C_32F:
      return 8;
    case CUDA_R_32F:
    case CUDA_R_32I:
      return 4;
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return 2;
    case CUDA_R_8I:
    case CUDA_R_8U:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return 1;
    default:
      return 0;
  }
}

template <class T>
T piece(const unsigned char* at) {
  T value;
  std::memcpy(static_cast<void*>(&value), at, sizeof value);
  return value;
}
inline double value_of(cudaDataType_t type, const unsigned char* at) {
  switch (type) {
    case CUDA_R_64F:
      return piece<double>(at);
    case CUDA_R_32F:
      return piece<float>(at);
    case CUDA_R_32I:
      return piece<int>(at);
    case CUDA_R_16F:
      return float(piece<__half>(at));
    case CUDA_R_16BF:
      return float(piece<__nv_bfloat16>(at));
    case CUDA_R_8I:
      return piece<signed char>(at);
    case CUDA_R_8U:
      return *at;
    case CUDA_R_8F_E4M3:
      return float(piece<__nv_fp8_e4m3>(at));
    default:
      return float(piece<__nv_fp8_e5m2>(at));
  }
}
template <class T>
void leave(unsigned char* at, T value) {
  std::memcpy(at, &value, sizeof value);
}
inline void put_value(cudaDataType_t type, unsigned char* at, double value) {
  switch (type) {
    case CUDA_R_64F:
      return leave(at, value);
    case CUDA_R_32F:
      return leave(at, static_cast<float>(value));
    case CUDA_R_32I:
      return leave(at, static_cast<int>(value));
    case CUDA_R_16F:
      return leave(at, __float2half_rn(static_cast<float>(value)));
    case CUDA_R_16BF:
      return leave(at, __float2bfloat16_rn(static_cast<float>(value)));
    case CUDA_R_8I:
      return leave(at, static_cast<signed char>(value));
    case CUDA_R_8U:
      return leave(at, static_cast<unsigned char>(value));
    case CUDA_R_8F_E4M3:
      return leave(at, __nv_fp8_e4m3(static_cast<float>(value)));
    default:
      return leave(at, __nv_fp8_e5m2(static_cast<float>(value)));
  }
}

/// What a pair of floats counts as, and any other type.
template <class P>
struct CountedAs {
  using Type = P;
};
template <>
struct CountedAs<float2> {
  using Type = std::complex<float>;
};
template <>
struct CountedAs<double2> {
  using Type = std::complex<double>;
};
template <class P>
using Counted = typename CountedAs<P>::Type;
template <class V>
constexpr bool kComplex = false;
template <class R>
constexpr bool kComplex<std::complex<R>> = true;
inline bool is_complex(cudaDataType_t type) { return type == CUDA_C_32F || type == CUDA_C_64F; }

template <class V>
V value_as(cudaDataType_t type, const unsigned char* at) {
  if constexpr (kComplex<V>) {
    if (type == CUDA_C_32F) return V(piece<std::complex<float>>(at));
    if (type == CUDA_C_64F) return V(piece<std::complex<double>>(at));
  }
  return V(value_of(type, at));
}
template <class V>
void put_as(cudaDataType_t type, unsigned char* at, V value) {
  if constexpr (kComplex<V>) {
    if (type == CUDA_C_32F) return leave(at, std::complex<float>(value));
    if (type == CUDA_C_64F) return leave(at, std::complex<double>(value));
    put_value(type, at, value.real());
  } else {
    put_value(type, at, value);
  }
}
/// Many values of one type, which the watch has no interest in.
template <class P, class V>
__attribute__((optimize("O3"), no_sanitize("thread"))) void values_from(const P* raw, V* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = V(raw[i]);
}
template <class P, class V>
__attribute__((optimize("O3"), no_sanitize("thread"))) void values_to(const V* values, P* raw, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (kComplex<V>)
      raw[i] = P(values[i].real());
    else
      raw[i] = P(values[i]);
  }
}
/// Products without the care that C++ takes of infinite complex numbers: a device takes none.
template <class R>
__attribute__((always_inline)) inline R times(R a, R b) {
  return a * b;
}
template <class R>
__attribute__((always_inline)) inline std::complex<R> times(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class V>
V conjugate(V value) {
  if constexpr (kComplex<V>)
    return std::conj(value);
  else
    return value;
}

/// Columns of `rows` values, `stride` elements from one to the next. A vector with an increment is one row.
template <class V>
struct MatrixOf {
  long rows = 0, columns = 0;
  std::vector<V> values;
  V& at(long row, long column) { return values[static_cast<std::size_t>(column * rows + row)]; }
  V at(long row, long column) const { return values[static_cast<std::size_t>(column * rows + row)]; }

  MatrixOf() = default;
  MatrixOf(long r, long c) : rows(r), columns(c), values(static_cast<std::size_t>(r * c)) {}

  /// False where the copy was refused.
  bool bring(cudaDataType_t type, const void* from, long r, long c, long stride) {
    const std::size_t each = bytes_of(type);
    *this = MatrixOf(r, c);
    if (each == 0 || (is_complex(type) && !kComplex<V>) || isomer_emulator_library_refused()) return false;
    std::vector<unsigned char> raw(values.size() * each);
    if (raw.empty()) return true;
    if (isomer_emulator_copy_2d(raw.data(), r * each, from, stride * each, r * each, c, kAnyDirection) != 0)
      return false;
    if (type == CUDA_R_32F)
      values_from(reinterpret_cast<const float*>(raw.data()), values.data(), values.size());
    else if (type == CUDA_R_64F)
      values_from(reinterpret_cast<const double*>(raw.data()), values.data(), values.size());
    else
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = value_as<V>(type, raw.data() + i * each);
    return true;
  }
  bool take(cudaDataType_t type, void* to, long stride) const {
    const std::size_t each = bytes_of(type);
    std::vector<unsigned char> raw(values.size() * each);
    if (type == CUDA_R_32F)
      values_to(values.data(), reinterpret_cast<float*>(raw.data()), values.size());
    else if (type == CUDA_R_64F)
      values_to(values.data(), reinterpret_cast<double*>(raw.data()), values.size());
    else
      for (std::size_t i = 0; i < values.size(); ++i) put_as(type, raw.data() + i * each, values[i]);
    return raw.empty() || isomer_emulator_copy_2d(to, stride * each, raw.data(), rows * each, rows * each,
                                                  columns, kAnyDirection) == 0;
  }
  MatrixOf transposed() const {
    MatrixOf t(columns, rows);
    for (long c = 0; c < columns; ++c)
      for (long r = 0; r < rows; ++r) t.at(c, r) = at(r, c);
    return t;
  }
  MatrixOf conjugated() const {
    MatrixOf c = *this;
    for (V& v : c.values) v = conjugate(v);
    return c;
  }
};
using Matrix = MatrixOf<double>;

/// sums[m × n] += a[m × k] · b[k × n], in the type that the caller computes in.
template <class Sum>
__attribute__((optimize("O3"), no_sanitize("thread"))) void multiply(const Sum* a, const Sum* b, Sum* sums,
                                                                     long m, long n, long k) {
  for (long j = 0; j < n; ++j)
    for (long l = 0; l < k; ++l) {
      const Sum factor = b[j * k + l];
      for (long i = 0; i < m; ++i) sums[j * m + i] += times(a[l * m + i], factor);
    }
}
template <class Sum, class V>
MatrixOf<V> product_in(const MatrixOf<V>& a, const MatrixOf<V>& b) {
  const std::vector<Sum> left(a.values.begin(), a.values.end()), right(b.values.begin(), b.values.end());
  std::vector<Sum> sums(static_cast<std::size_t>(a.rows * b.columns));
  multiply(left.data(), right.data(), sums.data(), a.rows, b.columns, a.columns);
  MatrixOf<V> out(a.rows, b.columns);
  std::copy(sums.begin(), sums.end(), out.values.begin());
  return out;
}

enum class Computes { in_single, in_double, in_integers };
inline Matrix product(const Matrix& a, const Matrix& b, Computes how) {
  return how == Computes::in_double     ? product_in<double>(a, b)
         : how == Computes::in_integers ? product_in<int>(a, b)
                                        : product_in<float>(a, b);
}
inline MatrixOf<std::complex<double>> product(const MatrixOf<std::complex<double>>& a,
                                              const MatrixOf<std::complex<double>>& b, Computes how) {
  return how == Computes::in_double ? product_in<std::complex<double>>(a, b)
                                    : product_in<std::complex<float>>(a, b);
}

}  // namespace isomer::emulator::blas
