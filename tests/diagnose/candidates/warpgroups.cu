// A block-scaled product of bytes by a warpgroup's instructions, as inline PTX for sm_90a. Three twins have one fault
// each: nobody waits for the products, writes are not made known to the tensor cores, a warp waits where the others
// do not.
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <cstdint>

enum Fault { kNone, kNoWait, kNoFence, kOneWarpWaits };

// Sixteen bytes of k of eight rows lie together; then the next k, then the next rows.
__device__ int place(int row, int k) { return row / 8 * 1024 + k / 16 * 128 + row % 8 * 16 + k % 16; }
__device__ uint64_t matrix(const void* at) {
  const uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(at));
  return (address & 0x3ffff) >> 4 | uint64_t{128 / 16} << 16 | uint64_t{1024 / 16} << 32;
}
__device__ void multiply32(float (&d)[4][4], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k32.f32.e4m3.e4m3 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15}, %16, %17, p, 1, 1;\n}\n"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]),
        "+f"(d[1][3]), "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[3][0]), "+f"(d[3][1]),
        "+f"(d[3][2]), "+f"(d[3][3])
      : "l"(a), "l"(b), "r"(adds));
}

template <Fault kFault>
__global__ void __launch_bounds__(128) multiply_tile(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                                     const float* b_s, float* c, int M, int N, int K) {
  __shared__ alignas(128) unsigned char ta[64 * 128], tb[32 * 128];
  const int m0 = blockIdx.y * 64, n0 = blockIdx.x * 32, blocks = (K + 127) / 128;
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  float sum[4][4] = {}, d[4][4];
  for (int kb = 0; kb < blocks; ++kb) {
    __syncthreads();
    for (int i = threadIdx.x; i < 96 * 128; i += 128) {
      const int r = i / 128, k = kb * 128 + i % 128;
      const bool of_a = r < 64;
      const int line = of_a ? m0 + r : n0 + r - 64;
      const unsigned char byte =
          k < K && line < (of_a ? M : N) ? reinterpret_cast<const unsigned char*>(of_a ? a : b)[(size_t)line * K + k] : 0;
      (of_a ? ta : tb)[place(of_a ? r : r - 64, i % 128)] = byte;
    }
    if (kFault != kNoFence) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; ++k) multiply32(d, matrix(ta + k * 256), matrix(tb + k * 256), k);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (kFault == kOneWarpWaits && threadIdx.x < 32) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (kFault != kNoWait) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int r = 0; r < 2; ++r) {
      const float scale = m0 + row + 8 * r < M ? a_s[(m0 + row + 8 * r) * blocks + kb] * b_s[n0 / 128 * blocks + kb] : 0;
      for (int j = 0; j < 4; ++j)
        for (int i = 0; i < 2; ++i) sum[j][2 * r + i] += d[j][2 * r + i] * scale;
    }
  }
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 4; ++i) {
      const int m = m0 + row + i / 2 * 8, n = n0 + 8 * j + lane % 4 * 2 + i % 2;
      if (m < M && n < N) c[(size_t)m * N + n] = sum[j][i];
    }
}

template <Fault kFault>
void multiply(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s, float* c, int M, int N,
              int K) {
  if (M > 0 && N > 0)
    multiply_tile<kFault><<<dim3((N + 31) / 32, (M + 63) / 64), 128>>>(a, a_s, b, b_s, c, M, N, K);
}
extern "C" void multiply_by_warpgroups(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b, const float* b_s,
                                       float* c, int M, int N, int K) {
  multiply<kNone>(a, a_s, b, b_s, c, M, N, K);
}
extern "C" void multiply_by_warpgroups_in_flight(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                                 const float* b_s, float* c, int M, int N, int K) {
  multiply<kNoWait>(a, a_s, b, b_s, c, M, N, K);
}
extern "C" void multiply_by_warpgroups_unfenced(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                                const float* b_s, float* c, int M, int N, int K) {
  multiply<kNoFence>(a, a_s, b, b_s, c, M, N, K);
}
extern "C" void multiply_by_warpgroups_out_of_step(const __nv_fp8_e4m3* a, const float* a_s, const __nv_fp8_e4m3* b,
                                                   const float* b_s, float* c, int M, int N, int K) {
  multiply<kOneWarpWaits>(a, a_s, b, b_s, c, M, N, K);
}
