// op: flash_decode
// finds: nothing
// Both stages in one call, with memory of the caller's for the results of blocks.
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

template <class T>
__global__ void blocks_of(const T* q, const T* k, const T* v, const int* table, const int* request,
                          const int* lens, float* mid, float* lse, int group, int dim, int width, float scale,
                          int64_t tb, int64_t qb, int64_t qh, int64_t kb, int64_t kh, int64_t vb, int64_t vh,
                          int64_t mb, int64_t mh, int64_t ms, int64_t lb, int64_t lh) {
  extern __shared__ float score[];
  const int b = blockIdx.x, h = blockIdx.y, j = blockIdx.z, g = h / group;
  const int count = min(lens[b] - j * width, width);
  if (count <= 0) return;
  const int* slots = table + request[b] * tb + j * width;
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    float dot = 0.f;
    for (int d = 0; d < dim; ++d) dot += float(q[b * qb + h * qh + d]) * float(k[slots[i] * kb + g * kh + d]);
    score[i] = dot * scale;
  }
  __syncthreads();
  float top = -INFINITY, sum = 0.f;
  for (int i = 0; i < count; ++i) top = fmaxf(top, score[i]);
  for (int i = 0; i < count; ++i) sum += expf(score[i] - top);
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float acc = 0.f;
    for (int i = 0; i < count; ++i) acc += expf(score[i] - top) * float(v[slots[i] * vb + g * vh + d]);
    mid[b * mb + h * mh + j * ms + d] = acc / sum;
  }
  if (threadIdx.x == 0) lse[b * lb + h * lh + j] = top + logf(sum);
}

template <class T>
__global__ void joined(const float* mid, const float* lse, const int* lens, T* out, int dim, int width,
                       int64_t mb, int64_t mh, int64_t ms, int64_t lb, int64_t lh, int64_t ob, int64_t oh) {
  const int b = blockIdx.x, h = blockIdx.y, count = (lens[b] + width - 1) / width;
  for (int d = threadIdx.x; d < dim; d += blockDim.x) {
    float top = -INFINITY, sum = 0.f, acc = 0.f;
    for (int j = 0; j < count; ++j) {
      const float t = lse[b * lb + h * lh + j], next = fmaxf(top, t);
      acc = acc * expf(top - next) + expf(t - next) * mid[b * mb + h * mh + j * ms + d];
      sum = sum * expf(top - next) + expf(t - next);
      top = next;
    }
    out[b * ob + h * oh + d] = T(acc / sum);
  }
}

void flash_decode(at::Tensor q, at::Tensor k, at::Tensor v, at::Tensor Req_to_tokens, at::Tensor B_req_idx,
                  at::Tensor B_Seqlen, int64_t max_len_in_batch, at::Tensor mid_out,
                  at::Tensor mid_out_logexpsum, at::Tensor Out, int64_t block_seq) {
  const int64_t blocks = (max_len_in_batch + block_seq - 1) / block_seq;
  if (q.numel() == 0) return;
  const float scale = 1.f / sqrtf(float(q.size(2)));
  const auto stream = at::hip::getCurrentHIPStream();
  const auto &m = mid_out, &l = mid_out_logexpsum;
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, q.scalar_type(), "flash_decode", [&] {
    if (blocks > 0)
      blocks_of<scalar_t><<<dim3(q.size(0), q.size(1), blocks), 64, block_seq * sizeof(float), stream>>>(
          q.data_ptr<scalar_t>(), k.data_ptr<scalar_t>(), v.data_ptr<scalar_t>(),
          Req_to_tokens.data_ptr<int>(), B_req_idx.data_ptr<int>(), B_Seqlen.data_ptr<int>(),
          m.data_ptr<float>(), l.data_ptr<float>(), q.size(1) / k.size(1), q.size(2), block_seq, scale,
          Req_to_tokens.stride(0), q.stride(0), q.stride(1), k.stride(0), k.stride(1), v.stride(0),
          v.stride(1), m.stride(0), m.stride(1), m.stride(2), l.stride(0), l.stride(1));
    joined<scalar_t><<<dim3(q.size(0), q.size(1)), 64, 0, stream>>>(
        m.data_ptr<float>(), l.data_ptr<float>(), B_Seqlen.data_ptr<int>(), Out.data_ptr<scalar_t>(),
        q.size(2), block_seq, m.stride(0), m.stride(1), m.stride(2), l.stride(0), l.stride(1), Out.stride(0),
        Out.stride(1));
  });
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("flash_decode", &flash_decode); }
