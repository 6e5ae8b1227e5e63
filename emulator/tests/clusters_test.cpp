// Clusters of blocks as people write them: by a kernel's attribute, by cooperative groups and by inline PTX.
#include <gtest/gtest.h>

#include "told.hpp"

namespace isomer::emulator::tests {
namespace {

// The first kernel's size of a cluster is a template's. 'n': nobody waits for the other blocks; 'g': the grid
// is no multiple of it; 'e': a block has ended when another writes into it.
const char* const kProgram = R"(#include <cooperative_groups.h>
#include <cuda_runtime.h>
#include <cstdint>
namespace cg = cooperative_groups;
template <int kBlocks>
__global__ void __cluster_dims__(kBlocks, 1, 1) __launch_bounds__(64) rotate(const int* in, int* out, char how) {
  __shared__ int mine[64];
  auto cluster = cg::this_cluster();
  mine[threadIdx.x] = in[blockIdx.x * 64 + threadIdx.x];
  if (how != 'n') cluster.sync();
  const int* other = cluster.map_shared_rank(mine, (cluster.block_rank() + 1) % cluster.num_blocks());
  out[blockIdx.x * 64 + threadIdx.x] = other[63 - threadIdx.x] + 1000 * cluster.num_blocks() + cluster.thread_rank();
  cluster.sync();
}
__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__global__ void __cluster_dims__(2) gives(int* out, char how) {
  __shared__ alignas(8) uint64_t bar; __shared__ int value;
  uint32_t rank; asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(shared(&bar)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
  const auto wait = [&] {
    asm volatile("{\n.reg .pred p;\nW:\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], 0;\n@p bra D;\nbra W;\nD:\n}" :: "r"(shared(&bar)) : "memory");
  };
  if (how == 'e' && rank == 1) wait();
  if (threadIdx.x == 0) {
    asm volatile("{ .reg .b32 to, at;\n mapa.shared::cluster.u32 to, %0, %2;\n st.shared::cluster.u32 [to], %3;\n mapa.shared::cluster.u32 at, %1, %2;\n mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at];\n }"
                 :: "r"(shared(&value)), "r"(shared(&bar)), "r"(rank ^ 1), "r"(100 + rank) : "memory");
  }
  if (how == 'e' && rank == 0) return;
  wait();
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}
int main(int, char** w) {
  int *in, *out; cudaMallocManaged(&in, 2048); cudaMallocManaged(&out, 2048);
  for (int i = 0; i < 512; ++i) in[i] = i;
  const char how = w[1][0];
  rotate<4><<<how == 'g' ? 6 : 8, 64>>>(in, out, how);
  if (cudaDeviceSynchronize() != cudaSuccess) return 9;
  for (int b = 0; b < 8; ++b) for (int t = 0; t < 64; ++t) {
    const int next = b / 4 * 4 + (b + 1) % 4;
    if (out[b * 64 + t] != next * 64 + 63 - t + 4000 + b % 4 * 64 + t) return 1;
  }
  gives<<<4, 32>>>(out, how);
  cudaDeviceSynchronize();
  for (int b = 0; b < 4; ++b) if (out[b * 32 + 5] != 100 + (b % 2 ^ 1)) return 2;
  return 0;
}
)";

const ProgramWithFaults& program() {
  static const ProgramWithFaults all(kProgram, "clusters.cu");
  return all;
}

TEST(Clusters, ReadAndWriteOneAnothersSharedMemory) {
  const RunResult r = program().run("all");
  EXPECT_EQ(r.exit_status, 0) << r.failure << r.output;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
}

TEST(Clusters, ThatDoNotWaitForOneAnotherAreSeen) {
  program().expect_told("n", Kind::out_of_bounds_write, "of another block, outside of what that has");
  program().expect_told("e", Kind::out_of_bounds_write,
                        "reaches into block 0 of its cluster, which has ended");
}

TEST(Clusters, ThatDoNotDivideTheGridAreRefused) {
  const RunResult r = program().run("g");
  EXPECT_EQ(r.exit_status, 9);
  ASSERT_FALSE(r.refusals.empty());
  EXPECT_NE(r.refusals[0].text.find("launched with clusters of 4 blocks along x and grid (6,1,1)"),
            std::string::npos)
      << r.refusals[0].text;
}

}  // namespace
}  // namespace isomer::emulator::tests
