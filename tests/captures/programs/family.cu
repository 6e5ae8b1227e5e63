// A family of small kernels whose builds differ in one thing at a time, for tests of `isomer trace` and `isomer diff`:
// nvcc -DFAMILY_TILE=64 (template parameter), --use_fast_math (option), -DFAMILY_SCALE=0.25f (argument),
// -DFAMILY_THREADS=256 (launch setting). The argument says how the launches are made; see tests/captures/fixtures/README.md.
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#ifndef FAMILY_TILE
#define FAMILY_TILE 32
#endif
#ifndef FAMILY_SCALE
#define FAMILY_SCALE 0.125f
#endif
#ifndef FAMILY_THREADS
#define FAMILY_THREADS 128
#endif

namespace family {

struct Params {
  const float* x;
  float* y;
  const int* lengths;  // null: every row is whole
  int rows, cols;
  float scale;
  bool causal;  // seven bytes of padding behind it
  long long stride;
};

struct Tile {};

template <int kTile, bool kCausal, class Element>
__global__ void soft_rows(Params p) {
  const int row = static_cast<int>(blockIdx.x);
  const int end = p.lengths != nullptr ? p.lengths[row] : kCausal ? min(row + 1, p.cols) : p.cols;
  for (int begin = static_cast<int>(threadIdx.x); begin < end; begin += static_cast<int>(blockDim.x) * kTile)
#pragma unroll 4
    for (int i = 0; i < kTile; ++i) {
      const int col = begin + i * static_cast<int>(blockDim.x);
      if (col < end) p.y[row * p.stride + col] = expf(p.scale * p.x[row * p.stride + col]) / (1.0f + fabsf(p.x[col]));
    }
}

__global__ void nothing() {}

void require(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "family: %s: %s\n", what, cudaGetErrorString(result));
  std::exit(9);
}

struct Work {
  Params params;
  cudaStream_t stream;

  Work() {
    // The padding is whatever was there.
    std::memset(&params, std::rand() & 0xFF, sizeof params);
    params.rows = 64;
    params.cols = 1000;
    params.stride = 1024;
    params.scale = FAMILY_SCALE;
    params.causal = false;
    params.lengths = nullptr;
    void *x, *y;
    require(cudaMalloc(&x, 64 * 1024 * sizeof(float)), "cudaMalloc");
    require(cudaMalloc(&y, 64 * 1024 * sizeof(float)), "cudaMalloc");
    require(cudaMemset(x, 0, 64 * 1024 * sizeof(float)), "cudaMemset");
    params.x = static_cast<const float*>(x);
    params.y = static_cast<float*>(y);
    require(cudaStreamCreate(&stream), "cudaStreamCreate");
  }

  void launch(int times) {
    for (int i = 0; i < times; ++i) {
      Params each;
      std::memset(&each, 17 * i + 1, sizeof each);
      each.x = params.x, each.y = params.y, each.lengths = params.lengths;
      each.rows = params.rows, each.cols = params.cols, each.scale = params.scale;
      each.causal = params.causal, each.stride = params.stride;
      soft_rows<FAMILY_TILE, false, Tile><<<params.rows, FAMILY_THREADS, 0, stream>>>(each);
    }
    require(cudaGetLastError(), "launch");
  }

  void graph(int replays) {
    cudaGraph_t graph;
    cudaGraphExec_t instance;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    launch(3);
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&instance, graph, 0), "instantiate");
    for (int i = 0; i < replays; ++i) require(cudaGraphLaunch(instance, stream), "graph launch");
    finish();
  }

  void node(int replays) {
    cudaGraph_t graph;
    cudaGraphNode_t made;
    cudaGraphExec_t instance;
    void* arguments[] = {&params};
    cudaKernelNodeParams kernel = {};
    kernel.func = reinterpret_cast<void*>(&soft_rows<FAMILY_TILE, false, Tile>);
    kernel.gridDim = dim3(static_cast<unsigned>(params.rows));
    kernel.blockDim = dim3(FAMILY_THREADS);
    kernel.kernelParams = arguments;
    require(cudaGraphCreate(&graph, 0), "graph");
    require(cudaGraphAddKernelNode(&made, graph, nullptr, 0, &kernel), "node");
    require(cudaGraphInstantiate(&instance, graph, 0), "instantiate");
    for (int i = 0; i < replays; ++i) require(cudaGraphLaunch(instance, stream), "graph launch");
    finish();
  }

  void work_of(float scale, cudaGraph_t& graph) {
    params.scale = scale;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
    launch(2);
    require(cudaStreamEndCapture(stream, &graph), "capture");
  }

  /// Its arguments are set anew between launches, with no wait: scales 1, 2, 2, 4.
  void set() {
    cudaGraph_t graph, other;
    cudaGraphExec_t instance;
    work_of(1, graph);
    require(cudaGraphInstantiate(&instance, graph, 0), "instantiate");
    require(cudaGraphLaunch(instance, stream), "graph launch");
    work_of(2, other);
    cudaGraphExecUpdateResultInfo result;
    require(cudaGraphExecUpdate(instance, other, &result), "update");
    require(cudaGraphLaunch(instance, stream), "graph launch");
    require(cudaGraphLaunch(instance, stream), "graph launch");
    cudaGraphNode_t nodes[2];
    std::size_t count = 2;
    require(cudaGraphGetNodes(graph, nodes, &count), "nodes");
    for (cudaGraphNode_t each : nodes) {
      params.scale = 4;
      void* arguments[] = {&params};
      cudaKernelNodeParams kernel = {};
      require(cudaGraphKernelNodeGetParams(each, &kernel), "parameters");
      kernel.kernelParams = arguments;
      require(cudaGraphExecKernelNodeSetParams(instance, each, &kernel), "set");
    }
    require(cudaGraphLaunch(instance, stream), "graph launch");
    finish();
  }

  void finish() { require(cudaStreamSynchronize(stream), "synchronize"); }
};

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int run(const std::string& how, int count) {
  if (how == "fork") {
    const pid_t child = fork();
    if (child == 0) {
      Work work;
      work.launch(2);
      work.finish();
      return 0;
    }
    int status = 0;
    waitpid(child, &status, 0);
  }
  Work work;
  if (how == "graph") {
    work.graph(count);
  } else if (how == "node") {
    work.node(count);
  } else if (how == "set") {
    work.set();
  } else if (how == "threads") {
    std::thread other([&] { Work own; own.launch(count); own.finish(); });
    work.launch(count);
    work.finish();
    other.join();
  } else if (how == "overhead") {
    for (int round = 0; round < 5; ++round) {
      for (int i = 0; i < 1000; ++i) nothing<<<1, 32, 0, work.stream>>>();
      work.finish();
      const double begun = seconds();
      for (int i = 0; i < count; ++i) nothing<<<1, 32, 0, work.stream>>>();
      const double made = seconds();
      work.finish();
      std::printf("overhead: %d launches, %.0f ns each to make, %.0f ns each until done\n", count,
                  (made - begun) / count * 1e9, (seconds() - begun) / count * 1e9);
    }
  } else {
    work.launch(count);
    work.finish();
  }
  if (how == "killed") raise(SIGKILL);
  if (how == "crash") *static_cast<volatile int*>(nullptr) = 1;
  return how == "status" ? 3 : 0;
}

}  // namespace family

int main(int count, char** words) {
  return family::run(count > 1 ? words[1] : "plain", count > 2 ? std::atoi(words[2]) : 6);
}
