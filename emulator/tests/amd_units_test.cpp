// AMD's instructions by the compiler's names: lanes, matrices, bits; and several elements of clang's vectors.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kLanes = R"(
#include <hip/hip_runtime.h>
// The sum of a wave by data-parallel primitives, and what permutations bring.
__global__ void sum(int* out, int n) {
  int v = threadIdx.x;
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x142, 0xa, 0xf, false);
  v += __builtin_amdgcn_update_dpp(0, v, 0x143, 0xc, 0xf, false);
  if (threadIdx.x == 63) out[0] = v;
  const int lane = threadIdx.x;
  int wrong = __builtin_amdgcn_ds_swizzle(lane, 0x041f) != (lane ^ 1);
  wrong |= __builtin_amdgcn_ds_permute((lane + 1 & 63) * 4, lane) != (lane + 63 & 63);
  wrong |= __builtin_amdgcn_mov_dpp(lane, 0x1b, 0xf, 0xf, true) != (lane & ~3) + 3 - (lane & 3);
  wrong |= __builtin_amdgcn_permlanex16(lane, lane, 0x76543210u, 0xfedcba98u, false, false) != (lane ^ 16);
  wrong |= __builtin_amdgcn_writelane(-1, 5, lane) != (lane == 5 ? -1 : lane);
  wrong |= __builtin_amdgcn_perm(0x44332211u, 0x88776655u, 0x0c040001u) != 0x00115566u;
  wrong |= __builtin_amdgcn_sdot4(0x01ff02fe, 0x01010303, 7, false) != 7;
  wrong |= __builtin_amdgcn_alignbit(1u, 2u, 1u) != 0x80000001u || __builtin_amdgcn_ubfe(0xf0u, 4u, 3u) != 7;
  if (lane < n) out[1 + lane] = wrong;
}
int main(int count, char**) {
  int *out, got[65];
  hipMalloc(&out, sizeof got);
  sum<<<1, 64>>>(out, count > 1 ? 65 : 64);
  if (count > 1) sum<<<1, 128>>>(out, 65);
  hipMemcpy(got, out, sizeof got, hipMemcpyDeviceToHost);
  for (int i = 1; i < 65; ++i)
    if (got[i]) return i;
  return got[0] == 2016 ? 0 : 99;
}
)";

TEST(AmdUnits, LanesAndBits) {
  const WrittenSource source(kLanes, "lanes.hip");
  const Module module = Module::build({.sources = {source.path()}, .lanes = 64, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"more"});
  ASSERT_FALSE(faulty.reports.empty());
  bool outside = false;
  for (const Report& report : faulty.reports) outside |= report.kind == Kind::out_of_bounds_write;
  EXPECT_TRUE(outside);
}

// Elements by several names: values, places, halves.
const char* const kSwizzles = R"(
#include <hip/hip_runtime.h>
typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef float floatx8 __attribute__((ext_vector_type(8)));
__global__ void turn(const float* in, float* out, int barrier) {
  __shared__ floatx4 tile[64];
  const int i = threadIdx.x;
  floatx4 w = (*(const floatx4*)(in + 4 * i)).wzyx;  // 3 2 1 0
  w.xy += w.zw;                                      // 4 2 1 0
  w.zw = w.wz;                                       // 4 2 0 1
  w.lo *= 2.0f;                                      // 8 4 0 1
  const floatx4* p = &w;
  tile[i] = p->s3210;                                // 1 0 4 8
  if (barrier) __syncthreads();
  floatx8 wide = {0, 1, 2, 3, 4, 5, 6, 7};
  wide.odd = tile[63 - i];
  *(floatx4*)(out + 4 * i) = wide.hi + wide.s0246;   // 4+0 4+2 6+4 8+6
}
int main(int count, char**) {
  float *in, *out, h[256];
  for (int i = 0; i < 256; ++i) h[i] = i % 4;
  hipMalloc(&in, sizeof h), hipMalloc(&out, sizeof h);
  hipMemcpy(in, h, sizeof h, hipMemcpyHostToDevice);
  turn<<<1, 64>>>(in, out, count == 1);
  hipMemcpy(h, out, sizeof h, hipMemcpyDeviceToHost);
  return h[4] != 4 || h[5] != 6 || h[6] != 10 || h[7] != 14;
}
)";

TEST(AmdUnits, SeveralElementsOfAVector) {
  const WrittenSource source(kSwizzles, "turn.hip");
  const Module module = Module::build({.sources = {source.path()}, .lanes = 64, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"none"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::uninitialised_read);
  EXPECT_EQ(faulty.reports[0].place.line, 16u);
}

const char* const kMfma = R"(
#include <hip/hip_runtime.h>
typedef float floatx4 __attribute__((ext_vector_type(4)));
typedef float floatx16 __attribute__((ext_vector_type(16)));
typedef double doublex4 __attribute__((ext_vector_type(4)));
typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef int intx4 __attribute__((ext_vector_type(4)));
__global__ void halves(const _Float16* a, const _Float16* b, float* c, int stride) {
  const int lane = threadIdx.x;
  half4 x, y;
  for (int i = 0; i < 4; ++i) {
    x[i] = a[(lane % 16) * stride + lane / 16 * 4 + i];
    y[i] = b[(lane / 16 * 4 + i) * 16 + lane % 16];
  }
  floatx4 d = {0};
  d = __builtin_amdgcn_mfma_f32_16x16x16f16(x, y, d, 0, 0, 0);
  for (int i = 0; i < 4; ++i) c[(lane / 16 * 4 + i) * 16 + lane % 16] = d[i];
}
__global__ void singles(float* c) {  // 32 rows of a are the lanes, both columns of b are ones
  floatx16 d = {0};
  d = __builtin_amdgcn_mfma_f32_32x32x2f32((float)(threadIdx.x % 32), 1.0f, d, 0, 0, 0);
  for (int i = 0; i < 16; ++i) c[(8 * (i / 4) + threadIdx.x / 32 * 4 + i % 4) * 32 + threadIdx.x % 32] = d[i];
}
__global__ void doubles(double* c) {
  doublex4 d = {0};
  d = __builtin_amdgcn_mfma_f64_16x16x4f64((double)(threadIdx.x % 16), 1.0, d, 0, 0, 0);
  for (int i = 0; i < 4; ++i) c[(4 * i + threadIdx.x / 16) * 16 + threadIdx.x % 16] = d[i];
}
__global__ void bytes(int* c) {
  intx4 d = {1, 1, 1, 1};
  d = __builtin_amdgcn_mfma_i32_16x16x16i8(0x01ff01ff, 0x02020202, d, 0, 0, 0);
  for (int i = 0; i < 4; ++i) c[threadIdx.x * 4 + i] = d[i];
}
int main(int count, char**) {
  _Float16 ha[256], hb[256], *a, *b;
  float hc[1024], *c;
  double hd[256], *d;
  int hi[256], *w;
  for (int i = 0; i < 256; ++i) ha[i] = i % 7 - 3, hb[i] = i % 5 - 2;
  hipMalloc(&a, sizeof ha), hipMalloc(&b, sizeof hb), hipMalloc(&c, sizeof hc), hipMalloc(&d, sizeof hd);
  hipMalloc(&w, sizeof hi);
  hipMemcpy(a, ha, sizeof ha, hipMemcpyHostToDevice);
  hipMemcpy(b, hb, sizeof hb, hipMemcpyHostToDevice);
  halves<<<1, 64>>>(a, b, c, count > 1 ? 17 : 16);
  hipMemcpy(hc, c, 256 * sizeof(float), hipMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += (float)ha[i * 16 + k] * (float)hb[k * 16 + j];
      if (sum != hc[i * 16 + j]) return 1;
    }
  singles<<<1, 64>>>(c);
  doubles<<<1, 64>>>(d);
  bytes<<<1, 64>>>(w);
  hipMemcpy(hc, c, sizeof hc, hipMemcpyDeviceToHost);
  hipMemcpy(hd, d, sizeof hd, hipMemcpyDeviceToHost);
  hipMemcpy(hi, w, sizeof hi, hipMemcpyDeviceToHost);
  for (int i = 0; i < 32; ++i)
    for (int j = 0; j < 32; ++j)
      if (hc[i * 32 + j] != 2 * i) return 2;
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      if (hd[i * 16 + j] != 4 * i) return 3;
  for (int i = 0; i < 256; ++i)
    if (hi[i] != 1) return 4;
  return 0;
}
)";

TEST(AmdUnits, MatrixInstructionsOfCdna) {
  const WrittenSource source(kMfma, "mfma.hip");
  const Module module = Module::build({.sources = {source.path()}, .lanes = 64, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"wide"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
  EXPECT_EQ(faulty.reports[0].kernel, "halves");
}

const char* const kWmma = R"(
#include <hip/hip_runtime.h>
typedef _Float16 half16 __attribute__((ext_vector_type(16)));
typedef float floatx8 __attribute__((ext_vector_type(8)));
typedef int intx4 __attribute__((ext_vector_type(4)));
typedef int intx8 __attribute__((ext_vector_type(8)));
__global__ void product(const _Float16* a, const _Float16* b, float* c, _Float16* h, int* w, int stride) {
  const int lane = threadIdx.x;
  half16 x, y, sums = 0;
  for (int i = 0; i < 16; ++i) x[i] = a[lane % 16 * 16 + i], y[i] = b[i * 16 + lane % 16];
  floatx8 d = {0};
  d = __builtin_amdgcn_wmma_f32_16x16x16_f16_w32(x, y, d);
  sums = __builtin_amdgcn_wmma_f16_16x16x16_f16_w32(x, y, sums, false);
  intx4 ones = {0x01010101, 0x01010101, 0x01010101, 0x01010101}, minus = {-1, -1, -1, -1};
  intx8 whole = {0};
  whole = __builtin_amdgcn_wmma_i32_16x16x16_iu8_w32(true, minus, false, ones, whole, false);
  for (int i = 0; i < 8; ++i) {
    c[(2 * i + lane / 16) * stride + lane % 16] = d[i];
    const __half through = sums[2 * i];  // HIP's own half takes the compiler's
    h[(2 * i + lane / 16) * 16 + lane % 16] = (_Float16)(float)through;
    w[lane * 8 + i] = whole[i];
  }
}
int main(int count, char**) {
  _Float16 ha[256], hb[256], hh[256], *a, *b, *h;
  float hc[256], *c;
  int hw[256], *w;
  for (int i = 0; i < 256; ++i) ha[i] = i % 7 - 3, hb[i] = i % 5 - 2;
  hipMalloc(&a, sizeof ha), hipMalloc(&b, sizeof hb), hipMalloc(&h, sizeof hh), hipMalloc(&c, sizeof hc);
  hipMalloc(&w, sizeof hw);
  hipMemcpy(a, ha, sizeof ha, hipMemcpyHostToDevice);
  hipMemcpy(b, hb, sizeof hb, hipMemcpyHostToDevice);
  product<<<1, 32>>>(a, b, c, h, w, count > 1 ? 15 : 16);
  hipMemcpy(hc, c, sizeof hc, hipMemcpyDeviceToHost);
  hipMemcpy(hh, h, sizeof hh, hipMemcpyDeviceToHost);
  hipMemcpy(hw, w, sizeof hw, hipMemcpyDeviceToHost);
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) {
      float sum = 0;
      for (int k = 0; k < 16; ++k) sum += (float)ha[i * 16 + k] * (float)hb[k * 16 + j];
      if (sum != hc[i * 16 + j] || sum != (float)hh[i * 16 + j] || hw[i * 16 + j] != -16) return 1;
    }
  return 0;
}
)";

TEST(AmdUnits, MatrixInstructionsOfRdna) {
  const WrittenSource source(kWmma, "wmma.hip");
  const Module module = Module::build({.sources = {source.path()}, .lanes = 32, .watch = true});
  expect_good(module);
  // Rows that overlap: a race of two lanes.
  const RunResult faulty = module.run_main({"narrow"});
  ASSERT_FALSE(faulty.reports.empty());
  // In a wave of 64 this instruction is another one.
  try {
    Module::build({.sources = {source.path()}, .lanes = 64});
    ADD_FAILURE() << "it builds";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("--lanes 32"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
