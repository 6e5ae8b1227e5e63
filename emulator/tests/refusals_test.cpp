// What the device would refuse, and what the emulator cannot run, each in one sentence that says what and
// where.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

// Sources that do not build: the sentence has to hold all of `words`.
struct BadSource {
  const char* what;
  const char* text;
  std::vector<const char*> words;
  const char* file = "kernel.cu";
};
void PrintTo(const BadSource& s, std::ostream* out) { *out << s.what; }

class SourceThatCannotBuild : public testing::TestWithParam<BadSource> {};

TEST_P(SourceThatCannotBuild, IsRefusedInOneSentenceWithItsLine) {
  const BadSource& bad = GetParam();
  const WrittenSource source(bad.text, bad.file);
  try {
    Module::build({.sources = {source.path()}});
    FAIL() << "it was built";
  } catch (const Error& e) {
    const std::string said = e.what();
    for (const char* word : bad.words) EXPECT_NE(said.find(word), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, SourceThatCannotBuild,
    testing::Values(
        BadSource{"syntax", "__global__ void k(int* p) {\n  p[0] = 1\n}\n", {"kernel.cu:2", "expected"}},
        BadSource{"unknown_name",
                  "__global__ void k(int* p) {\n\n  p[0] = nonsense;\n}\n",
                  {"kernel.cu:3", "nonsense"}},
        BadSource{"missing_header",
                  "#include \"not_there.cuh\"\n__global__ void k() {}\n",
                  {"kernel.cu:1", "not_there.cuh"}},
        BadSource{"missing_symbol",
                  "__device__ int f(int);\n__global__ void k(int* p) {\n  p[0] = f(1);\n}\n",
                  {"f(int)", "nowhere defined"}},
        BadSource{"ptx",
                  "__global__ void k(int* p) {\n  int l;\n  asm volatile(\"mov.u32 %0, %%pm0;\" : "
                  "\"=r\"(l));\n  p[0] = l;\n}\n",
                  {"kernel.cu:3", "PTX", "mov.u32"}},
        BadSource{"ptx_in_macro",
                  "#define WAIT() asm volatile(\"tcgen05.wait::ld.sync.aligned;\")\n__global__ void k() {\n  "
                  "WAIT();\n}\n",
                  {"kernel.cu:3", "PTX", "tcgen05.wait::ld.sync.aligned"}},
        BadSource{
            "surface_reference",
            "surface<void, 2> out;\n__global__ void k() { surf2Dwrite(1.f, out, 4 * threadIdx.x, 0); }\n",
            {"kernel.cu:1", "surface references", "cudaCreateSurfaceObject"}},
        BadSource{"gcn",
                  "#include <hip/hip_runtime.h>\n__global__ void k() {\n  asm volatile(\"v_mov_b32 "
                  "v0, v1\");\n}\n",
                  {"kernel.hip.cpp:3", "GCN", "v_mov_b32"},
                  "kernel.hip.cpp"},
        BadSource{"machine_intrinsic",
                  "#include <hip/hip_runtime.h>\n__global__ void k(float* p) {\n  p[0] = "
                  "__builtin_amdgcn_groupstaticsize();\n}\n",
                  {"kernel.hip.cpp:3", "__builtin_amdgcn_groupstaticsize"},
                  "kernel.hip.cpp"},
        BadSource{"host_function",
                  "int helper(int x) { return x; }\n__global__ void k(int* p) {\n  p[0] = helper(1);\n}\n",
                  {"kernel.cu:3", "kernel k", "helper", "host function"}},
        BadSource{
            "host_library",
            "#include <vector>\n__global__ void k(int* p) {\n  std::vector<int> v(3);\n  p[0] = v[0];\n}\n",
            {"kernel.cu:3", "std::vector", "host code"}},
        BadSource{"shared_initialiser",
                  "__global__ void k(int* p) {\n  __shared__ int s = 3;\n  p[0] = s;\n}\n",
                  {"kernel.cu:2", "s has an initialiser"}},
        BadSource{
            "open_launch", "__global__ void k() {}\nvoid f() {\n  k<<<1, 2>>;\n}\n", {"kernel.cu:3", "<<<"}}),
    [](const auto& info) { return std::string(info.param.what); });

TEST(BadBuild, NamesAMissingFile) {
  try {
    Module::build({.sources = {"/nowhere/kernel.cu"}});
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "/nowhere/kernel.cu: no such source file");
  }
}

TEST(BadBuild, RefusesALaneCountOtherThan32And64) {
  const WrittenSource source("__global__ void k() {}\n");
  EXPECT_THROW(Module::build({.sources = {source.path()}, .lanes = 16}), Error);
  EXPECT_THROW(Module::build({.sources = {}}), Error);
}

TEST(BadBuild, NamesACompilerThatIsNotThere) {
  const WrittenSource source("__global__ void k() {}\n");
  setenv("PATH_BEFORE", getenv("PATH"), 1);
  setenv("PATH", "/nowhere", 1);
  try {
    Module::build({.sources = {source.path()}});
    ADD_FAILURE();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("no C++ compiler"), std::string::npos);
  }
  setenv("PATH", getenv("PATH_BEFORE"), 1);
}

// Launches that the device refuses.
const char* const kLaunchable = R"(
__global__ void fill(int* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = 1; }
__global__ void __launch_bounds__(128) small_block(int* p) { p[threadIdx.x] = 1; }
template <int N> __global__ void __launch_bounds__(N) bound_by_argument(int* p) { p[threadIdx.x] = N; }
__global__ void big_shared(int* p) { __shared__ char s[1 << 30]; s[threadIdx.x] = 1; p[0] = s[0]; }
__global__ void waits_for_grid(int* p) { p[0] = 1; }
)";

class Refused : public testing::Test {
 protected:
  static RunResult launch(const char* kernel, Geometry g) {
    static const WrittenSource source(kLaunchable);
    static const Module module =
        Module::build({.sources = {source.path()}, .instantiate = {"bound_by_argument<64>"}});
    std::vector<int> out(4096);
    return module.launch(kernel, g, {Argument::output("out", out)});
  }
  static void expect(const RunResult& r, int error, const char* words) {
    EXPECT_EQ(r.error, error);
    ASSERT_EQ(r.refusals.size(), 1u);
    EXPECT_NE(r.refusals[0].text.find(words), std::string::npos) << r.refusals[0].text;
  }
};

TEST_F(Refused, ZeroBlocks) {
  expect(launch("fill", {{0, 1, 1}, {32, 1, 1}}), 9,
         "fill: launched with grid (0,1,1), expected at least one block");
}
TEST_F(Refused, ZeroThreads) {
  expect(launch("fill", {{1, 1, 1}, {32, 0, 1}}), 9, "expected at least one thread");
}
TEST_F(Refused, TooManyThreads) { expect(launch("fill", {{1, 1, 1}, {1025, 1, 1}}), 9, "at most"); }
TEST_F(Refused, TooManyThreadsInAllDimensions) {
  expect(launch("fill", {{1, 1, 1}, {64, 32, 1}}), 9, "2048 threads a block");
}
TEST_F(Refused, ADepthBeyondTheDevice) {
  expect(launch("fill", {{1, 1, 1}, {1, 1, 65}}), 9, "(1024,1024,64)");
}
TEST_F(Refused, AGridBeyondTheDevice) { expect(launch("fill", {{1, 65536, 1}, {1, 1, 1}}), 9, "65535"); }
TEST_F(Refused, TooMuchSharedMemory) {
  expect(launch("fill", {{1, 1, 1}, {32, 1, 1}, 300 * 1024}), 1, "the device has 232448");
}
TEST_F(Refused, AGigabyteOfSharedMemory) {
  expect(launch("big_shared", {{1, 1, 1}, {32, 1, 1}}), 701, "1073741824 bytes of shared memory");
}
TEST_F(Refused, MoreThreadsThanTheLaunchBounds) {
  expect(launch("small_block", {{1, 1, 1}, {256, 1, 1}}), 1, "launch bounds allow 128");
}
TEST_F(Refused, LaunchBoundsOfATemplate) {
  expect(launch("bound_by_argument<64>", {{1, 1, 1}, {65, 1, 1}}), 1, "launch bounds allow 64");
}
TEST_F(Refused, ACooperativeGridThatDoesNotFit) {
  expect(launch("waits_for_grid", {{1000, 1, 1}, {1024, 1, 1}, 0, true}), 720, "at most 32 at once");
}

TEST_F(Refused, AnUnknownKernelOrWrongArguments) {
  EXPECT_EQ(launch("no_such", {}).failure, "the module has no kernel no_such");
  EXPECT_NE(launch("bound_by_argument", {}).failure.find("is a template"), std::string::npos);
  const WrittenSource source("__global__ void k(int* p, double d) { p[0] = (int)d; }\n");
  const Module module = Module::build({.sources = {source.path()}});
  std::vector<int> out(1);
  EXPECT_EQ(module.launch("k", {}, {Argument::output("out", out)}).failure, "k takes 2 arguments, got 1");
  EXPECT_EQ(module.launch("k", {}, {Argument::output("out", out), Argument::value(1)}).failure,
            "k: argument 1 has 4 bytes, expected 8");
  EXPECT_TRUE(module.launch("k", {}, {Argument::output("out", out), Argument::value(7.0)}).ok());
  EXPECT_EQ(out[0], 7);
}

// Host code that asks for what the runtime refuses.
TEST(HostCalls, WrongCallsGiveTheRuntimesErrorsAndSentences) {
  const WrittenSource source(R"(
#include <cuda_runtime.h>
__device__ int known; int unknown_variable;
__global__ void big(float* p) { extern __shared__ float s[]; s[threadIdx.x] = 1; p[threadIdx.x] = s[threadIdx.x]; }
extern "C" int run(int* codes) {
  int host = 0, n = 0; void *p = nullptr, *q = nullptr;
  codes[n++] = cudaMalloc(&p, 1ull << 50);
  codes[n++] = cudaMalloc(&p, 64);
  codes[n++] = cudaMemcpy(p, &host, 65, cudaMemcpyHostToDevice);
  codes[n++] = cudaMemcpy(&host, p, 4, cudaMemcpyHostToDevice);
  codes[n++] = cudaMemcpy(&host, &host, 4, cudaMemcpyDeviceToHost);
  codes[n++] = cudaMemset(&host, 0, 4);
  codes[n++] = cudaFree(&host);
  codes[n++] = cudaFree(p);
  codes[n++] = cudaFree(p);
  codes[n++] = cudaMemcpyToSymbol(known, &host, 4);
  codes[n++] = cudaMemcpyToSymbol(unknown_variable, &host, 4);
  codes[n++] = cudaSetDevice(3);
  cudaStream_t s; cudaStreamCreate(&s); codes[n++] = cudaStreamDestroy(s); codes[n++] = cudaStreamSynchronize(s);
  cudaGetLastError();
  cudaMalloc(&q, 4096);
  big<<<1, 32, 100 * 1024>>>((float*)q); codes[n++] = cudaGetLastError();
  codes[n++] = cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024);
  big<<<1, 32, 100 * 1024>>>((float*)q); codes[n++] = cudaGetLastError();
  codes[n++] = cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20);
  return n;
}
)");
  const Module module = Module::build({.sources = {source.path()}});
  std::vector<int> codes(32, -1);
  const RunResult r = module.call("run", {Argument::in_out("codes", codes)});
  EXPECT_EQ(r.failure, "");
  const std::vector<int> expected = {2, 0, 1, 1, 1, 1, 1, 0, 1, 0, 13, 101, 0, 400, 1, 0, 0, 1};
  EXPECT_EQ(std::vector<int>(codes.begin(), codes.begin() + static_cast<long>(expected.size())), expected);
  EXPECT_GE(r.refusals.size(), 8u);
}

}  // namespace
}  // namespace isomer::emulator::tests
