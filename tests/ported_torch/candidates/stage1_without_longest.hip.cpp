// op: flash_decode_stage1
// finds: argument-count
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>
__global__ void stage1(const __half* Q, const __half* K, const __half* V, const int* Req, const int* idx,
                       const int* lens, float* mid, float* lse, int64_t qb, int64_t qh, int64_t kb,
                       int64_t kh, int64_t vb, int64_t vh, int64_t rb, int64_t mb, int64_t mh, int64_t mn,
                       int64_t lb, int64_t lh, int Hq, int Hkv, int D, int block_seq) {
  extern __shared__ float sm[];
  const int b = blockIdx.x, h = blockIdx.y, j = blockIdx.z, t = threadIdx.x;
  const int len = lens[b], s0 = j * block_seq, s1 = min(len, s0 + block_seq), n = s1 - s0;
  if (n <= 0) return;
  const int g = h / (Hq / Hkv);
  for (int i = t; i < n; i += blockDim.x) {
    float a = 0.f;
    for (int d = 0; d < D; ++d)
      a +=
          __half2float(Q[b * qb + h * qh + d]) * __half2float(K[Req[idx[b] * rb + s0 + i] * kb + g * kh + d]);
    sm[i] = a * rsqrtf((float)D);
  }
  __syncthreads();
  float m = -INFINITY, l = 0.f;
  for (int i = 0; i < n; ++i) m = fmaxf(m, sm[i]);
  for (int i = 0; i < n; ++i) l += expf(sm[i] - m);
  for (int d = t; d < D; d += blockDim.x) {
    float acc = 0.f;
    for (int i = 0; i < n; ++i)
      acc += expf(sm[i] - m) * __half2float(V[Req[idx[b] * rb + s0 + i] * vb + g * vh + d]);
    mid[b * mb + h * mh + j * mn + d] = acc / l;
  }
  if (t == 0) lse[b * lb + h * lh + j] = m + logf(l);
}
void flash_decode_stage1(at::Tensor q, at::Tensor k, at::Tensor v, at::Tensor Req_to_tokens,
                         at::Tensor B_req_idx, at::Tensor B_Seqlen, at::Tensor mid_out,
                         at::Tensor mid_out_logsumexp, int64_t block_seq) {
  const int B = q.size(0), Hq = q.size(1), D = q.size(2), Hkv = k.size(1), nb = mid_out.size(2);
  if (B == 0) return;
  stage1<<<dim3(B, Hq, nb), 64, block_seq * 4>>>(
      (const __half*)q.data_ptr<at::Half>(), (const __half*)k.data_ptr<at::Half>(),
      (const __half*)v.data_ptr<at::Half>(), Req_to_tokens.data_ptr<int>(), B_req_idx.data_ptr<int>(),
      B_Seqlen.data_ptr<int>(), mid_out.data_ptr<float>(), mid_out_logsumexp.data_ptr<float>(), q.stride(0),
      q.stride(1), k.stride(0), k.stride(1), v.stride(0), v.stride(1), Req_to_tokens.stride(0),
      mid_out.stride(0), mid_out.stride(1), mid_out.stride(2), mid_out_logsumexp.stride(0),
      mid_out_logsumexp.stride(1), Hq, Hkv, D, (int)block_seq);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("flash_decode_stage1", &flash_decode_stage1); }
