// op: quantize_copy_kv
// finds: rounding-mode, convention
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <stdint.h>
#define NUM_THREADS 64

static __device__ inline int8_t to_i8(float f) {
    int r = __float2int_rn(f);
    return (int8_t)max(-128, min(127, r));
}

__global__ void kv_quant_kernel(const half *keys, const int *slots, int8_t *cache, half *scales, int heads, int dim,
                                long key_tok, long key_head, long cache_row, long cache_head, long sc_row, long sc_head)
{
    __shared__ float partial[NUM_THREADS / 32];
    __shared__ float scale_s;
    int tok = blockIdx.y, head = blockIdx.x, tid = threadIdx.x;
    const half *p = keys + tok * key_tok + head * key_head;
    float mx = 0;
    for (int i = tid; i < dim; i += NUM_THREADS) mx = fmaxf(mx, fabsf(__half2float(p[i])));
    for (int o = 16; o; o >>= 1) mx = fmaxf(mx, __shfl_down_sync(0xffffffffu, mx, o, 32));
    if ((tid & 31) == 0) partial[tid / 32] = mx;
    __syncthreads();
    if (tid == 0) {
        half s = __float2half(fmaxf(partial[0], partial[1]) / 127.f);
        scale_s = __half2float(s);
        scales[(long)slots[tok] * sc_row + head * sc_head] = s;
    }
    __syncthreads();
    long base = (long)slots[tok] * cache_row + head * cache_head;
    for (int i = tid; i < dim; i += NUM_THREADS)
        cache[base + i] = scale_s > 0 ? to_i8(__half2float(p[i]) / scale_s) : 0;
}

extern "C" int quantize_kv(const half *keys, const int *slots, int8_t *cache, half *scales, int tokens, int heads,
                           int dim, long key_tok, long key_head, long cache_row, long cache_head, long sc_row,
                           long sc_head, cudaStream_t st)
{
    if (tokens <= 0 || heads <= 0 || dim <= 0) return 0;
    kv_quant_kernel<<<dim3(heads, tokens), NUM_THREADS, 0, st>>>(keys, slots, cache, scales, heads, dim, key_tok,
                                                                 key_head, cache_row, cache_head, sc_row, sc_head);
    return (int)cudaGetLastError();
}
