#include <hip/hip_runtime.h>

#include <cmath>

// mid_out as [batch, head, block, block_seq, head_dim]: a dimension too many.
__global__ void flash_decode_stage2_kernel(const int* B_Seqlen, const float* mid_out,
                                           const float* mid_out_logexpsum, float* Out, int head_num,
                                           int seq_block_num, int head_dim, int block_seq) {
  const int batch = blockIdx.x;
  const int head = blockIdx.y;
  const int dim = threadIdx.x;
  const int blocks = (B_Seqlen[batch] + block_seq - 1) / block_seq;
  float largest = -INFINITY, total = 0.0f, joined = 0.0f;
  for (int block = 0; block < blocks; ++block) {
    const int row = (batch * head_num + head) * seq_block_num + block;
    const float part = mid_out[row * block_seq * head_dim + dim];
    const float lse = mid_out_logexpsum[row];
    const float larger = fmaxf(lse, largest);
    const float shrink = expf(largest - larger), weight = expf(lse - larger);
    joined = joined * shrink + weight * part;
    total = total * shrink + weight;
    largest = larger;
  }
  Out[(batch * head_num + head) * head_dim + dim] = joined / total;
}

extern "C" void flash_decode_stage2(const float* mid_out, const float* mid_out_logexpsum, const int* B_Seqlen,
                                    float* Out, int batch, int head_num, int seq_block_num, int head_dim,
                                    int block_seq) {
  hipLaunchKernelGGL(flash_decode_stage2_kernel, dim3(batch, head_num), dim3(head_dim), 0, 0, B_Seqlen,
                     mid_out, mid_out_logexpsum, Out, head_num, seq_block_num, head_dim, block_seq);
}
