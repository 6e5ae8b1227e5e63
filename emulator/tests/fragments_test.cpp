// nvcuda::wmma: products of matrices that are spread over a warp, and what the watch sees of them.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kProgram = R"(#include <mma.h>
using namespace nvcuda;
template <class LA, class LB>
__global__ void gemm(const half* a, const half* b, const float* c, float* d, int n, float alpha) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, LA> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, LB> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, old;
  wmma::fill_fragment(sum, 0.0f);
  const int row = threadIdx.y * 16, column = blockIdx.x * 16;
  const bool ra = std::is_same_v<LA, wmma::row_major>, rb = std::is_same_v<LB, wmma::row_major>;
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(fa, ra ? a + row * n + k : a + k * n + row, n);
    wmma::load_matrix_sync(fb, rb ? b + k * n + column : b + column * n + k, n);
    wmma::mma_sync(sum, fa, fb, sum);
  }
  wmma::load_matrix_sync(old, c + row * n + column, n, wmma::mem_row_major);
  for (int i = 0; i < sum.num_elements; ++i) sum.x[i] = alpha * sum.x[i] + old.x[i];
  wmma::store_matrix_sync(d + row * n + column, sum, n, wmma::mem_row_major);
}
// By way of shared memory, by two warps.
__global__ void staged(const half* a, float* d, bool waits, int rows) {
  __shared__ half tile[256];
  for (int i = threadIdx.x; i < 256; i += 64) tile[i] = a[i];
  if (waits) __syncthreads();
  if (threadIdx.x >= 32) return;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::load_matrix_sync(fa, tile, 16);
  wmma::load_matrix_sync(fb, tile, 16);
  wmma::fill_fragment(sum, 0.0f);
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(d, sum, rows, wmma::mem_row_major);
}
__global__ void integers(const signed char* a, int* d) {
  wmma::fragment<wmma::matrix_a, 8, 32, 16, signed char, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 8, 32, 16, signed char, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 8, 32, 16, int> sum;
  wmma::fill_fragment(sum, 1);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, a, 16);
  wmma::mma_sync(sum, fa, fb, sum);
  wmma::store_matrix_sync(d, sum, 8, wmma::mem_col_major);
}
int main(int, char** words) {
  const int n = 64;
  half *a, *b; float *c, *d; signed char* s; int* t;
  cudaMallocManaged(&a, n * n * 2); cudaMallocManaged(&b, n * n * 2); cudaMallocManaged(&c, n * n * 4); cudaMallocManaged(&d, n * n * 4);
  cudaMallocManaged(&s, 512); cudaMallocManaged(&t, 1024);
  for (int i = 0; i < n * n; ++i) a[i] = __float2half(i * 7 % 11 - 5), b[i] = __float2half(i * 5 % 13 - 6), c[i] = i % 3;
  for (int i = 0; i < 512; ++i) s[i] = i * 5 % 17 - 8;
  for (int way = 0; way < 2; ++way) {
    if (way == 0) gemm<wmma::row_major, wmma::col_major><<<n / 16, dim3(32, n / 16)>>>(a, b, c, d, n, 2);
    else gemm<wmma::col_major, wmma::row_major><<<n / 16, dim3(32, n / 16)>>>(a, b, c, d, n, 2);
    cudaDeviceSynchronize();
    for (int r = 0; r < n; ++r) for (int q = 0; q < n; ++q) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += float(way == 0 ? a[r * n + k] : a[k * n + r]) * float(way == 0 ? b[q * n + k] : b[k * n + q]);
      if (d[r * n + q] != 2 * sum + c[r * n + q]) return 1 + way;
    }
  }
  integers<<<1, 32>>>(s, t);
  cudaDeviceSynchronize();
  for (int r = 0; r < 8; ++r) for (int q = 0; q < 32; ++q) {
    int sum = 1;
    for (int k = 0; k < 16; ++k) sum += s[r * 16 + k] * s[q * 16 + k];
    if (t[q * 8 + r] != sum) return 3;
  }
  float* exact;
  cudaMalloc(&exact, 1024);
  staged<<<1, 64>>>(a, exact, words[1][0] != 'r', words[1][0] == 'b' ? 17 : 16);
  cudaDeviceSynchronize();
  return 0;
}
)";

class Fragments : public testing::Test {
 protected:
  static RunResult run(const char* how) {
    static const WrittenSource source(kProgram, "fragments.cu");
    static const Module module = Module::build({.sources = {source.path()}, .watch = true});
    return module.run_main({how});
  }
};

TEST_F(Fragments, MultiplyInEveryLayout) {
  const RunResult r = run("all");
  EXPECT_EQ(r.exit_status, 0) << r.failure;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
}

TEST_F(Fragments, ReadWhatAnotherWarpWritesWithNoBarrierBetween) {
  const RunResult r = run("race");
  ASSERT_FALSE(r.reports.empty());
  for (const Report& report : r.reports)
    EXPECT_TRUE(report.kind == Kind::race || report.kind == Kind::uninitialised_read) << report.text;
  EXPECT_EQ(r.reports.back().buffer, "tile");
}

TEST_F(Fragments, AreStoredInsideOfTheirBufferOnly) {
  const RunResult r = run("bounds");
  ASSERT_EQ(r.reports.size(), 1u);
  EXPECT_EQ(r.reports[0].kind, Kind::out_of_bounds_write);
  EXPECT_GE(r.reports[0].offset, 1024);
}

// Products of one instruction over bytes, numbers of eight bits and short rows of bfloat16.
const char* const kSmallProducts = R"(
#include <cstdint>
#include <cuda_fp8.h>
#include <cuda_bf16.h>
__global__ void k(const int8_t* a, const int8_t* b, int* d, const unsigned char* fa, const unsigned char* fb, float* e, const __nv_bfloat16* ba, const __nv_bfloat16* bb, float* g) {
  int l = threadIdx.x, r = l / 4, c = l % 4;
  unsigned ra[4], rb[2]; int s[4] = {0};
  for (int i = 0; i < 2; ++i) ra[i] = *(const unsigned*)(a + (r + 8 * i) * 16 + 4 * c);
  rb[0] = *(const unsigned*)(b + r * 16 + 4 * c);
  asm volatile("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32{%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" : "+r"(s[0]), "+r"(s[1]), "+r"(s[2]), "+r"(s[3]) : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
  int q[2] = {0};
  asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(q[0]), "+r"(q[1]) : "r"(ra[0]), "r"(rb[0]));
  if (q[0] != s[0] || q[1] != s[1]) __trap();  // the upper eight rows
  d[r * 8 + 2 * c] = s[0]; d[r * 8 + 2 * c + 1] = s[1]; d[(r + 8) * 8 + 2 * c] = s[2]; d[(r + 8) * 8 + 2 * c + 1] = s[3];
  float f[4] = {0};
  for (int i = 0; i < 4; ++i) ra[i] = *(const unsigned*)(fa + (r + 8 * (i & 1)) * 32 + 4 * c + 16 * (i / 2));
  for (int i = 0; i < 2; ++i) rb[i] = *(const unsigned*)(fb + r * 32 + 4 * c + 16 * i);
  asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};" : "+f"(f[0]), "+f"(f[1]), "+f"(f[2]), "+f"(f[3]) : "r"(ra[0]), "r"(ra[1]), "r"(ra[2]), "r"(ra[3]), "r"(rb[0]), "r"(rb[1]));
  e[r * 8 + 2 * c] = f[0]; e[r * 8 + 2 * c + 1] = f[1]; e[(r + 8) * 8 + 2 * c] = f[2]; e[(r + 8) * 8 + 2 * c + 1] = f[3];
  float h[4] = {0};
  for (int i = 0; i < 2; ++i) ra[i] = *(const unsigned*)(ba + (r + 8 * i) * 8 + 2 * c);
  rb[0] = *(const unsigned*)(bb + r * 8 + 2 * c);
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32{%0,%1,%2,%3},{%4,%5},{%6},{%0,%1,%2,%3};" : "+f"(h[0]), "+f"(h[1]), "+f"(h[2]), "+f"(h[3]) : "r"(ra[0]), "r"(ra[1]), "r"(rb[0]));
  g[r * 8 + 2 * c] = h[0]; g[r * 8 + 2 * c + 1] = h[1]; g[(r + 8) * 8 + 2 * c] = h[2]; g[(r + 8) * 8 + 2 * c + 1] = h[3];
}
template <class T> T* up(const T* h, int n) { T* p; cudaMalloc(&p, n * sizeof(T)); cudaMemcpy(p, h, n * sizeof(T), cudaMemcpyHostToDevice); return p; }
int main(int count, char**) {
  int8_t a[256], b[128]; __nv_fp8_e4m3 fa[512]; __nv_fp8_e5m2 fb[256]; __nv_bfloat16 ba[128], bb[64];
  for (int i = 0; i < 256; ++i) a[i] = i * 7 % 23 - 11; for (int i = 0; i < 128; ++i) b[i] = i * 5 % 17 - 8;
  for (int i = 0; i < 512; ++i) fa[i] = __nv_fp8_e4m3(float(i * 7 % 9 - 4)); for (int i = 0; i < 256; ++i) fb[i] = __nv_fp8_e5m2(float(i * 5 % 7 - 3));
  for (int i = 0; i < 128; ++i) ba[i] = float(i * 3 % 11 - 5); for (int i = 0; i < 64; ++i) bb[i] = float(i % 7 - 3);
  int* d; float *e, *g; cudaMalloc(&d, 512); cudaMalloc(&e, 512); cudaMalloc(&g, 512);
  k<<<1, 32>>>(up(a, 256), up(b, count > 1 ? 124 : 128), d, (unsigned char*)up(fa, 512), (unsigned char*)up(fb, 256), e, up(ba, 128), up(bb, 64), g);
  int hd[128]; float he[128], hg[128]; cudaMemcpy(hd, d, 512, cudaMemcpyDeviceToHost); cudaMemcpy(he, e, 512, cudaMemcpyDeviceToHost); cudaMemcpy(hg, g, 512, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 8; ++j) {
    int s = 0; float f = 0, h = 0; for (int k = 0; k < 16; ++k) s += a[i * 16 + k] * b[j * 16 + k]; for (int k = 0; k < 32; ++k) f += float(fa[i * 32 + k]) * float(fb[j * 32 + k]); for (int k = 0; k < 8; ++k) h += float(ba[i * 8 + k]) * float(bb[j * 8 + k]);
    if (s != hd[i * 8 + j] || f != he[i * 8 + j] || h != hg[i * 8 + j]) return 1; }
  return 0;
}
)";

TEST(SmallFragments, ProductsOfBytesAndOfNumbersOfEightBits) {
  const WrittenSource source(kSmallProducts, "products.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_EQ(good.exit_status, 0) << good.failure;
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"short"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  EXPECT_EQ(faulty.reports[0].bytes, 4u);
}

}  // namespace
}  // namespace isomer::emulator::tests
