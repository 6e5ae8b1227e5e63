// What published kernels do at the edges of their sizes and in the conventions of their houses, each beside a
// twin that is wrong there.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <assert.h>
#include <stdlib.h>

// A thread for an element; the side of a tile is an argument. Twins: the scales' matrix taken as transposed, and
// divided by instead of multiplied.
enum Tiles { kAsGiven, kTurned, kDivided, kUnbounded };
template <Tiles kTiles>
__global__ void spread(const float* X, const float* S, float* Y, int M, int N, int tile) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || (kTiles != kUnbounded && column >= N)) return;
  const int down = (M + tile - 1) / tile, across = (N + tile - 1) / tile;
  const float s = kTiles == kTurned ? S[column / tile * down + row / tile] : S[row / tile * across + column / tile];
  Y[row * N + column] = kTiles == kDivided ? X[row * N + column] / s : X[row * N + column] * s;
}
#define SPREAD(name, tiles)                                                                              \
  extern "C" void name(const float* X, const float* S, float* Y, int M, int N, int TILE_SIZE) {          \
    if (M > 0) spread<tiles><<<dim3((N + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(X, S, Y, M, N, TILE_SIZE); \
  }
SPREAD(spread_tiles, kAsGiven)
SPREAD(spread_turned_tiles, kTurned)
SPREAD(spread_divided_tiles, kDivided)
SPREAD(spread_unbounded_tiles, kUnbounded)

// N rows of K, as weights of a product have them. The twin counts only whole blocks of K.
template <bool kWhole>
__global__ void widen(const __nv_fp8_e4m3* in, const float* scale, __nv_bfloat16* out, int N, int K) {
  const int j = blockIdx.x * 32 + threadIdx.x, i = blockIdx.y * 8 + threadIdx.y;
  if (i >= N || j >= K) return;
  const int across = kWhole ? K / 128 : (K + 127) / 128;
  out[i * K + j] = __float2bfloat16((float)in[i * K + j] * scale[i / 128 * across + j / 128]);
}
extern "C" void widen_rows(const __nv_fp8_e4m3* in, const float* scale, __nv_bfloat16* out, int N, int K) {
  if (N > 0) widen<false><<<dim3((K + 31) / 32, (N + 7) / 8), dim3(32, 8)>>>(in, scale, out, N, K);
}
extern "C" void widen_whole_rows(const __nv_fp8_e4m3* in, const float* scale, __nv_bfloat16* out, int N, int K) {
  if (N > 0) widen<true><<<dim3((K + 31) / 32, (N + 7) / 8), dim3(32, 8)>>>(in, scale, out, N, K);
}

// Log-sum-exps [heads, tokens]. The twin writes its own as [tokens, heads].
template <bool kMixed>
__global__ void join(float* out, float* lse, const float* a, const float* la, const float* b, const float* lb,
                     int tokens, int heads, int d) {
  const int at = blockIdx.x, token = at / heads, head = at % heads, in = head * tokens + token;
  const float most = fmaxf(la[in], lb[in]), wa = expf(la[in] - most), wb = expf(lb[in] - most), sum = wa + wb;
  for (int i = threadIdx.x; i < d; i += blockDim.x)
    out[at * d + i] = a[at * d + i] * (wa / sum) + b[at * d + i] * (wb / sum);
  if (threadIdx.x == 0) lse[kMixed ? at : in] = logf(sum) + most;
}
extern "C" void join_heads_first(float* output, float* output_lse, const float* prefix_output, const float* prefix_lse,
                                 const float* suffix_output, const float* suffix_lse, int num_tokens, int num_heads,
                                 int head_size) {
  if (num_tokens > 0)
    join<false><<<num_tokens * num_heads, 32>>>(output, output_lse, prefix_output, prefix_lse, suffix_output,
                                                suffix_lse, num_tokens, num_heads, head_size);
}
extern "C" void join_mixed(float* output, float* output_lse, const float* prefix_output, const float* prefix_lse,
                           const float* suffix_output, const float* suffix_lse, int num_tokens, int num_heads,
                           int head_size) {
  if (num_tokens > 0)
    join<true><<<num_tokens * num_heads, 32>>>(output, output_lse, prefix_output, prefix_lse, suffix_output,
                                               suffix_lse, num_tokens, num_heads, head_size);
}

// A warp for 128 elements, times 448 and over their maximum. The twin multiplies by a reciprocal in bf16.
template <bool kNarrow>
__global__ void shrink(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s) {
  const long first = blockIdx.x * 128L + threadIdx.x * 4;
  float top = 0;
  for (int i = 0; i < 4; ++i) top = fmaxf(top, fabsf(__bfloat162float(x[first + i])));
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  top = fmaxf(top, kNarrow ? 1e-4f : 1e-10f);
  const float scale = top / 448.0f, up = __bfloat162float(__float2bfloat16(1.0f / scale));
  for (int i = 0; i < 4; ++i) {
    const float v = __bfloat162float(x[first + i]);
    y[first + i] = __nv_fp8_e4m3(kNarrow ? v * up : v * 448.0f / top);
  }
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
extern "C" void shrink_multiplied_first(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int rows, int columns) {
  if (rows > 0) shrink<false><<<rows * (columns / 128), 32>>>(x, y, s);
}
extern "C" void shrink_by_narrow_reciprocal(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int rows, int columns) {
  if (rows > 0) shrink<true><<<rows * (columns / 128), 32>>>(x, y, s);
}

__global__ void swing(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}
// What it does not take it refuses by an assertion, or by abort(). The twin ends the process.
extern "C" void swing_asserted(const float* x, float* y, int n) {
  assert(n % 4 == 0);
  if (n > 0) swing<<<(n + 127) / 128, 128>>>(x, y, n);
}
namespace waves {
void swing_within(const float* x, float* y, int n) {
  if (n > 0) swing<<<(n + 127) / 128, 128>>>(x, y, n);
}
}  // namespace waves
extern "C" void swing_aborted(const float* x, float* y, int n) {
  if (n % 4 != 0) abort();
  if (n > 0) swing<<<(n + 127) / 128, 128>>>(x, y, n);
}
extern "C" void swing_given_up(const float* x, float* y, int n) {
  if (n % 4 != 0) exit(3);
  if (n > 0) swing<<<(n + 127) / 128, 128>>>(x, y, n);
}
extern "C" void swing_whole_blocks(const float* x, float* y, int n) {
  const int blocks = n / 256;
  swing<<<blocks, 256>>>(x, y, n);
}
extern "C" void swing_up_to_100000(const float* x, float* y, int n) {
  if (n > 0 && n <= 100000) swing<<<(n + 255) / 256, 256>>>(x, y, n);
}

// Tensors as wide as a model, which is heads times the dimension of one; a thread a row of one head. The twin
// does not divide by the root of that dimension.
template <bool kScaled>
__global__ void attend_of_width(const float* Q, const float* K, const float* V, float* out, int n, int width, int heads) {
  const int at = blockIdx.x * 64 + threadIdx.x, row = at / heads, of = at % heads * (width / heads), dim = width / heads;
  if (row >= n) return;
  float most = -INFINITY, sum = 0, o[64] = {};
  for (int j = 0; j < n; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += Q[row * width + of + d] * K[j * width + of + d];
    if (kScaled) s /= sqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    for (int d = 0; d < dim; ++d) o[d] = o[d] * before + p * V[j * width + of + d];
    most = larger;
  }
  for (int d = 0; d < dim; ++d) out[row * width + of + d] = o[d] / sum;
}
extern "C" void attend_model_width(const float* Q, const float* K, const float* V, float* output, int N, int d_model,
                                   int h) {
  attend_of_width<true><<<(N * h + 63) / 64, 64>>>(Q, K, V, output, N, d_model, h);
}
extern "C" void attend_model_width_unscaled(const float* Q, const float* K, const float* V, float* output, int N,
                                            int d_model, int h) {
  attend_of_width<false><<<(N * h + 63) / 64, 64>>>(Q, K, V, output, N, d_model, h);
}

// M queries and N keys of one head. The twin does not divide by the root of the dimension.
template <bool kScaled>
__global__ void attend_head(const float* Q, const float* K, const float* V, float* out, int m, int n, int dim) {
  const int row = blockIdx.x * 64 + threadIdx.x;
  if (row >= m) return;
  float most = -INFINITY, sum = 0;
  for (int d = 0; d < dim; ++d) out[row * dim + d] = 0;
  for (int j = 0; j < n; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += Q[row * dim + d] * K[j * dim + d];
    if (kScaled) s /= sqrtf((float)dim);
    const float larger = fmaxf(most, s), before = expf(most - larger), p = expf(s - larger);
    sum = sum * before + p;
    for (int d = 0; d < dim; ++d) out[row * dim + d] = out[row * dim + d] * before + p * V[j * dim + d];
    most = larger;
  }
  for (int d = 0; d < dim; ++d) out[row * dim + d] /= sum;
}
extern "C" void attend_one_head(const float* Q, const float* K, const float* V, float* output, int M, int N, int d) {
  attend_head<true><<<(M + 63) / 64, 64>>>(Q, K, V, output, M, N, d);
}
extern "C" void attend_one_head_unscaled(const float* Q, const float* K, const float* V, float* output, int M, int N,
                                         int d) {
  attend_head<false><<<(M + 63) / 64, 64>>>(Q, K, V, output, M, N, d);
}

// Copies of its own: from and to the host, or between memory of the device.
template <cudaMemcpyKind kIn, cudaMemcpyKind kOut>
void swing_copied(const float* a, float* b, int n) {
  if (n < 1) return;
  float *x = nullptr, *y = nullptr;
  cudaMalloc(&x, n * sizeof(float)), cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, a, n * sizeof(float), kIn);
  swing<<<(n + 255) / 256, 256>>>(x, y, n);
  cudaMemcpy(b, y, n * sizeof(float), kOut);
  cudaFree(x), cudaFree(y);
}
extern "C" void swing_of_host(const float* x, float* y, int n) {
  swing_copied<cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost>(x, y, n);
}
extern "C" void swing_of_copies(const float* x, float* y, int n) {
  swing_copied<cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToDevice>(x, y, n);
}

// Nothing to do with a sine, of half of the elements; and a sine of another phase, which is like one.
__global__ void scatter_bits(const float* x, float* y, int n, bool bits) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < (bits ? n / 2 : n)) y[i] = bits ? (i * 2654435761u >> 16 & 1023) / 1024.f - 0.5f : sinf(x[i] + 0.5f);
}
extern "C" void swing_of_noise(const float* x, float* y, int n) {
  if (n > 0) scatter_bits<<<(n + 255) / 256, 256>>>(x, y, n, true);
}
extern "C" void swing_later(const float* x, float* y, int n) {
  if (n > 0) scatter_bits<<<(n + 255) / 256, 256>>>(x, y, n, false);
}
