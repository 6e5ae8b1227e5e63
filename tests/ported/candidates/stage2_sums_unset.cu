// op: flash_decode_stage2
// finds: uninitialised-read
#include <cuda_runtime.h>
extern "C" __global__ void reduce_splits(const float* part, const float* lse, const int* lens, float* out, int heads, int nb, int dim, int block_seq) {
  extern __shared__ float acc[];       // dim accumulators
  const int b = blockIdx.y, h = blockIdx.x;
  const int n = lens[b] > 0 ? (lens[b] + block_seq - 1) / block_seq : 0;
  const float* p = part + ((size_t)b * heads + h) * nb * dim;
  const float* l = lse + ((size_t)b * heads + h) * nb;
  float m = -__int_as_float(0x7f800000), z = 0.f;
  for (int j = 0; j < n; ++j) m = fmaxf(m, l[j]);
  for (int j = 0; j < n; ++j) z += m > -1e38f ? expf(l[j] - m) : 0.f;
  for (int j = 0; j < n; ++j)
    for (int d = threadIdx.x; d < dim; d += blockDim.x) acc[d] += m > -1e38f ? expf(l[j] - m) * p[(size_t)j * dim + d] : 0.f;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) out[((size_t)b * heads + h) * dim + d] = z > 0.f ? acc[d] / z : 0.f;
}
void flash_decode_stage2(const float* part, const float* lse, const int* lens, float* out, int batch, int heads, int nb, int dim, int block_seq) {
  if (batch && heads) reduce_splits<<<dim3(heads, batch), 32, dim * sizeof(float)>>>(part, lse, lens, out, heads, nb, dim, block_seq);
}
