// What the host touches while a copy or a kernel of a stream may still be at it, and what orders the two.
#include <gtest/gtest.h>

#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

constexpr const char* kProgram = R"(#include <cuda_runtime.h>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
constexpr int n = 64, bytes = n * sizeof(int);
__global__ void twice(int* p, int n) { if (threadIdx.x < n) p[threadIdx.x] *= 2; }
__global__ void sets(int* p, volatile int* flag) { *p = 5; __threadfence_system(); *flag = 1; }
int take(const int* p) { return p[3]; }
int main(int, char** words) {
  const std::string what = words[1];
  int *pinned, *device, *managed, *pageable = static_cast<int*>(std::calloc(n, sizeof(int)));
  cudaMallocHost(&pinned, bytes), cudaMalloc(&device, bytes), cudaMallocManaged(&managed, bytes);
  cudaStream_t stream, other;
  cudaEvent_t event;
  cudaStreamCreate(&stream), cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaEventCreate(&event);
  for (int i = 0; i < n; ++i) pinned[i] = managed[i] = i;
  const auto bring = [&](int* to) { cudaMemcpyAsync(to, device, bytes, cudaMemcpyDeviceToHost, stream); };
  cudaMemcpy(device, pinned, bytes, cudaMemcpyHostToDevice);
  pinned[0] = 1;  // that copy is over
  if (what == "overwritten") {
    cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream);
    std::memset(pinned, 0, bytes);
  } else if (what == "read_of_a_source") {
    cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream);
    return take(pinned) != 3;
  } else if (what == "early") {
    bring(pinned);
    return take(pinned) != 3;
  } else if (what == "waited") {
    bring(pinned);
    cudaStreamSynchronize(stream);
    return take(pinned) != 3;
  } else if (what == "another_waited") {
    bring(pinned);
    cudaStreamSynchronize(other);
    return take(pinned) != 3;
  } else if (what == "queried") {
    bring(pinned);
    cudaEventRecord(event, stream);
    while (cudaEventQuery(event) == cudaErrorNotReady) {}
    return take(pinned) != 3;
  } else if (what == "default_stream") {
    bring(pinned);
    cudaMemcpy(pageable, device, bytes, cudaMemcpyDeviceToHost);  // behind every stream that waits for its own
    return take(pinned) != 3;
  } else if (what == "pageable") {
    bring(pinned), bring(pageable);
    return take(pinned) + take(pageable) != 6;
  } else if (what == "registered") {
    cudaHostRegister(pageable, bytes, 0);
    bring(pageable);
    return take(pageable) != 3;
  } else if (what == "kernel") {
    twice<<<1, n>>>(managed, n / 2);
    if (managed[40] != 40) return 1;  // another part
    return take(managed) != 6;
  } else if (what == "kernel_waited") {
    twice<<<1, n, 0, other>>>(managed, n);
    cudaEventRecord(event, other), cudaStreamWaitEvent(stream, event, 0);
    cudaStreamSynchronize(stream);
    return take(managed) != 6;
  } else if (what == "flag") {
    volatile int* const flag = managed + 1;
    *flag = 0;
    sets<<<1, 1, 0, other>>>(managed + 3, flag);
    while (*flag == 0) {}
    return take(managed) != 5;
  } else if (what == "several_threads") {
    std::thread launchers[4];
    for (int t = 0; t < 4; ++t)
      launchers[t] = std::thread([=] {
        cudaStream_t own;
        cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        for (int i = 0; i < 20; ++i) twice<<<1, n, 0, own>>>(t == 0 ? device : managed + t, t == 0 ? n : 1);
        cudaStreamSynchronize(own);
      });
    for (std::thread& each : launchers) each.join();
    return managed[1] != 1 << 20 || managed[2] != 2 << 20 || take(managed) != 3 << 20;
  } else if (what == "called_back") {
    bring(pinned);
    cudaLaunchHostFunc(stream, [](void* p) { if (take(static_cast<int*>(p)) != 3) std::exit(1); }, pinned);
    return take(pinned) != 3;  // the function may have told
  }
  return 0;
}
)";

RunResult run(const std::string& what) {
  static const WrittenSource source(kProgram, "host.cu");
  static const Module module = Module::build({.sources = {source.path()}, .watch = true});
  RunResult result = module.run_main({what});
  EXPECT_EQ(result.failure, "");
  EXPECT_EQ(result.exit_status, 0) << result.output;
  return result;
}

class Meets : public testing::TestWithParam<std::array<const char*, 2>> {};

TEST_P(Meets, WhatAStreamMayStillBeAt) {
  const RunResult r = run(GetParam()[0]);
  ASSERT_EQ(r.reports.size(), 1u);
  EXPECT_EQ(r.reports[0].kind, Kind::host_race);
  EXPECT_NE(r.reports[0].text.find(GetParam()[1]), std::string::npos) << r.reports[0].text;
  EXPECT_GT(r.reports[0].place.line, 0u);
  EXPECT_GT(r.reports[0].other.line, 0u);
}
INSTANTIATE_TEST_SUITE_P(
    All, Meets,
    testing::Values(
        std::array{"overwritten",
                   "writes offset 0 of buffer allocated with 256 bytes, which a copy of a stream reads"},
        std::array{"early",
                   "reads offset 12 of buffer allocated with 256 bytes, which a copy of a stream writes"},
        std::array{"another_waited", "reads offset 12"},
        std::array{"registered", "reads registered memory, which a copy of a stream writes"},
        std::array{"kernel",
                   "reads offset 12 of buffer allocated with 256 bytes, which kernel twice writes"}),
    [](const auto& info) { return std::string(info.param[0]); });

class IsOrdered : public testing::TestWithParam<const char*> {};

TEST_P(IsOrdered, WithWhatAStreamDid) {
  const RunResult r = run(GetParam());
  EXPECT_TRUE(r.reports.empty()) << r.reports[0].text;
}
INSTANTIATE_TEST_SUITE_P(All, IsOrdered,
                         testing::Values("read_of_a_source", "waited", "queried", "default_stream",
                                         "pageable", "kernel_waited", "flag", "several_threads",
                                         "called_back"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace isomer::emulator::tests
