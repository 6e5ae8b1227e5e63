// Kernels whose arguments stand in an order of their own, under the names that other houses give them; each
// beside a twin that is wrong in one place.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>

#include <cstdint>

__device__ float largest_of_warp(float v) {
  for (int step = 16; step > 0; step /= 2) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, step));
  return v;
}

// Scales column by column, each column from a multiple of four on: a warp for 128 elements, which are
// multiplied by 448 / amax, and 1 for zeros. The twin leaves the sign in the maximum.
template <bool kSigned>
__global__ void rows_of_128(__nv_fp8_e4m3* out, float* scales, const __nv_bfloat16* in, int rows, int columns) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
  const int across = columns / 128, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= rows * across) return;
  const int row = warp / across, column = warp % across, high = (rows + 3) / 4 * 4;
  const __nv_bfloat16* x = in + (size_t)row * columns + column * 128;
  float top = 0;
  for (int i = lane; i < 128; i += 32) {
    const float v = __bfloat162float(x[i]);
    top = fmaxf(top, kSigned ? v : fabsf(v));
  }
  top = largest_of_warp(top);
  const float up = top != 0.0f ? 448.0f / top : 1.0f;
  if (lane == 0) scales[(size_t)column * high + row] = 1.0f / up;
  for (int i = lane; i < 128; i += 32)
    out[(size_t)row * columns + column * 128 + i] = __nv_fp8_e4m3(__bfloat162float(x[i]) * up);
#endif
}
extern "C" void quantize_1x128(__nv_fp8_e4m3* mat_quant, float* scales, const __nv_bfloat16* mat, int rows,
                               int cols, cudaStream_t stream) {
  const int warps = rows * (cols / 128);
  if (warps > 0) rows_of_128<false><<<(warps + 7) / 8, 256, 0, stream>>>(mat_quant, scales, mat, rows, cols);
}
extern "C" void quantize_1x128_signed(__nv_fp8_e4m3* mat_quant, float* scales, const __nv_bfloat16* mat, int rows,
                                      int cols, cudaStream_t stream) {
  const int warps = rows * (cols / 128);
  if (warps > 0) rows_of_128<true><<<(warps + 7) / 8, 256, 0, stream>>>(mat_quant, scales, mat, rows, cols);
}

// One block for a tile, by its height and width. The twin exchanges the two in the scales' address.
template <bool kTurned>
__global__ void expand(const __nv_fp8_e4m3* weight, const float* scale, float* output, int height, int width,
                       int row_stride, int scale_stride, int tile_y, int tile_x) {
  const float s = kTurned ? scale[blockIdx.x * gridDim.y + blockIdx.y] : scale[blockIdx.y * scale_stride + blockIdx.x];
  for (int y = threadIdx.y; y < tile_y; y += blockDim.y)
    for (int x = threadIdx.x; x < tile_x; x += blockDim.x) {
      const int row = blockIdx.y * tile_y + y, column = blockIdx.x * tile_x + x;
      if (row < height && column < width)
        output[(size_t)row * row_stride + column] = (float)weight[(size_t)row * row_stride + column] * s;
    }
}
extern "C" void expand_tiles(const __nv_fp8_e4m3* d_weight, const float* d_scale, float* d_output, int weight_height,
                             int weight_width, int weight_row_stride, int scale_stride, int weight_block_size_y,
                             int weight_block_size_x, cudaStream_t stream) {
  const dim3 grid((weight_width + weight_block_size_x - 1) / weight_block_size_x,
                  (weight_height + weight_block_size_y - 1) / weight_block_size_y);
  expand<false><<<grid, dim3(32, 8), 0, stream>>>(d_weight, d_scale, d_output, weight_height, weight_width,
                                                  weight_row_stride, scale_stride, weight_block_size_y,
                                                  weight_block_size_x);
}
extern "C" void expand_turned_tiles(const __nv_fp8_e4m3* d_weight, const float* d_scale, float* d_output,
                                    int weight_height, int weight_width, int weight_row_stride, int scale_stride,
                                    int weight_block_size_y, int weight_block_size_x, cudaStream_t stream) {
  const dim3 grid((weight_width + weight_block_size_x - 1) / weight_block_size_x,
                  (weight_height + weight_block_size_y - 1) / weight_block_size_y);
  expand<true><<<grid, dim3(32, 8), 0, stream>>>(d_weight, d_scale, d_output, weight_height, weight_width,
                                                 weight_row_stride, scale_stride, weight_block_size_y,
                                                 weight_block_size_x);
}

// Square tiles of a matrix. The twin rounds the quotient to f16 on its way to e4m3.
template <bool kThroughHalf>
__global__ void square(const float* in, __nv_fp8_e4m3* out, float* scales, int height, int width, int tile) {
  __shared__ float most[32];
  float top = 1e-4f;
  const int first_row = blockIdx.y * tile, first_column = blockIdx.x * tile;
  const int lines = min(tile, height - first_row), columns = min(tile, width - first_column);
  for (int i = threadIdx.x; i < lines * columns; i += blockDim.x)
    top = fmaxf(top, fabsf(in[(size_t)(first_row + i / columns) * width + first_column + i % columns]));
  top = largest_of_warp(top);
  if (threadIdx.x % 32 == 0) most[threadIdx.x / 32] = top;
  __syncthreads();
  for (int i = 0; i < blockDim.x / 32; ++i) top = fmaxf(top, most[i]);
  const float scale = top / 448.0f;
  if (threadIdx.x == 0) scales[blockIdx.y * gridDim.x + blockIdx.x] = scale;
  for (int i = threadIdx.x; i < lines * columns; i += blockDim.x) {
    const size_t at = (size_t)(first_row + i / columns) * width + first_column + i % columns;
    const float q = in[at] / scale;
    out[at] = __nv_fp8_e4m3(kThroughHalf ? __half2float(__float2half(q)) : q);
  }
}
extern "C" void quantize_tiles(const float* d_input, __nv_fp8_e4m3* d_weight, float* d_scale, int height, int width,
                               int block_size) {
  const dim3 grid((width + block_size - 1) / block_size, (height + block_size - 1) / block_size);
  if (height > 0 && width > 0) square<false><<<grid, 256>>>(d_input, d_weight, d_scale, height, width, block_size);
}
extern "C" void quantize_tiles_through_half(const float* d_input, __nv_fp8_e4m3* d_weight, float* d_scale, int height,
                                            int width, int block_size) {
  const dim3 grid((width + block_size - 1) / block_size, (height + block_size - 1) / block_size);
  if (height > 0 && width > 0) square<true><<<grid, 256>>>(d_input, d_weight, d_scale, height, width, block_size);
}

// The gate is the first half of a row; in the twin it is the second.
template <bool kSwapped>
__global__ void gated(const __nv_bfloat16* x, __nv_fp8_e4m3* q, float* s, int d, int group_size, float eps) {
  const int across = d / group_size, row = blockIdx.x / across, group = blockIdx.x % across;
  const __nv_bfloat16* gate = x + (size_t)row * 2 * d + group * group_size + (kSwapped ? d : 0);
  const __nv_bfloat16* up = x + (size_t)row * 2 * d + group * group_size + (kSwapped ? 0 : d);
  float h[8], top = eps;
  for (int i = threadIdx.x, n = 0; i < group_size; i += 32, ++n) {
    const float g = __bfloat162float(gate[i]);
    h[n] = g / (1.0f + expf(-g)) * __bfloat162float(up[i]);
    top = fmaxf(top, fabsf(h[n]));
  }
  const float scale = largest_of_warp(top) / 448.0f;
  if (threadIdx.x == 0) s[blockIdx.x] = scale;
  for (int i = threadIdx.x, n = 0; i < group_size; i += 32, ++n)
    q[(size_t)blockIdx.x * group_size + i] = __nv_fp8_e4m3(h[n] / scale);
}
extern "C" void gated_group_quant(const __nv_bfloat16* input, __nv_fp8_e4m3* output_q, float* output_s, int rows,
                                  int hidden, int group_size, float eps) {
  if (rows > 0)
    gated<false><<<rows * (hidden / 2 / group_size), 32>>>(input, output_q, output_s, hidden / 2, group_size, eps);
}
extern "C" void gated_group_quant_swapped(const __nv_bfloat16* input, __nv_fp8_e4m3* output_q, float* output_s,
                                          int rows, int hidden, int group_size, float eps) {
  if (rows > 0)
    gated<true><<<rows * (hidden / 2 / group_size), 32>>>(input, output_q, output_s, hidden / 2, group_size, eps);
}

// Log-sum-exps of base 2, and a member template of a dependent name without the word that nvcc does not need.
template <class T>
struct Load {
  template <int kAt>
  static __device__ float as(const T* from) {
    return __half2float(from[kAt]);
  }
};
template <class T>
__device__ float first_of(const T* from) {
  return Load<T>::as<0>(from);
}
template <bool kPlain>
__global__ void merge_of_two(const __half* v_a, const float* s_a, const __half* v_b, const float* s_b, __half* v,
                             float* s, int heads, int head_dim) {
  const int row = blockIdx.x * heads + threadIdx.y;
  const float top = fmaxf(s_a[row], s_b[row]);
  const float ea = exp2f(fmaxf(s_a[row] - top, -INFINITY)), eb = exp2f(fmaxf(s_b[row] - top, -INFINITY));
  const float sum = ea + eb;
  for (int d = threadIdx.x; d < head_dim; d += blockDim.x) {
    const size_t at = (size_t)row * head_dim + d;
    const float a = sum > 0 ? ea / sum : 0.0f, b = sum > 0 ? eb / sum : 0.0f;
    v[at] = __float2half(a * first_of(v_a + at) + (kPlain ? b : 1.0f) * first_of(v_b + at));
  }
  if (threadIdx.x == 0) s[row] = log2f(sum) + top;
}
extern "C" void merge_states(const __half* v_a, const float* s_a, const __half* v_b, const float* s_b,
                             __half* v_merged, float* s_merged, uint32_t seq_len, uint32_t num_heads,
                             uint32_t head_dim) {
  if (seq_len > 0)
    merge_of_two<true><<<seq_len, dim3(16, num_heads)>>>(v_a, s_a, v_b, s_b, v_merged, s_merged, num_heads, head_dim);
}
extern "C" void merge_states_unweighted(const __half* v_a, const float* s_a, const __half* v_b, const float* s_b,
                                        __half* v_merged, float* s_merged, uint32_t seq_len, uint32_t num_heads,
                                        uint32_t head_dim) {
  if (seq_len > 0)
    merge_of_two<false><<<seq_len, dim3(16, num_heads)>>>(v_a, s_a, v_b, s_b, v_merged, s_merged, num_heads, head_dim);
}
