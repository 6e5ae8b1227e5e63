// Inline PTX of a warpgroup's products and of tensors' boxes, as people write it for Hopper, with the host's side of a
// tensor map: the same rules hold as for the words of the project's own kernels.
#include <gtest/gtest.h>

#include "isomer/emulator/error.hpp"
#include "isomer/emulator/module.hpp"
#include "told.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kProgram = R"(#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_bf16.h>
#include <cuda/barrier>
#include <cuda/ptx>
#include <cstdint>
#include <cstdio>
#include <utility>
using bf16 = __nv_bfloat16;
__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* b, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(count)); }
__device__ void expect(uint64_t* b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory");
}
__device__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile("{\n.reg .pred P1;\nLAB_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n@P1 bra DONE;\nbra LAB_WAIT;\nDONE:\n}"
               ::"r"(shared(b)), "r"(parity) : "memory");
}
__device__ void fetch(void* to, const CUtensorMap* map, int column, int row, uint64_t* b) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];"
               ::"r"(shared(to)), "l"(map), "r"(shared(b)), "r"(column), "r"(row) : "memory");
}
// Rows of 128 bytes, swizzled.
__device__ uint64_t matrix(const void* p) { return (shared(p) & 0x3ffff) >> 4 | uint64_t{64} << 32 | uint64_t{1} << 62; }
__device__ void multiply(float (&d)[4][8], uint64_t a, uint64_t b, int adds) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, p, %35, 1, 0, 0;\n}"
      : "+f"(d[0][0]), "+f"(d[0][1]), "+f"(d[0][2]), "+f"(d[0][3]), "+f"(d[0][4]), "+f"(d[0][5]), "+f"(d[0][6]), "+f"(d[0][7]),
        "+f"(d[1][0]), "+f"(d[1][1]), "+f"(d[1][2]), "+f"(d[1][3]), "+f"(d[1][4]), "+f"(d[1][5]), "+f"(d[1][6]), "+f"(d[1][7]),
        "+f"(d[2][0]), "+f"(d[2][1]), "+f"(d[2][2]), "+f"(d[2][3]), "+f"(d[2][4]), "+f"(d[2][5]), "+f"(d[2][6]), "+f"(d[2][7]),
        "+f"(d[3][0]), "+f"(d[3][1]), "+f"(d[3][2]), "+f"(d[3][3]), "+f"(d[3][4]), "+f"(d[3][5]), "+f"(d[3][6]), "+f"(d[3][7])
      : "l"(a), "l"(b), "r"(adds), "n"(1));
}
// c = a·bᵀ of 64×64 and 128 of k, in two blocks through one stage.
__global__ void product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                        const __grid_constant__ CUtensorMap c, char how) {
  __shared__ alignas(1024) bf16 ta[64 * 64], tb[64 * 64];
  __shared__ alignas(8) uint64_t full;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float d[4][8];
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(&a) : "memory");
    init(&full, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  for (int k = 0; k < 2; ++k) {
    if (threadIdx.x == 0) {
      expect(&full, sizeof ta + sizeof tb);
      fetch(ta, &a, 64 * k, 0, &full);
      fetch(tb, &b, 64 * k, 0, &full);
    }
    wait(&full, k);
    if (how != 'f') asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int j = 0; j < 4; ++j) multiply(d, matrix(ta) + 2 * j, how == 'z' ? (matrix(tb) ^ uint64_t{3} << 62) + 2 * j : matrix(tb) + 2 * j, k + j);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (how == 'c' && warp == 2) asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    if (how != 'w') asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(0) : "memory");
    if (how != 'o') __syncthreads();
  }
  for (int j = 0; j < 8; j += 2) {
    uint32_t words[4];
    for (int i = 0; i < 4; ++i) {
      const float* pair = &d[0][0] + 4 * j + 2 * i;
      const __nv_bfloat162 both = __floats2bfloat162_rn(pair[0], pair[1]);
      words[i] = *reinterpret_cast<const uint32_t*>(&both);
    }
    const bf16* at = ta + (16 * warp + lane / 8 % 2 * 8 + lane % 8) * 64 + 8 * (j + lane / 16);
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};"
                 ::"r"(shared(at)), "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]) : "memory");
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];"
                 ::"l"(&c), "r"(shared(ta)), "r"(0), "r"(0) : "memory");
    asm volatile("cp.async.bulk.commit_group;");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}
// -a·bᵀ of 64×8 and 32 bytes of k, a in registers; b's two halves of k lie one behind the other.
__global__ void bytes(float* out, char how) {
  __shared__ alignas(128) unsigned char b[2][8][16];
  const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  for (int i = threadIdx.x; i < 256; i += 128) b[i / 128][i / 16 % 8][i % 16] = i / 16 % 2 ? 0x38 : 0x40;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  uint32_t a[4];
  for (int i = 0; i < 4; ++i) a[i] = (row + i % 2 * 8) % 3 ? 0x38383838u : 0x40404040u;
  float d[4] = {1, 1, 1, 1};
  const uint64_t of = (shared(b) & 0x3ffff) >> 4 | uint64_t{8} << 16 | uint64_t{8} << 32;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  if (how == 's')
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%3, %2, %1, %0}, {%4, %5, %6, %7}, %8, 1, 1, -1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of));
  else
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e4m3 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, -1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(of));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int i = 0; i < 4; ++i) out[(row + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}
// The same of libcu++: a tile there and back, twice its values.
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
__global__ void doubled(const CUtensorMap* from, const CUtensorMap* to) {
  __shared__ alignas(128) bf16 tile[64 * 64];
  __shared__ barrier bar;
  if (threadIdx.x == 0) {
    init(&bar, blockDim.x);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(tile, from, 0, 0, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof tile);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) tile[i] = __float2bfloat16(2 * __bfloat162float(tile[i]));
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_shared_to_global(to, 0, 0, tile);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}
// By names of single instructions, the tile behind the one in front: how 'p' leaves the fence out.
namespace ptx = cuda::ptx;
__global__ void tripled(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, char how) {
  __shared__ alignas(128) bf16 tile[64 * 64];
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&full, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full, sizeof tile);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, tile, &from, {64, 0}, &full);
  }
  while (!ptx::mbarrier_try_wait_parity(&full, 0)) {}
  for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) tile[i] = __float2bfloat16(3 * __bfloat162float(tile[i]));
  if (how != 'p') ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk_tensor(ptx::space_global, ptx::space_shared, &to, {0, 0}, tile);
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}
int value(int row, int k) { return (row * 7 + k * 5) % 4 - 1; }
PFN_cuTensorMapEncodeTiled encode;
CUtensorMap map_of(bf16* data, uint64_t columns, CUtensorMapSwizzle swizzle, uint64_t stride) {
  CUtensorMap map{};
  const uint64_t sizes[] = {columns, 64}, strides[] = {stride};
  const uint32_t box[] = {64, 64}, steps[] = {1, 1};
  const CUresult r = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                            swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r != CUDA_SUCCESS) std::exit(40 + r);
  return map;
}
int main(int, char** words) {
  const char how = words[1][0];
  cudaDriverEntryPointQueryResult found;
  if (cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", (void**)&encode, cudaEnableDefault, &found) != cudaSuccess ||
      found != cudaDriverEntryPointSuccess) return 10;
  void* none;
  if (cudaGetDriverEntryPoint("cuNothing", &none, cudaEnableDefault, &found) == cudaSuccess || none != nullptr) return 11;
  cudaGetLastError();
  bf16 *a, *b, *c; float* out;
  cudaMallocManaged(&a, 64 * 128 * 2); cudaMallocManaged(&b, 64 * 128 * 2); cudaMallocManaged(&c, 64 * 64 * 2); cudaMallocManaged(&out, 64 * 8 * 4);
  for (int r = 0; r < 64; ++r) for (int k = 0; k < 128; ++k) a[r * 128 + k] = __float2bfloat16(value(r, k)), b[r * 128 + k] = __float2bfloat16(value(r + 3, k * k));
  if (how == 'u') map_of(a, 128, CU_TENSOR_MAP_SWIZZLE_128B, 250);
  product<<<1, 128>>>(map_of(a, 128, CU_TENSOR_MAP_SWIZZLE_128B, 256), map_of(b, 128, CU_TENSOR_MAP_SWIZZLE_128B, 256),
                      map_of(c, 64, CU_TENSOR_MAP_SWIZZLE_NONE, 128), how);
  cudaDeviceSynchronize();
  for (int m = 0; m < 64; ++m) for (int n = 0; n < 64; ++n) {
    int sum = 0;
    for (int k = 0; k < 128; ++k) sum += value(m, k) * value(n + 3, k * k);
    if (__bfloat162float(c[m * 64 + n]) != sum) return std::printf("%d %d: %d %g\n", m, n, sum, __bfloat162float(c[m * 64 + n])), 1;
  }
  bytes<<<1, 128>>>(out, how);
  cudaDeviceSynchronize();
  for (int m = 0; m < 64; ++m) for (int n = 0; n < 8; ++n) if (out[m * 8 + n] != 1 - 32 * (m % 3 ? 1 : 2) * (n % 2 ? 1 : 2)) return 2;
  CUtensorMap* maps;
  cudaMalloc(&maps, 2 * sizeof *maps);
  const CUtensorMap both[] = {map_of(a, 128, CU_TENSOR_MAP_SWIZZLE_NONE, 256), map_of(c, 64, CU_TENSOR_MAP_SWIZZLE_NONE, 128)};
  cudaMemcpy(maps, both, sizeof both, cudaMemcpyHostToDevice);
  doubled<<<1, 128>>>(maps, maps + 1);
  cudaDeviceSynchronize();
  for (int m = 0; m < 64; ++m) for (int n = 0; n < 64; ++n) if (__bfloat162float(c[m * 64 + n]) != 2 * value(m, n)) return 3;
  tripled<<<1, 128>>>(both[0], both[1], how);
  cudaDeviceSynchronize();
  for (int m = 0; m < 64; ++m) for (int n = 0; n < 64; ++n) if (__bfloat162float(c[m * 64 + n]) != 3 * value(m, 64 + n)) return 4;
  return 0;
}
)";

const ProgramWithFaults& program() {
  static const ProgramWithFaults all(kProgram, "warpgroup.cu");
  return all;
}
RunResult run(const char* how) { return program().run(how); }
void expect_told(const char* how, Kind kind, const char* words) { program().expect_told(how, kind, words); }

TEST(WarpgroupPtx, Holds) {
  const RunResult r = run("all");
  EXPECT_EQ(r.exit_status, 0) << r.failure << r.output;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
}

TEST(WarpgroupPtx, IsSeenWhereProductsAreNotFencedOrNotWaitedFor) {
  expect_told("f", Kind::missing_fence, "no fence behind its last wait");
  expect_told("w", Kind::in_flight, "reads an accumulator of the product");
  expect_told("o", Kind::early_reuse, "may still read: nothing orders this behind the wait of each of its warps");
}

TEST(WarpgroupPtx, IsSeenWhereItsWarpsAreOutOfStepOrReadAnotherSwizzle) {
  expect_told("c", Kind::warpgroup_divergence, "all 128 have to call the same in the same order");
  expect_told("z", Kind::wrong_swizzle, "128-byte swizzle");
  expect_told("p", Kind::missing_proxy_fence, "copies from shared memory");
}

TEST(WarpgroupPtx, OfAccumulatorsInNoOrderIsRefusedWhereItRuns) {
  expect_told("s", Kind::copy_misuse, "accumulators do not lie one behind the other");
}

TEST(WarpgroupPtx, TensorMapsThatTheHardwareWouldNotTakeAreRefused) {
  const RunResult r = run("u");
  EXPECT_EQ(r.exit_status, 41);
  ASSERT_FALSE(r.refusals.empty());
  EXPECT_NE(r.refusals[0].text.find(
                "cuTensorMapEncodeTiled: dimension 1 has a stride of 250 bytes, expected a multiple of 16"),
            std::string::npos)
      << r.refusals[0].text;
}

}  // namespace
}  // namespace isomer::emulator::tests
