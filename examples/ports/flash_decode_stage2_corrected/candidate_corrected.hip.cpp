#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/hip/HIPContext.h>
#include <hip/hip_runtime.h>
#include <torch/extension.h>

#include <cmath>

namespace {

struct Strides {
  int64_t batch, head, block, dim;
};

template <typename Mid, typename Lse, typename Result, typename Length>
__global__ void join_kernel(const Length* B_Seqlen, int64_t stride_length, const Mid* mid_out, const Lse* lse,
                            Result* out, Strides mid, Strides sums, Strides outs, int64_t available,
                            int head_dim, int64_t block_seq) {
  const int64_t batch = blockIdx.x, head = blockIdx.y;
  int64_t blocks = (static_cast<int64_t>(B_Seqlen[batch * stride_length]) + block_seq - 1) / block_seq;
  blocks = blocks > available ? available : blocks;
  for (int dim = threadIdx.x; dim < head_dim; dim += blockDim.x) {
    float largest = -INFINITY, total = 0.0f, joined = 0.0f;
    for (int64_t block = 0; block < blocks; ++block) {
      const float t = static_cast<float>(lse[batch * sums.batch + head * sums.head + block * sums.block]);
      if (t == -INFINITY) continue;
      const float part = static_cast<float>(
          mid_out[batch * mid.batch + head * mid.head + block * mid.block + dim * mid.dim]);
      const float larger = fmaxf(t, largest);
      const float shrink = expf(largest - larger), weight = expf(t - larger);
      joined = joined * shrink + weight * part;
      total = total * shrink + weight;
      largest = larger;
    }
    out[batch * outs.batch + head * outs.head + dim * outs.dim] =
        static_cast<Result>(total == 0.0f ? 0.0f : joined / total);
  }
}

}  // namespace

void flash_decode_stage2(torch::Tensor mid_out, torch::Tensor mid_out_logexpsum, torch::Tensor B_Seqlen,
                         torch::Tensor Out, int64_t block_seq) {
  TORCH_CHECK(mid_out.dim() == 4, "mid_out must be [batch, heads, blocks, head_dim], got rank ",
              mid_out.dim());
  TORCH_CHECK(mid_out_logexpsum.dim() == 3 && Out.dim() == 3, "mid_out_logexpsum and Out must have rank 3");
  if (Out.numel() == 0) return;
  const auto& m = mid_out;
  const auto& s = mid_out_logexpsum;
  const Strides mid{m.stride(0), m.stride(1), m.stride(2), m.stride(3)};
  const Strides sums{s.stride(0), s.stride(1), s.stride(2), 0};
  const Strides outs{Out.stride(0), Out.stride(1), 0, Out.stride(2)};
  TORCH_CHECK(m.scalar_type() == at::kFloat && s.scalar_type() == at::kFloat,
              "the first stage leaves float32");
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, Out.scalar_type(), "Out", [&] {
    AT_DISPATCH_INDEX_TYPES(B_Seqlen.scalar_type(), "B_Seqlen", [&] {
      hipLaunchKernelGGL((join_kernel<float, float, scalar_t, index_t>), dim3(m.size(0), m.size(1)), dim3(64),
                         0, at::hip::getCurrentHIPStream(), B_Seqlen.data_ptr<index_t>(), B_Seqlen.stride(0),
                         m.data_ptr<float>(), s.data_ptr<float>(), Out.data_ptr<scalar_t>(), mid, sums, outs,
                         m.size(2), static_cast<int>(m.size(3)), block_seq);
    });
  });
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("flash_decode_stage2", &flash_decode_stage2, "Joins the blocks of flash decoding");
}
