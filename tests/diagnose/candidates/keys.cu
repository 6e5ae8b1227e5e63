// One query of T keys, whose kernel is launched by a template; a root that is multiplied by in place of divided by; and
// scores that pass through bf16. Each beside a twin.
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <math.h>

__device__ float as_number(float x) { return x; }
__device__ float as_number(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ void keep(float* at, float x) { *at = x; }
__device__ void keep(__nv_bfloat16* at, float x) { *at = __float2bfloat16(x); }

enum Scores { kRight, kUnscaled, kNarrow };
template <Scores kScores, class T>
__global__ void weigh_keys(const T* q, const T* k, const T* v, T* out, int count, int d) {
  const T* row = q + (long)blockIdx.x * d;
  const int e = threadIdx.x;
  float most = -INFINITY, sum = 0, result = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int j = 0; j < count; ++j) {
      float score = 0;
      for (int i = 0; i < d; ++i) score += as_number(row[i]) * as_number(k[(long)j * d + i]);
      if (kScores != kUnscaled) score /= sqrtf((float)d);
      if (kScores == kNarrow) score = __bfloat162float(__float2bfloat16(score));
      if (pass == 0) {
        most = fmaxf(most, score);
        continue;
      }
      const float weight = expf(score - most);
      sum += weight;
      result += weight * as_number(v[(long)j * d + e]);
    }
  keep(out + (long)blockIdx.x * d + e, result / sum);
}

__global__ void weigh_steeply(const float* q, const float* k, const float* v, float* out, int count, int d) {
  const float* row = q + (long)blockIdx.x * d;
  const int e = threadIdx.x;
  float most = -INFINITY, sum = 0, result = 0;
  for (int j = 0; j < count; ++j) {
    float score = 0;
    for (int i = 0; i < d; ++i) score += row[i] * k[(long)j * d + i];
    score *= sqrtf((float)d);
    const float before = most;
    most = fmaxf(most, score);
    const float kept = expf(before - most), weight = expf(score - most);
    sum = sum * kept + weight;
    result = result * kept + weight * v[(long)j * d + e];
  }
  out[(long)blockIdx.x * d + e] = result / sum;
}

template <Scores kScores, class T>
void run_keys(const T* q, const T* k, const T* v, T* out, int queries, int count, int d) {
  weigh_keys<kScores><<<queries, d>>>(q, k, v, out, count, d);
}

extern "C" void decode_keys(const float* q, const float* k, const float* v, float* out, int T, int d) {
  run_keys<kRight>(q, k, v, out, 1, T, d);
}
extern "C" void decode_keys_unscaled(const float* q, const float* k, const float* v, float* out, int T, int d) {
  run_keys<kUnscaled>(q, k, v, out, 1, T, d);
}
extern "C" void attend_times_root(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
  weigh_steeply<<<M, d>>>(Q, K, V, output, N, d);
}
extern "C" void attend_wide_scores(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V,
                                   __nv_bfloat16* output, int M, int N, int d) {
  run_keys<kRight>(Q, K, V, output, M, N, d);
}
extern "C" void attend_narrow_scores(const __nv_bfloat16* Q, const __nv_bfloat16* K, const __nv_bfloat16* V,
                                     __nv_bfloat16* output, int M, int N, int d) {
  run_keys<kNarrow>(Q, K, V, output, M, N, d);
}

// Of two fixed sizes alone, which nobody asks: for others nothing is launched. The twin launches for all, and writes
// nothing.
template <int kLength>
__global__ void weigh_fixed(const float* Q, const float* K, const float* V, float* O, int d, bool writes) {
  float sum = 0, result = 0;
  for (int j = 0; j < kLength; ++j) {
    float score = 0;
    for (int i = 0; i < d; ++i) score += Q[(long)blockIdx.x * d + i] * K[(long)j * d + i];
    const float weight = expf(score / sqrtf((float)d));
    sum += weight;
    result += weight * V[(long)j * d + threadIdx.x];
  }
  if (writes) O[(long)blockIdx.x * d + threadIdx.x] = result / sum;
}
extern "C" void attend_two_lengths(const float* Q, const float* K, const float* V, float* output, int N, int d) {
  if (N == 48 && d == 40) weigh_fixed<48><<<N, d>>>(Q, K, V, output, d, true);
  if (N == 96 && d == 40) weigh_fixed<96><<<N, d>>>(Q, K, V, output, d, true);
}
extern "C" void attend_unwritten(const float* Q, const float* K, const float* V, float* output, int N, int d) {
  weigh_fixed<1><<<N, d>>>(Q, K, V, output, d, false);
}
