// cuFFT's and hipFFT's plans on the host: transforms of any length in one to three dimensions, in double
// precision and rounded once. Nothing is scaled, as there.
#pragma once

#include "host_library.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <map>
#include <vector>

#include "capture.h"
#include "complex.h"

#define _CUFFT_H_  // as headers of others ask whether cuFFT is there
#define CUFFT_VER_MAJOR 11
#define CUFFT_VER_MINOR 0
#define CUFFT_VER_PATCH 0
#define CUFFT_VERSION (CUFFT_VER_MAJOR * 1000 + CUFFT_VER_MINOR * 100 + CUFFT_VER_PATCH)

#include "../library_types.h"
#include "fft_types.inc"
typedef cufftResult_t cufftResult;
typedef cufftType_t cufftType;
typedef int cufftHandle;
typedef float cufftReal;
typedef double cufftDoubleReal;
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
#define CUFFT_FORWARD (-1)
#define CUFFT_INVERSE 1

namespace isomer::emulator::fft {

using Complex = std::complex<double>;

/// How the values of one side lie: as a plan of many describes it, or one transform behind the other.
struct Layout {
  bool given = false;
  std::vector<long> embed;
  long stride = 1, distance = 0;
};
struct Plan {
  bool made = false;
  cufftType type = CUFFT_C2C;
  std::vector<long> sizes;
  Layout in, out;
  long batch = 1;
  const void* stream = nullptr;
};
inline std::map<int, Plan>& plans() {
  static std::map<int, Plan> all;
  return all;
}

/// The discrete transform of `n` pairs, `stride` apart: by halves, thirds and so on down to primes. `turns`
/// are the roots of unity of the whole length, which is `step` times this one; `sums` has room for the
/// largest prime.
__attribute__((optimize("O3"), no_sanitize("thread"))) inline void transform(const double* in, long stride,
                                                                             double* out, long n,
                                                                             const double* turns, long step,
                                                                             double* sums) {
  if (n == 1) {
    out[0] = in[0], out[1] = in[1];
    return;
  }
  long factor = 2;
  while (factor * factor <= n && n % factor != 0) ++factor;
  if (n % factor != 0) factor = n;
  const long part = n / factor;
  for (long r = 0; r < factor; ++r)
    transform(in + 2 * r * stride, stride * factor, out + 2 * r * part, part, turns, step * factor, sums);
  for (long k = 0; k < part; ++k) {
    for (long q = 0; q < factor; ++q) {
      const long frequency = k + q * part;
      double x = 0, y = 0;
      for (long r = 0, turn = 0; r < factor; ++r, turn = (turn + frequency) % n) {
        const double *const value = out + 2 * (r * part + k), *const by = turns + 2 * turn * step;
        x += value[0] * by[0] - value[1] * by[1];
        y += value[0] * by[1] + value[1] * by[0];
      }
      sums[2 * q] = x, sums[2 * q + 1] = y;
    }
    for (long q = 0; q < factor; ++q) {
      out[2 * (k + q * part)] = sums[2 * q];
      out[2 * (k + q * part) + 1] = sums[2 * q + 1];
    }
  }
}
/// Along every dimension.
inline void transform_all(std::vector<Complex>& values, const std::vector<long>& sizes, int sign) {
  long behind = 1;
  for (std::size_t d = sizes.size(); d-- > 0; behind *= sizes[d]) {
    const long n = sizes[d], lines = static_cast<long>(values.size()) / n;
    const auto room = static_cast<std::size_t>(n);
    std::vector<Complex> line(room), result(room), turns(room), sums(room);
    for (long i = 0; i < n; ++i)
      turns[static_cast<std::size_t>(i)] =
          std::polar(1.0, sign * 6.28318530717958647692 * static_cast<double>(i) / static_cast<double>(n));
    const auto plain = [](std::vector<Complex>& pairs) { return reinterpret_cast<double*>(pairs.data()); };
    for (long l = 0; l < lines; ++l) {
      Complex* const begin = values.data() + l / behind * behind * n + l % behind;
      for (long i = 0; i < n; ++i) line[static_cast<std::size_t>(i)] = begin[i * behind];
      transform(plain(line), 1, plain(result), n, plain(turns), 1, plain(sums));
      for (long i = 0; i < n; ++i) begin[i * behind] = result[static_cast<std::size_t>(i)];
    }
  }
}

/// The place of each value of one transform, where the last dimension has `row` of them.
struct Places {
  std::vector<long> at;
  long distance = 0, end = 0;
  Places(const Plan& plan, const Layout& layout, long row, long room) {
    long count = row, rows = room;
    for (std::size_t d = 0; d + 1 < plan.sizes.size(); ++d) count *= plan.sizes[d], rows *= plan.sizes[d];
    distance = layout.given ? layout.distance : rows;
    at.resize(static_cast<std::size_t>(count));
    for (long i = 0; i < count; ++i) {
      long rest = i / row, place = i % row, scale = layout.given ? layout.embed.back() : room;
      for (std::size_t d = plan.sizes.size() - 1; d-- > 0;) {
        place += rest % plan.sizes[d] * scale;
        rest /= plan.sizes[d];
        scale *= layout.given ? layout.embed[d] : plan.sizes[d];
      }
      at[static_cast<std::size_t>(i)] = place * (layout.given ? layout.stride : 1);
      end = std::max(end, at[static_cast<std::size_t>(i)] + 1);
    }
    end += distance * (plan.batch - 1);
  }
};

template <class In, class Out>
cufftResult transform(cufftHandle handle, const In* from, Out* to, int sign) {
  const auto found = plans().find(handle);
  if (found == plans().end() || !found->second.made) return CUFFT_INVALID_PLAN;
  if (isomer_emulator_library_refused()) return CUFFT_EXEC_FAILED;
  const Plan& plan = found->second;
  constexpr bool real_in = std::is_floating_point_v<In>, real_out = std::is_floating_point_v<Out>;
  const long last = plan.sizes.back(), half = last / 2 + 1;
  // In place the rows of reals have the room of the complex ones.
  const bool in_place = static_cast<const void*>(from) == static_cast<const void*>(to);
  const long real_room = in_place ? 2 * half : last;
  const Places in(plan, plan.in, real_out ? half : last, real_in ? real_room : real_out ? half : last);
  const Places out(plan, plan.out, real_in ? half : last, real_out ? real_room : real_in ? half : last);
  std::vector<In> read(static_cast<std::size_t>(in.end));
  std::vector<Out> written(static_cast<std::size_t>(out.end));
  if (isomer_emulator_copy(read.data(), from, read.size() * sizeof(In), 4) != 0 ||
      isomer_emulator_copy(written.data(), to, written.size() * sizeof(Out), 4) != 0)
    return CUFFT_EXEC_FAILED;
  long count = 1;
  for (const long n : plan.sizes) count *= n;
  for (long b = 0; b < plan.batch; ++b) {
    std::vector<Complex> values(static_cast<std::size_t>(count));
    const In* const begin = read.data() + b * in.distance;
    if constexpr (real_in) {
      for (long i = 0; i < count; ++i)
        values[static_cast<std::size_t>(i)] = begin[in.at[static_cast<std::size_t>(i)]];
    } else if constexpr (!real_out) {
      for (long i = 0; i < count; ++i) {
        const In v = begin[in.at[static_cast<std::size_t>(i)]];
        values[static_cast<std::size_t>(i)] = Complex(v.x, v.y);
      }
    } else {
      // The half that is not stored: the conjugate at the opposite frequency.
      for (long i = 0; i < count; ++i) {
        const bool stored = i % last < half;
        long place = stored ? i % last : last - i % last, scale = half, rest = i / last;
        for (std::size_t d = plan.sizes.size() - 1; d-- > 0;) {
          const long n = plan.sizes[d], at = rest % n;
          place += (stored ? at : (n - at) % n) * scale;
          scale *= n, rest /= n;
        }
        const In v = begin[in.at[static_cast<std::size_t>(place)]];
        values[static_cast<std::size_t>(i)] = Complex(v.x, stored ? v.y : -v.y);
      }
    }
    transform_all(values, plan.sizes, sign);
    Out* const end = written.data() + b * out.distance;
    const long row = real_in ? half : last;
    for (std::size_t i = 0; i < out.at.size(); ++i) {
      const Complex v = values[i / static_cast<std::size_t>(row) * static_cast<std::size_t>(last) +
                               i % static_cast<std::size_t>(row)];
      if constexpr (real_out) {
        end[out.at[i]] = static_cast<Out>(v.real());
      } else {
        using C = decltype(Out::x);
        end[out.at[i]] = Out{static_cast<C>(v.real()), static_cast<C>(v.imag())};
      }
    }
  }
  return isomer_emulator_copy(to, written.data(), written.size() * sizeof(Out), 4) == 0 ? CUFFT_SUCCESS
                                                                                        : CUFFT_EXEC_FAILED;
}

inline cufftResult make(cufftHandle handle, std::vector<long> sizes, cufftType type, long batch,
                        Layout in = {}, Layout out = {}) {
  for (const long n : sizes)
    if (n < 1) return CUFFT_INVALID_SIZE;
  if (batch < 1 || sizes.empty()) return CUFFT_INVALID_SIZE;
  Plan& plan = plans()[handle];
  plan = {true, type, std::move(sizes), std::move(in), std::move(out), batch, plan.stream};
  return CUFFT_SUCCESS;
}
inline cufftResult make_many(cufftHandle handle, int rank, const int* n, const int* inembed, int istride,
                             int idist, const int* onembed, int ostride, int odist, cufftType type,
                             int batch) {
  if (rank < 1 || rank > 3) return CUFFT_INVALID_VALUE;
  const auto layout = [rank](const int* embed, int stride, int distance) {
    return embed ? Layout{true, std::vector<long>(embed, embed + rank), stride, distance} : Layout{};
  };
  // Without both of them the strides count for nothing.
  const bool given = inembed && onembed;
  return make(handle, std::vector<long>(n, n + rank), type, batch,
              layout(given ? inembed : nullptr, istride, idist),
              layout(given ? onembed : nullptr, ostride, odist));
}

/// Where the plan's stream is captured, the transform goes into its graph.
template <class In, class Out>
cufftResult execute(cufftHandle handle, const In* from, Out* to, int sign) {
  const auto found = plans().find(handle);
  if (found == plans().end()) return CUFFT_INVALID_PLAN;
  const auto later = [=](void*) { transform(handle, from, to, sign); };
  return capture(found->second.stream, NodeKind::kernel, later) ? CUFFT_SUCCESS : transform(handle, from, to, sign);
}

}  // namespace isomer::emulator::fft

static inline cufftResult cufftCreate(cufftHandle* plan) {
  static int last = 0;
  *plan = ++last;
  isomer::emulator::fft::plans()[*plan] = {};
  return CUFFT_SUCCESS;
}
static inline cufftResult cufftDestroy(cufftHandle plan) {
  return isomer::emulator::fft::plans().erase(plan) == 1 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
static inline cufftResult cufftMakePlan1d(cufftHandle plan, int n, cufftType type, int batch,
                                          std::size_t* work) {
  if (work) *work = 0;
  return isomer::emulator::fft::make(plan, {n}, type, batch);
}
static inline cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type,
                                          std::size_t* work) {
  if (work) *work = 0;
  return isomer::emulator::fft::make(plan, {nx, ny}, type, 1);
}
static inline cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type,
                                          std::size_t* work) {
  if (work) *work = 0;
  return isomer::emulator::fft::make(plan, {nx, ny, nz}, type, 1);
}
static inline cufftResult cufftMakePlanMany(cufftHandle plan, int rank, const int* n, const int* inembed,
                                            int istride, int idist, const int* onembed, int ostride,
                                            int odist, cufftType type, int batch, std::size_t* work) {
  if (work) *work = 0;
  return isomer::emulator::fft::make_many(plan, rank, n, inembed, istride, idist, onembed, ostride, odist,
                                          type, batch);
}
/// By the types of elements; `executes` is that of the sums, which are double here.
static inline cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* inembed,
                                              long long istride, long long idist, cudaDataType in,
                                              long long* onembed, long long ostride, long long odist,
                                              cudaDataType out, long long batch, std::size_t* work,
                                              cudaDataType /*executes*/) {
  const auto narrow = [rank](const long long* from) { return from ? std::vector<int>(from, from + rank) : std::vector<int>(); };
  const std::vector<int> sizes = narrow(n), inside = narrow(inembed), outside = narrow(onembed);
  struct Kind { cudaDataType in, out; cufftType type; };
  for (const Kind& k : {Kind{CUDA_C_32F, CUDA_C_32F, CUFFT_C2C}, {CUDA_R_32F, CUDA_C_32F, CUFFT_R2C},
                        {CUDA_C_32F, CUDA_R_32F, CUFFT_C2R}, {CUDA_C_64F, CUDA_C_64F, CUFFT_Z2Z},
                        {CUDA_R_64F, CUDA_C_64F, CUFFT_D2Z}, {CUDA_C_64F, CUDA_R_64F, CUFFT_Z2D}})
    if (k.in == in && k.out == out)
      return cufftMakePlanMany(plan, rank, sizes.data(), inembed ? inside.data() : nullptr, int(istride), int(idist),
                               onembed ? outside.data() : nullptr, int(ostride), int(odist), k.type, int(batch), work);
  return CUFFT_INVALID_TYPE;
}
static inline cufftResult cufftPlan1d(cufftHandle* plan, int n, cufftType type, int batch) {
  cufftCreate(plan);
  return cufftMakePlan1d(*plan, n, type, batch, nullptr);
}
static inline cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  cufftCreate(plan);
  return cufftMakePlan2d(*plan, nx, ny, type, nullptr);
}
static inline cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  cufftCreate(plan);
  return cufftMakePlan3d(*plan, nx, ny, nz, type, nullptr);
}
static inline cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride,
                                        int idist, int* onembed, int ostride, int odist, cufftType type,
                                        int batch) {
  cufftCreate(plan);
  return cufftMakePlanMany(*plan, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch,
                           nullptr);
}
static inline cufftResult cufftSetStream(cufftHandle handle, const void* stream) {
  const auto found = isomer::emulator::fft::plans().find(handle);
  if (found == isomer::emulator::fft::plans().end()) return CUFFT_INVALID_PLAN;
  found->second.stream = stream;
  return CUFFT_SUCCESS;
}
static inline cufftResult cufftSetWorkArea(cufftHandle, void*) { return CUFFT_SUCCESS; }
static inline cufftResult cufftSetAutoAllocation(cufftHandle, int) { return CUFFT_SUCCESS; }
static inline cufftResult cufftGetVersion(int* version) {
  *version = 11000;
  return CUFFT_SUCCESS;
}
static inline cufftResult cufftGetSize(cufftHandle, std::size_t* work) {
  *work = 0;
  return CUFFT_SUCCESS;
}
static inline cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return isomer::emulator::fft::execute(plan, in, out, direction);
}
static inline cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out,
                                       int direction) {
  return isomer::emulator::fft::execute(plan, in, out, direction);
}
static inline cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return isomer::emulator::fft::execute(plan, in, out, CUFFT_FORWARD);
}
static inline cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return isomer::emulator::fft::execute(plan, in, out, CUFFT_FORWARD);
}
static inline cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return isomer::emulator::fft::execute(plan, in, out, CUFFT_INVERSE);
}
static inline cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return isomer::emulator::fft::execute(plan, in, out, CUFFT_INVERSE);
}
