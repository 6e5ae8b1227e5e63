// What the runtimes offer besides buffers and launches: surfaces, volumes, kinds of pointers, launches by a
// structure, copies into shared memory by functions, and arithmetic of a word's parts. Each program holds
// without a word, and has one fault with it.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kSurfaces = R"(
#include <surface_functions.h>
#include <cuda_runtime.h>
__global__ void brighter(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int columns) {
  const int x = threadIdx.x, y = blockIdx.x;
  float v;
  surf2Dread(&v, from, x * sizeof(float), y - 1, cudaBoundaryModeClamp);
  v += surf2Dread<float>(from, x * sizeof(float), y + 1, cudaBoundaryModeZero);
  if (x < columns) surf2Dwrite(v, to, x * sizeof(float), y);
}
int main(int argc, char**) {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t in, out;
  cudaMallocArray(&in, &format, 8, 4, cudaArraySurfaceLoadStore);
  cudaMallocArray(&out, &format, 8, 4, cudaArraySurfaceLoadStore);
  float image[32];
  for (int i = 0; i < 32; ++i) image[i] = i;
  cudaMemcpy2DToArray(in, 0, 0, image, 32, 32, 4, cudaMemcpyHostToDevice);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  cudaSurfaceObject_t from, to;
  resource.res.array.array = in;
  if (cudaCreateSurfaceObject(&from, &resource)) return 1;
  resource.res.array.array = out;
  if (cudaCreateSurfaceObject(&to, &resource)) return 2;
  brighter<<<4, argc > 1 ? 9 : 8>>>(to, from, 16);
  cudaMemcpyFromArray(image, out, 0, 0, sizeof image, cudaMemcpyDeviceToHost);
  cudaDestroySurfaceObject(from);
  return image[3] != 3 + 11 || image[8 + 3] != 3 + 19 || image[24 + 3] != 19;
}
)";

const char* const kVolumes = R"(
#include <cuda_runtime.h>
__global__ void add(cudaPitchedPtr p, cudaExtent e, int rows) {
  char* slice = (char*)p.ptr + blockIdx.x * p.pitch * rows;
  for (size_t y = 0; y < e.height; ++y) ((float*)(slice + y * p.pitch))[threadIdx.x] += 1;
}
int main(int argc, char**) {
  const cudaExtent extent = make_cudaExtent(5 * sizeof(float), 3, 2);
  cudaPitchedPtr p;
  if (cudaMalloc3D(&p, extent) || p.pitch < 20 || p.ysize != 3) return 1;
  cudaMemset3D(p, 0, extent);
  float volume[30], back[30];
  for (int i = 0; i < 30; ++i) volume[i] = i;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(volume, 5 * sizeof(float), 5, 3);
  copy.dstPtr = p;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  if (cudaMemcpy3DAsync(&copy)) return 2;
  add<<<2, 5>>>(p, extent, argc > 1 ? 6 : 3);  // a slice has three rows
  copy.srcPtr = p;
  copy.dstPtr = make_cudaPitchedPtr(back, 5 * sizeof(float), 5, 3);
  copy.kind = cudaMemcpyDeviceToHost;
  if (cudaMemcpy3D(&copy)) return 3;
  for (int i = 0; i < 30; ++i)
    if (back[i] != i + 1) return 4;
  cudaPointerAttributes is;
  void *managed, *pinned, *own = malloc(16);
  cudaMallocManaged(&managed, 16), cudaMallocHost(&pinned, 16);
  if (cudaPointerGetAttributes(&is, p.ptr) || is.type != cudaMemoryTypeDevice || is.devicePointer != p.ptr) return 5;
  if (cudaPointerGetAttributes(&is, managed) || is.type != cudaMemoryTypeManaged) return 6;
  if (cudaPointerGetAttributes(&is, pinned) || is.type != cudaMemoryTypeHost || is.hostPointer != pinned) return 7;
  if (cudaPointerGetAttributes(&is, own) || is.type != cudaMemoryTypeUnregistered) return 8;
  cudaHostRegister(own, 16, cudaHostRegisterDefault);
  if (cudaPointerGetAttributes(&is, own) || is.type != cudaMemoryTypeHost) return 9;
  return cudaErrorInvalidHostPointer == 16 && cudaErrorApiFailureBase == 10000 ? 0 : 10;
}
)";

const char* const kStructures = R"(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <helper_image.h>
namespace cg = cooperative_groups;
__global__ void tiles(int* out, bool with_room) {
  __shared__ cg::block_tile_memory<128> room;
  const auto block = with_room ? cg::this_thread_block(room) : cg::this_thread_block();
  const auto tile = cg::tiled_partition<64>(block);
  out[threadIdx.x] = cg::reduce(tile, int(threadIdx.x), cg::plus<int>()) + 10000 * tile.meta_group_rank() +
                     100000 * tile.any(threadIdx.x == 70) + 200000 * tile.shfl_down(int(threadIdx.x), 63);
}
__global__ void both(float* sums, const float* in, bool waits) {
  __shared__ float tile[64];
  __pipeline_memcpy_async(&tile[threadIdx.x], in + blockIdx.x * 64 + threadIdx.x, sizeof(float));
  __pipeline_commit();
  if (waits) __pipeline_wait_prior(0);
  __syncthreads();
  if (threadIdx.x == 0)
    for (int i = 0; i < 64; ++i) sums[blockIdx.x] += tile[i];
  cooperative_groups::this_grid().sync();
  if (threadIdx.x == 0 && blockIdx.x == 0) sums[0] += sums[1];
}
__global__ void parts(unsigned* out, unsigned a, unsigned b) {
  unsigned differ;
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(differ) : "r"(a), "r"(b), "r"(5u));
  const unsigned all[] = {__vadd4(a, b),   __vaddus4(a, b),  __vsubss2(a, b), __vabsdiffu4(a, b), __vsadu4(a, b),
                          __vcmpgtu4(a, b), __vsetgts4(a, b), __vmaxs2(a, b),  __vavgu4(a, b),     __vneg2(b),
                          __uhadd(a, ~0u),  (unsigned)__viaddmax_s32(-5, 2, -4), differ};
  for (int i = 0; i < 13; ++i) out[i] = all[i];
}
int main(int argc, char**) {
  float *sums, *in;
  cudaMallocManaged(&sums, 8), cudaMallocManaged(&in, 512);
  for (int i = 0; i < 128; ++i) in[i] = i;
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t how = {};
  how.gridDim = 2, how.blockDim = 64, how.attrs = &attribute, how.numAttrs = 1;
  if (cudaLaunchKernelEx(&how, both, sums, in, argc == 1) || cudaDeviceSynchronize()) return 1;
  if (argc == 1 && sums[0] != 127 * 64) return 2;
  int* tiled;
  cudaMallocManaged(&tiled, 512);
  tiles<<<1, 128>>>(tiled, argc != 3);
  if (cudaDeviceSynchronize()) return 3;
  for (int i = 0; i < 128; ++i)
    if (tiled[i] != (i < 64 ? 2016 : 6112 + 10000 + 100000) + 200000 * (i % 64 == 0 ? i + 63 : i)) return 4;
  unsigned* out;
  cudaMallocManaged(&out, MAX(52, MIN(48, 50)));
  parts<<<dim3(1), {1, 1, 1}, 0, 0>>>(out, 0xff80017fu, 0x01ff0280u);
  cudaDeviceSynchronize();
  const unsigned want[] = {0x007f03ffu, 0xffff03ffu, 0xfd81feffu, 0xfe7f0101u, 0x17fu,
                           0xff000000u, 0x00000001u, 0x01ff0280u, 0x80c00280u, 0xfe01fd80u,
                           0xffc000bfu, (unsigned)-3, 0x184u};
  for (int i = 0; i < 13; ++i)
    if (out[i] != want[i]) return 10 + i;
  int blocks = 0, threads = 0;
  cudaOccupancyMaxPotentialBlockSizeVariableSMem(&blocks, &threads, parts, [](int n) { return size_t(n) * 96; });
  return threads < 32 || threads * 96 > 49152 ? 30 : 0;
}
)";

const char* const kOfHip = R"(
#include <hip/hip_runtime.h>
#include <hipblas/hipblas.h>
#include <hiprand/hiprand_kernel.h>
template <int Times> __global__ void repeated(unsigned* out, const uint2 by) { *out = Times * by.x + by.y; }
bool is_named(const std::string& name) { return !name.empty(); }  // HIP's headers bring it
template <int Scope>
__global__ void hands_over(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    data[threadIdx.x] = threadIdx.x + 1;
    __syncthreads();
    if (threadIdx.x == 0) __hip_atomic_store(flag, 1, __ATOMIC_RELEASE, Scope);
  } else {
    if (threadIdx.x == 0)
      while (__hip_atomic_load(flag, __ATOMIC_ACQUIRE, Scope) == 0) {}
    __syncthreads();
    __hip_atomic_fetch_add(out, data[threadIdx.x], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
}
__global__ void lanes(unsigned* out, float* drawn) {
  const unsigned lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u));
  out[threadIdx.x] = lane + (__builtin_amdgcn_readlane(int(lane), 3) << 8);
  unsigned word = lane, turned;
  asm volatile("v_lshlrev_b32_e32 %0, 4, %1\n v_xor_b32 %0, %0, 5 ; a comment" : "=v"(turned) : "v"(word));
  float half = lane, sum;
  asm("v_fma_f32 %0, %1, %1, %2" : "=v"(sum) : "v"(half), "v"(1.0f));
  if (turned != (lane * 16 ^ 5) || sum != half * half + 1) out[threadIdx.x] = 0;
  hiprandState state;
  hiprand_init(7, threadIdx.x, 0, &state);
  drawn[threadIdx.x] = hiprand_uniform(&state);
}
int main(int argc, char**) {
  hipDevice_t device;
  char name[64];
  if (hipInit(0) || hipDeviceGet(&device, 0) || hipDeviceGetName(name, 64, device) || !is_named(name)) return 1;
  hipDeviceProp_t p;
  if (hipGetDeviceProperties(&p, device) || !p.arch.hasDoubles) return 2;
  int *data, *flag, *out;
  hipExtMallocWithFlags(&data, 256, hipDeviceMallocFinegrained);
  hipMalloc(&flag, 4), hipMalloc(&out, 4);
  hipMemset(flag, 0, 4), hipMemset(out, 0, 4);
  if (argc > 1) hands_over<__HIP_MEMORY_SCOPE_WORKGROUP><<<2, 64>>>(data, flag, out);
  else hands_over<__HIP_MEMORY_SCOPE_AGENT><<<2, 64>>>(data, flag, out);
  int sum = 0;
  hipMemcpyWithStream(&sum, out, 4, hipMemcpyDeviceToHost, 0);
  if (sum != 65 * 32) return 3;
  unsigned* n;
  float* drawn;
  hipMallocManaged(&n, 256), hipMallocManaged(&drawn, 256);
  lanes<<<1, 64>>>(n, drawn);
  hipDeviceSynchronize();
  for (unsigned i = 0; i < 64; ++i)
    if (n[i] != i % p.warpSize + 768 || !(drawn[i] > 0 && drawn[i] <= 1)) return 4;
  repeated<3><<<1, 1>>>(n, {7, 2});
  hipDeviceSynchronize();
  if (n[0] != 23 || HIPRAND_RNG_QUASI_SOBOL32 == HIPRAND_RNG_PSEUDO_DEFAULT) return 9;
  if (argc > 1) {
    hipModule_t module;
    void* const packed[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, n, HIP_LAUNCH_PARAM_END};
    if (hipModuleLoad(&module, "k.co") != hipErrorNotSupported || packed[0] == packed[2]) return 10;
  }
  hipPointerAttribute_t is;
  if (hipPointerGetAttributes(&is, n) || is.type != hipMemoryTypeManaged) return 5;
  hipblasHandle_t h;
  const float two = 2;
  if (hipblasCreate(&h) || hipblasSetStream(h, 0) || hipblasSscal(h, 64, &two, drawn, 1)) return 6;
  int pictures = 0;
  const std::array<hipDataType, 2> types = {HIP_R_32F, HIP_R_16BF};
  if (hipDeviceGetAttribute(&pictures, hipDeviceAttributeImageSupport, 0) || pictures != 1 || types[0] != HIP_R_32F) return 8;
  return hipErrorNotInitialized == hipErrorInitializationError ? 0 : 7;
}
)";

RunResult run(const char* text, const char* file, std::vector<std::string> words) {
  const WrittenSource source(text, file);
  return Module::build({.sources = {source.path()}, .watch = true}).run_main(words);
}
void holds(const RunResult& r) {
  EXPECT_TRUE(r.ok()) << r.failure;
  EXPECT_EQ(r.exit_status, 0);
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
}

TEST(RuntimeForms, ASurfaceTrapsBeyondItsArrayUnlessItIsAskedForSomethingElse) {
  holds(run(kSurfaces, "surfaces.cu", {}));
  const RunResult faulty = run(kSurfaces, "surfaces.cu", {"faulty"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::trap);
}

TEST(RuntimeForms, VolumesAndKindsOfPointers) {
  holds(run(kVolumes, "volumes.cu", {}));
  const RunResult faulty = run(kVolumes, "volumes.cu", {"faulty"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_read);
}

TEST(RuntimeForms, AtomicsOfHipHaveAScope) {
  holds(run(kOfHip, "of_hip.hip", {}));
  const RunResult faulty = run(kOfHip, "of_hip.hip", {"faulty"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::race);
}

TEST(RuntimeForms, LaunchesByAStructureCopiesByFunctionsAndPartsOfAWord) {
  holds(run(kStructures, "structures.cu", {}));
  const RunResult faulty = run(kStructures, "structures.cu", {"faulty"});
  ASSERT_FALSE(faulty.reports.empty());
  EXPECT_EQ(faulty.reports[0].kind, Kind::in_flight);
  const RunResult without_room = run(kStructures, "structures.cu", {"without", "room"});
  ASSERT_FALSE(without_room.reports.empty());
  EXPECT_EQ(without_room.reports.back().kind, Kind::trap);
  EXPECT_NE(without_room.reports.back().text.find("without block_tile_memory"), std::string::npos);
}

// The interop header of a toolkit that is installed would bring the toolkit's own types with it.
const char* const kWithOpenGl = R"(
#include <cuda_gl_interop.h>
#include <cuda_runtime.h>
int main(int count, char**) {
  float4 *device, one = {1, 2, 3, 4};
  if (count > 1) {
    cudaGraphicsResource* shared;
    if (cudaGraphicsGLRegisterBuffer(&shared, 1, cudaGraphicsMapFlagsWriteDiscard) == cudaSuccess) return 1;
  }
  return cudaMalloc(&device, sizeof one) || cudaMemcpy(device, &one, sizeof one, cudaMemcpyHostToDevice) || cudaFree(device);
}
)";

TEST(RuntimeForms, ABufferOfOpenGlIsRefusedWithASentenceAndAProgramWithoutOneRuns) {
  const WrittenSource source(kWithOpenGl, "drawing.cpp");
  const Module module = Module::build({.sources = {source.path()}});
  EXPECT_TRUE(module.run_main().ok());
  const RunResult faulty = module.run_main({"draws"});
  EXPECT_EQ(faulty.exit_status, 0);
  ASSERT_EQ(faulty.refusals.size(), 1u);
  EXPECT_EQ(faulty.refusals[0].text, "OpenGL: the emulated device shares no buffer and no picture with it");
}

// A source is HIP's by a library's header alone or by a header beside it; a literal 0 is a pointer where the
// kernel, here a template, takes one.
const char* const kOfLibraries = R"(
#include <cstdio>
#include <hipcub/hipcub.hpp>
template <class T> __global__ void fill(T by, T* to, const int* none) { to[threadIdx.x] = by + (none == nullptr); }
int main(int count, char**) {
  int *p, got[32];
  if (hipMalloc(&p, count > 1 ? 64 : 128) != hipSuccess) return 1;
  hipLaunchKernelGGL(HIP_KERNEL_NAME(fill<int>), dim3(1), dim3(32), 0, 0, 2, p, 0);
  if (count == 1) fill<int><<<1, 32>>>(0, p, 0);
  return hipMemcpy(got, p, count > 1 ? 64 : 128, hipMemcpyDeviceToHost) != hipSuccess || got[15] != (count > 1 ? 3 : 1);
}
)";

TEST(RuntimeForms, ASourceIsHipByItsLibrariesAndZeroIsAPointerForATemplate) {
  const WrittenSource source(kOfLibraries, "libraries.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  EXPECT_TRUE(module.run_main().ok()) << module.run_main().failure;
  const RunResult faulty = module.run_main({"short"});
  ASSERT_EQ(faulty.reports.size(), 1u);
  EXPECT_EQ(faulty.reports[0].kind, Kind::out_of_bounds_write);
  std::ofstream(source.directory() / "beside.h") << "#include <hip/hip_runtime.h>\n";
  std::ofstream(source.directory() / "user.cu")
      << "#include \"beside.h\"\nint main() { return hipDeviceSynchronize(); }\n";
  EXPECT_TRUE(Module::build({.sources = {source.directory() / "user.cu"}}).run_main().ok());
}

const char* const kHalves = R"(
__global__ void k(unsigned* p) {
  const unsigned a = 0xffff0003u, b = 0x0001fffeu, c = 0x8000u;  // (-1, 3), (1, -2) and (0, -32768)
  bool high, low;
  p[0] = __viaddmax_s16x2(a, b, c), p[1] = __viaddmin_u16x2(a, b, 0x00050005u), p[2] = __vimax3_s16x2_relu(a, 0, c);
  p[3] = __vibmin_s16x2(a, b, &high, &low), p[4] = high * 2 + low, p[5] = __vimin3_u16x2(a, b, 0x00070007u);
}
int main(int count, char**) {
  unsigned *p, got[6] = {};
  cudaMalloc(&p, count > 1 ? 20 : 24);
  k<<<1, 1>>>(p);
  if (count > 1) return 0;
  cudaMemcpy(got, p, 24, cudaMemcpyDeviceToHost);
  // -1 + 1 and 3 - 2; 0 and 1; 0 and 3; -1 and -2, of which the first is the first's
  return got[0] != 0x00000001u || got[1] != 0x00000001u || got[2] != 0x00000003u || got[3] != 0xfffffffeu || got[4] != 2 || got[5] != 0x00010003u;
}
)";

TEST(RuntimeForms, LargestAndSmallestOfBothHalvesOfAWord) {
  const WrittenSource source(kHalves, "halves.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  EXPECT_EQ(module.run_main().exit_status, 0);
  EXPECT_TRUE(module.run_main().ok());
  EXPECT_EQ(module.run_main({"short"}).reports.size(), 1u);
}

}  // namespace
}  // namespace isomer::emulator::tests
