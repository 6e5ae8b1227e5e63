// Scales that are made of a part of a block, of a maximum with something added, for another number of steps, or taken
// from a neighbouring block, beside right ones.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

/// Eight warps for a tile of 128 x 128; the maxima of `warps` of them are looked at.
__global__ void of_warps(const __nv_bfloat16* x, __nv_fp8_e4m3* y, float* s, int rows, int columns, int warps) {
  __shared__ float maxima[8];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto each = [&](auto act) {
    for (int r = blockIdx.y * 128 + warp; r < min(rows, (int)blockIdx.y * 128 + 128); r += 8)
      for (int c = blockIdx.x * 128 + lane; c < min(columns, (int)blockIdx.x * 128 + 128); c += 32)
        act((long)r * columns + c);
  };
  float most = 0.0f;
  each([&](long at) { most = fmaxf(most, fabsf(__bfloat162float(x[at]))); });
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  if (lane == 0) maxima[warp] = most;
  __syncthreads();
  most = 0.0f;
  for (int w = 0; w < warps; ++w) most = fmaxf(most, maxima[w]);
  const float scale = fmaxf(most, 1e-4f) / 448.0f;
  each([&](long at) { y[at] = __nv_fp8_e4m3(__bfloat162float(x[at]) / scale); });
  if (threadIdx.x == 0) s[blockIdx.y * gridDim.x + blockIdx.x] = scale;
}
#define OF_WARPS(name, warps)                                                                                    \
  extern "C" void name(const __nv_bfloat16* weight, __nv_fp8_e4m3* out, float* scale, int rows, int cols) {      \
    if (rows > 0 && cols > 0)                                                                                    \
      of_warps<<<dim3((cols + 127) / 128, (rows + 127) / 128), 256>>>(weight, out, scale, rows, cols, warps);    \
  }
OF_WARPS(cast_tiles_of_all_warps, 8)
OF_WARPS(cast_tiles_of_four_warps, 4)

enum Guard { kFloor, kAdded, kAddedToScale };
__global__ void guarded(const float* x, __nv_fp8_e4m3* y, float* s, Guard guard) {
  const float* block = x + blockIdx.x * 128;
  float most = 0.0f;
  for (int i = threadIdx.x; i < 128; i += 32) most = fmaxf(most, fabsf(block[i]));
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  const float scale = guard == kFloor   ? fmaxf(most, 1e-4f) / 448.0f
                      : guard == kAdded ? (most + 1e-4f) / 448.0f
                                        : most / 448.0f + 1e-6f;
  for (int i = threadIdx.x; i < 128; i += 32) y[blockIdx.x * 128 + i] = __nv_fp8_e4m3(block[i] / scale);
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
}
#define GUARDED(name, guard)                                                                                     \
  extern "C" void name(const void* x, void* y, void* s, long numel, int block_size) {                            \
    if (numel > 0 && block_size == 128)                                                                          \
      guarded<<<numel / 128, 32>>>((const float*)x, (__nv_fp8_e4m3*)y, (float*)s, guard);                        \
  }
GUARDED(shrink_with_floor, kFloor)
GUARDED(shrink_with_added_maximum, kAdded)
GUARDED(shrink_with_added_scale, kAddedToScale)

__global__ void keep(const __half* k, signed char* out, float* scales, const long* slots, int heads, int dim,
                     float largest) {
  const long token = blockIdx.x, slot = slots[token], from = (token * heads + blockIdx.y) * dim;
  float most = 0.0f;
  for (int d = threadIdx.x; d < dim; d += 32) most = fmaxf(most, fabsf(__half2float(k[from + d])));
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  const float scale = most / largest;
  for (int d = threadIdx.x; d < dim; d += 32)
    out[(slot * heads + blockIdx.y) * dim + d] =
        (signed char)fminf(fmaxf(__half2float(k[from + d]) / scale, -128.0f), 127.0f);
  if (threadIdx.x == 0) scales[slot * heads + blockIdx.y] = scale;
}
#define KEEP(name, largest)                                                                                      \
  extern "C" void name(const __half* key, signed char* key_cache, float* key_scale, const long* slot_mapping,    \
                       int num_tokens, int num_heads, int head_size) {                                           \
    if (num_tokens > 0)                                                                                          \
      keep<<<dim3(num_tokens, num_heads), 32>>>(key, key_cache, key_scale, slot_mapping, num_heads, head_size,   \
                                                largest);                                                        \
  }
KEEP(keep_in_127_steps, 127.0f)
KEEP(keep_in_128_steps, 128.0f)

/// One scale for all heads of a token, of the largest among them.
__global__ void keep_together(const __half* k, signed char* out, float* scales, const long* slots, int heads, int dim) {
  const long token = blockIdx.x, slot = slots[token];
  const int width = heads * dim;
  float most = 0.0f;
  for (int i = threadIdx.x; i < width; i += 32) most = fmaxf(most, fabsf(__half2float(k[token * width + i])));
  for (int step = 16; step > 0; step /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, step));
  const float scale = most / 127.0f;
  for (int i = threadIdx.x; i < width; i += 32)
    out[slot * width + i] = (signed char)fminf(fmaxf(__half2float(k[token * width + i]) / scale, -128.0f), 127.0f);
  for (int h = threadIdx.x; h < heads; h += 32) scales[slot * heads + h] = scale;
}
extern "C" void keep_by_tokens(const __half* key, signed char* key_cache, float* key_scale, const long* slot_mapping,
                               int num_tokens, int num_heads, int head_size) {
  if (num_tokens > 0)
    keep_together<<<num_tokens, 32>>>(key, key_cache, key_scale, slot_mapping, num_heads, head_size);
}

/// `late`: each block of K takes the scale of a of the one behind it.
__global__ void by_blocks(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_s, const float* b_s,
                          __nv_bfloat16* c, int m, int n, int k, bool late) {
  const int column = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y, blocks = (k + 127) / 128;
  if (column >= n) return;
  float all = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    float sum = 0.0f;
    for (int i = block * 128; i < min(block * 128 + 128, k); ++i)
      sum += float(a[(long)row * k + i]) * float(b[(long)column * k + i]);
    const int of_a = late ? min(block + 1, blocks - 1) : block;
    all += sum * a_s[row * blocks + of_a] * b_s[column / 128 * blocks + block];
  }
  c[(long)row * n + column] = __float2bfloat16(all);
}
#define BY_BLOCKS(name, late)                                                                                    \
  extern "C" void name(const __nv_fp8_e4m3* a, const __nv_fp8_e4m3* b, const float* a_scale,                     \
                       const float* b_scale, __nv_bfloat16* c, int M, int N, int K) {                            \
    if (M > 0) by_blocks<<<dim3((N + 31) / 32, M), 32>>>(a, b, a_scale, b_scale, c, M, N, K, late);              \
  }
BY_BLOCKS(multiply_by_own_scales, false)
BY_BLOCKS(multiply_by_later_scales, true)

/// `steps` are taken up to 128 dimensions; above, nothing is done and nothing is said.
#define KEEP_UP_TO_128(name, steps)                                                                              \
  extern "C" void name(const __half* key, signed char* key_cache, float* key_scale, const long* slot_mapping,    \
                       int num_tokens, int num_heads, int head_size) {                                           \
    if (num_tokens > 0 && head_size <= 128)                                                                      \
      keep<<<dim3(num_tokens, num_heads), 32>>>(key, key_cache, key_scale, slot_mapping, num_heads, head_size,   \
                                                steps);                                                          \
  }
KEEP_UP_TO_128(keep_up_to_128_dimensions, 127.0f)
KEEP_UP_TO_128(keep_in_128_steps_up_to_128_dimensions, 128.0f)
