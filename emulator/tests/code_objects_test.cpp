// Programs that compile sources while they run, or load what a build makes of a source beside them.
#include <gtest/gtest.h>

#include <fstream>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kOfCuda = R"(
#include <cuda.h>
#include <nvrtc.h>
#include <cstring>
#include <string>
#include <vector>
static const char* const kSource =
    "#include \"step.h\"\n"
    "namespace lib {\n"
    "__constant__ float factor = 2;\n"
    "__device__ int first;\n"
    "template <class T, int Step> __global__ void scale(const T* x, T* y, int n) {\n"
    "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i] = factor * x[i] + Step;\n"
    "  if (i == 0) first = FIRST;\n"
    "}\n"
    "}\n"
    "extern \"C\" __global__ void offset(char c, double* y, unsigned n) {\n"
    "  if (threadIdx.x LESS n) y[threadIdx.x] += c + STEP;\n"
    "}\n";
#define MUST(call) do { if (call) return __LINE__; } while (0)
int main(int argc, char**) {
  nvrtcProgram program;
  const char *text = "#define STEP 0.5\n", *name = "step.h", *lowered;
  MUST(nvrtcCreateProgram(&program, kSource, "scale.cu", 1, &text, &name));
  MUST(nvrtcAddNameExpression(program, "&lib::scale<float, 3>"));
  const char* options[] = {"--gpu-architecture=compute_90", argc > 1 ? "-DLESS=<=" : "-DLESS=<", "--define-macro=FIRST=7"};
  if (nvrtcGetLoweredName(program, "&lib::scale<float, 3>", &lowered) == NVRTC_SUCCESS) return 1;
  MUST(nvrtcCompileProgram(program, 3, options));
  size_t bytes;
  MUST(nvrtcGetProgramLogSize(program, &bytes));
  if (bytes != 1) return 2;
  MUST(nvrtcGetLoweredName(program, "&lib::scale<float, 3>", &lowered));
  MUST(nvrtcGetPTXSize(program, &bytes));
  std::vector<char> ptx(bytes);
  MUST(nvrtcGetPTX(program, ptx.data()));
  CUdevice device;
  CUcontext context;
  CUmodule module, again;
  CUfunction scale, offset;
  MUST(cuInit(0));
  MUST(cuDeviceGet(&device, 0));
  MUST(cuCtxCreate(&context, 0, device));
  MUST(cuModuleLoadDataEx(&module, ptx.data(), 0, 0, 0));
  MUST(cuModuleLoadData(&again, ptx.data()));
  MUST(cuModuleGetFunction(&scale, module, lowered));
  MUST(cuModuleGetFunction(&offset, module, "offset"));
  MUST(nvrtcDestroyProgram(&program));
  int n = 100, threads = 0, first = 0;
  MUST(cuFuncGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, scale));
  if (cuFuncGetAttribute(&threads, static_cast<CUfunction_attribute>(10), scale) != CUDA_ERROR_INVALID_VALUE) return 99;
  if (threads != 1024) return 3;
  CUdeviceptr x, y, z, factor, variable;
  std::vector<float> h(n, 1.5f);
  std::vector<double> d(n, 1);
  MUST(cuMemAlloc(&x, 400));
  MUST(cuMemAlloc(&y, 400));
  MUST(cuMemAlloc(&z, 800));
  MUST(cuMemcpyHtoD(x, h.data(), 400));
  MUST(cuMemcpyHtoD(z, d.data(), 800));
  MUST(cuModuleGetGlobal(&factor, &bytes, module, "_ZN3lib6factorE"));
  const float four = 4;
  if (bytes != 4) return 4;
  MUST(cuMemcpyHtoD(factor, &four, 4));
  void* arguments[] = {&x, &y, &n};
  MUST(cuLaunchKernel(scale, 1, 1, 1, 128, 1, 1, 0, 0, arguments, 0));
  struct { char c; double* p; unsigned n; } packed = {1, (double*)z, 100};
  size_t size = sizeof packed;
  void* list[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
  MUST(cuLaunchKernel(offset, 1, 1, 1, 128, 1, 1, 0, 0, 0, list));
  MUST(cuCtxSynchronize());
  MUST(cuMemcpyDtoH(h.data(), y, 400));
  MUST(cuMemcpyDtoH(d.data(), z, 800));
  MUST(cuModuleGetGlobal(&variable, 0, module, "first"));
  MUST(cuMemcpyDtoH(&first, variable, 4));
  if (h[99] != 9 || d[99] != 2.5 || first != 7) return 5;
  // The other module of the same code has variables of its own.
  float other = 0;
  MUST(cuModuleGetGlobal(&variable, 0, again, "lib::factor"));
  MUST(cuMemcpyDtoH(&other, variable, 4));
  if (other != 2 || variable == factor) return 6;
  MUST(cuModuleUnload(again));
  MUST(cuModuleUnload(module));
  return 0;
}
)";

TEST(CodeObjects, WhatNvrtcCompilesIsLoadedLaunchedAndWatched) {
  const WrittenSource source(kOfCuda, "compiles.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one more"});
  ASSERT_EQ(faulty.reports.size(), 2u) << faulty.failure << faulty.output;
  for (const Report& report : faulty.reports) {
    EXPECT_EQ(report.kernel, "offset");
    EXPECT_NE(report.place.file.find("/scale.cu"), std::string::npos) << report.place.file;
    EXPECT_EQ(report.place.line, 12u);
    EXPECT_EQ(report.offset, 800);
  }
}

const char* const kOfTheLinker = R"(
#include <cuda.h>
#include <nvrtc.h>
#include <cstring>
#include <vector>
static const char* const kPtx = ".version 8.0\n.target sm_90a, debug\n.address_size 64\n.visible .entry k() { ret; }\n";
int main(int argc, char**) {
  cuInit(0);
  CUlinkState state;
  CUmodule module;
  CUfunction kernel;
  if (cuLinkCreate(0, nullptr, nullptr, &state)) return 1;
  if (argc > 1)
    return cuModuleLoadData(&module, kPtx) == CUDA_ERROR_INVALID_PTX &&
                   cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)kPtx, strlen(kPtx) + 1, "of_k", 0, nullptr, nullptr) ==
                       CUDA_ERROR_INVALID_PTX &&
                   cuLinkAddFile(state, CU_JIT_INPUT_LIBRARY, "libdevice.a", 0, nullptr, nullptr)
               ? 0 : 2;
  nvrtcProgram program;
  nvrtcCreateProgram(&program, "extern \"C\" __global__ void seven(int* x) { *x = 7; }", "seven.cu", 0, nullptr, nullptr);
  if (nvrtcCompileProgram(program, 0, nullptr)) return 3;
  size_t bytes = 0;
  nvrtcGetPTXSize(program, &bytes);
  std::vector<char> ptx(bytes);
  nvrtcGetPTX(program, ptx.data());
  void* image;
  if (cuLinkAddData(state, CU_JIT_INPUT_PTX, ptx.data(), bytes, "seven", 0, nullptr, nullptr)) return 4;
  if (cuLinkComplete(state, &image, &bytes) || cuModuleLoadData(&module, image) || cuLinkDestroy(state)) return 5;
  if (cuModuleGetFunction(&kernel, module, "seven")) return 6;
  CUdeviceptr x;
  int h = 0;
  cuMemAlloc(&x, 4);
  void* arguments[] = {&x};
  if (cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, 0, arguments, 0)) return 7;
  cuMemcpyDtoH(&h, x, 4);
  return h == 7 ? 0 : 8;
}
)";

TEST(CodeObjects, TheLinkerTakesWhatNvrtcCompilesAndSaysWhatElseItIsGiven) {
  const WrittenSource source(kOfTheLinker, "links.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult others = module.run_main({"PTX"});
  EXPECT_EQ(others.exit_status, 0) << others.failure;
  ASSERT_EQ(others.refusals.size(), 3u);
  EXPECT_EQ(others.refusals[0].text.rfind("a module's data: PTX text for sm_90a cannot be loaded", 0), 0u)
      << others.refusals[0].text;
  EXPECT_EQ(others.refusals[1].text.rfind("cuLinkAddData of of_k: PTX text for sm_90a cannot be loaded", 0), 0u)
      << others.refusals[1].text;
  EXPECT_EQ(others.refusals[2].text.rfind("cuLinkAddFile of libdevice.a: the emulator links no files", 0), 0u)
      << others.refusals[2].text;
}

const char* const kOfHip = R"(
#include <hip/hip_runtime.h>
#include <hip/hiprtc.h>
#include <cstring>
#include <vector>
static const char* const kSource =
    "extern \"C\" __global__ void lanes(int* x) { x[threadIdx.x] = __popcll(__ballot(1)) + warpSize MORE; }";
int main(int argc, char** argv) {
  hiprtcProgram program;
  hiprtcCreateProgram(&program, kSource, nullptr, 0, nullptr, nullptr);
  if (hiprtcCompileProgram(program, 0, nullptr) != HIPRTC_ERROR_COMPILATION) return 1;
  size_t bytes;
  hiprtcGetProgramLogSize(program, &bytes);
  std::vector<char> log(bytes);
  hiprtcGetProgramLog(program, log.data());
  if (!strstr(log.data(), "MORE")) return 2;
  const char* options[] = {"-D", "MORE="};
  if (hiprtcCompileProgram(program, 2, options) != HIPRTC_SUCCESS) return 3;
  hiprtcGetCodeSize(program, &bytes);
  std::vector<char> code(bytes);
  hiprtcGetCode(program, code.data());
  hiprtcDestroyProgram(&program);
  hipModule_t module;
  hipFunction_t lanes;
  if (hipModuleLoadData(&module, code.data()) || hipModuleGetFunction(&lanes, module, "lanes")) return 4;
  int *d, h[64];
  hipMalloc(&d, sizeof h);
  struct { int* d; } arguments = {d};
  size_t size = argc > 1 ? 4 : sizeof arguments;
  void* list[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &arguments, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
  if (hipModuleLaunchKernel(lanes, 1, 1, 1, 64, 1, 1, 0, 0, nullptr, list)) return 5;
  hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost);
  return h[63] == 128 ? 0 : 6;
}
)";

TEST(CodeObjects, WhatHiprtcCompilesHasTheProgramsLanes) {
  const WrittenSource source(kOfHip, "compiles.hip.cpp");
  const Module module = Module::build({.sources = {source.path()}, .lanes = 64, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"too few bytes"});
  EXPECT_EQ(faulty.exit_status, 5);
  ASSERT_EQ(faulty.refusals.size(), 1u);
  EXPECT_EQ(faulty.refusals[0].text, "the arguments of lanes take 8 bytes, the launch hands it 4");
}

const char* const kLoads = R"(
#include <hip/hip_runtime.h>
int main(int, char** argv) {
  hipModule_t module;
  hipFunction_t add;
  if (hipError_t e = hipModuleLoad(&module, argv[1])) return e;
  if (hipError_t e = hipModuleGetFunction(&add, module, argv[2])) return e;
  int *d, h[32] = {}, by = 3;
  hipMalloc(&d, sizeof h);
  hipMemcpy(d, h, sizeof h, hipMemcpyHostToDevice);
  void* arguments[] = {&d, &by};
  if (hipModuleLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, 0, arguments, nullptr)) return 1;
  hipMemcpy(h, d, sizeof h, hipMemcpyDeviceToHost);
  return h[31] == 3 ? 0 : 2;
}
)";

TEST(CodeObjects, AFileOfThemIsMadeOfTheSourceBesideTheProgram) {
  const WrittenSource source(kLoads, "loads.hip.cpp");
  std::ofstream(source.directory() / "adding.hip")
      << "#include <hip/hip_runtime.h>\n__global__ void add(int* p, int by) { p[threadIdx.x] += by; }\n";
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  for (const char* file : {"adding.hsaco", "elsewhere/adding64.code"})
    for (const char* kernel : {"add", "_Z3addPii"}) {
      const RunResult r = module.run_main({file, kernel});
      EXPECT_TRUE(r.ok()) << r.failure << r.output;
      EXPECT_EQ(r.exit_status, 0) << file << ' ' << kernel;
    }
  const RunResult no_kernel = module.run_main({"adding.hsaco", "subtract"});
  EXPECT_EQ(no_kernel.exit_status, 500);
  ASSERT_EQ(no_kernel.refusals.size(), 1u);
  EXPECT_EQ(no_kernel.refusals[0].text, "the module has no kernel subtract");
  const RunResult no_file = module.run_main({"other.hsaco", "add"});
  ASSERT_EQ(no_file.refusals.size(), 1u);
  EXPECT_EQ(no_file.refusals[0].text,
            "other.hsaco: no such file, and beside the program lies no source from which it could be made");
}

const char* const kReads = R"(
#include <cuda.h>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
int main(int argc, char** argv) {
  FILE* there = fopen("parts64.fatbin", "rb");
  if (!there || fclose(there) || fopen("others64.fatbin", "rb") || fopen("parts64.text", "r")) return 1;
  std::ifstream in("parts64.fatbin", std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  CUmodule module;
  CUfunction half;
  if (cuModuleLoadData(&module, all.str().c_str()) || cuModuleGetFunction(&half, module, "half")) return 2;
  CUdeviceptr d;
  int h[8] = {2, 4, 6, 8, 10, 12, 14, 16};
  cuMemAlloc(&d, sizeof h), cuMemcpyHtoD(d, h, sizeof h);
  void* arguments[] = {&d};
  if (cuLaunchKernel(half, 1, 1, 1, argc > 1 ? 9 : 8, 1, 1, 0, 0, arguments, 0)) return 3;
  cuMemcpyDtoH(h, d, sizeof h);
  return h[7] == 8 ? 0 : 4;
}
)";

TEST(CodeObjects, AFileOfThemThatTheProgramReadsIsMadeToo) {
  const WrittenSource source(kReads, "reads.cu");
  std::ofstream(source.directory() / "parts.cu")
      << "extern \"C\" __global__ void half(int* p) {\n  p[threadIdx.x] /= 2;\n}\n";
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"one more"});
  ASSERT_EQ(faulty.reports.size(), 2u) << faulty.failure;
  EXPECT_NE(faulty.reports[0].place.file.find("/parts.cu"), std::string::npos);
  EXPECT_EQ(faulty.reports[0].place.line, 2u);
}

}  // namespace
}  // namespace isomer::emulator::tests
