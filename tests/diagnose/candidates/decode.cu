// One query, as kernels that decode have it: its head is all there is of q.
#include <cuda_runtime.h>
#include <math.h>

template <bool kScaled>
__global__ void attend_query(const float* q, const float* k, const float* v, float* o, int keys, int dim) {
  const float scale = kScaled ? rsqrtf((float)dim) : 1.0f;
  float most = -INFINITY;
  for (int j = 0; j < keys; ++j) {
    float s = 0;
    for (int d = 0; d < dim; ++d) s += q[d] * k[j * dim + d];
    most = fmaxf(most, s * scale);
  }
  for (int d = threadIdx.x; d < dim; d += 32) {
    float part = 0, sum = 0;
    for (int j = 0; j < keys; ++j) {
      float s = 0;
      for (int e = 0; e < dim; ++e) s += q[e] * k[j * dim + e];
      const float p = expf(s * scale - most);
      sum += p;
      part += p * v[j * dim + d];
    }
    o[d] = part / sum;
  }
}
extern "C" void decode_one_query(const float* Q, const float* K, const float* V, float* output, int num_keys,
                                 int head_dim) {
  attend_query<true><<<1, 32>>>(Q, K, V, output, num_keys, head_dim);
}
extern "C" void decode_one_query_unscaled(const float* Q, const float* K, const float* V, float* output, int num_keys,
                                          int head_dim) {
  attend_query<false><<<1, 32>>>(Q, K, V, output, num_keys, head_dim);
}
