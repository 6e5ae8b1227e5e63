// Nodes of graphs whose bodies run or not as a kernel says, and nodes that record events and wait for them.
#include <gtest/gtest.h>

#include "good_program.hpp"
#include "isomer/emulator/module.hpp"
#include "written_source.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kConditions = R"(
#include <cuda_runtime.h>
__global__ void ask(const int* p, cudaGraphConditionalHandle condition) { cudaGraphSetConditional(condition, *p); }
__global__ void down(int* p, cudaGraphConditionalHandle condition) { cudaGraphSetConditional(condition, --*p); }
__global__ void count(int* to, int by) { *to += by; }
#define MUST(call) do { if (call) return __LINE__; } while (0)
int node(cudaGraph_t graph, void* kernel, void** arguments) {
  cudaGraphNode_t made;
  cudaGraphNodeParams p = {cudaGraphNodeTypeKernel};
  p.kernel.func = kernel;
  p.kernel.gridDim = p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = arguments;
  return cudaGraphAddNode(&made, graph, nullptr, nullptr, 0, &p);
}
int conditional(cudaGraph_t graph, cudaGraphConditionalHandle handle, cudaGraphConditionalNodeType type, int size,
                cudaGraph_t** bodies) {
  cudaGraphNode_t made;
  cudaGraphNodeType is;
  cudaGraphNodeParams p = {cudaGraphNodeTypeConditional};
  p.conditional.handle = handle, p.conditional.type = type, p.conditional.size = size;
  if (cudaGraphAddNode(&made, graph, nullptr, nullptr, 0, &p) || cudaGraphNodeGetType(made, &is)) return 1;
  *bodies = p.conditional.phGraph_out;
  return is != cudaGraphNodeTypeConditional;
}
int main(int argc, char**) {
  int *p, *to, h;
  cudaMalloc(&p, 4), cudaMalloc(&to, argc > 1 ? 2 : 4);
  cudaGraph_t graph, *bodies;
  cudaGraphExec_t exec;
  cudaGraphConditionalHandle condition;
  const auto run = [&](int value) {
    cudaMemset(to, 0, argc > 1 ? 2 : 4), cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice);
    if (cudaGraphLaunch(exec, 0) || cudaDeviceSynchronize()) return -1;
    cudaMemcpy(&h, to, argc > 1 ? 2 : 4, cudaMemcpyDeviceToHost);
    return h;
  };
  const auto add = [&](cudaGraph_t body, int by) {
    void* arguments[] = {&to, &by};
    return node(body, (void*)count, arguments);
  };
  // If, and else.
  void* asks[] = {&p, &condition};
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphConditionalHandleCreate(&condition, graph));
  MUST(node(graph, (void*)ask, asks));
  MUST(conditional(graph, condition, cudaGraphCondTypeIf, 2, &bodies));
  MUST(add(bodies[0], 10) || add(bodies[1], 20));
  MUST(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  if (run(0) != 20 || run(5) != 10) return 1;
  MUST(cudaGraphExecDestroy(exec) || cudaGraphDestroy(graph));
  // As long as it says so, with a first value that each launch begins with; the body is captured.
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphConditionalHandleCreate(&condition, graph, 1, cudaGraphCondAssignDefault));
  MUST(conditional(graph, condition, cudaGraphCondTypeWhile, 1, &bodies));
  cudaStream_t s;
  MUST(cudaStreamCreate(&s));
  MUST(cudaStreamBeginCaptureToGraph(s, bodies[0], nullptr, nullptr, 0, cudaStreamCaptureModeGlobal));
  count<<<1, 1, 0, s>>>(to, 1);
  down<<<1, 1, 0, s>>>(p, condition);
  cudaStreamCaptureStatus status;
  cudaGraph_t captured;
  MUST(cudaStreamGetCaptureInfo(s, &status, nullptr, &captured));
  if (status != cudaStreamCaptureStatusActive || captured != bodies[0]) return 2;
  MUST(cudaStreamEndCapture(s, nullptr));
  MUST(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  if (run(7) != 7 || run(3) != 3) return 3;
  MUST(cudaGraphExecDestroy(exec) || cudaGraphDestroy(graph));
  // One of several, or none.
  MUST(cudaGraphCreate(&graph, 0));
  MUST(cudaGraphConditionalHandleCreate(&condition, graph));
  MUST(node(graph, (void*)ask, asks));
  MUST(conditional(graph, condition, cudaGraphCondTypeSwitch, 3, &bodies));
  for (int i = 0; i < 3; ++i) MUST(add(bodies[i], 100 + i));
  MUST(cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  if (run(0) != 100 || run(2) != 102 || run(3) != 0) return 4;
  // More bodies than the kind has.
  if (!conditional(graph, condition, cudaGraphCondTypeWhile, 2, &bodies)) return 5;
  return 0;
}
)";

TEST(GraphConditions, BodiesRunAsKernelsSay) {
  const WrittenSource source(kConditions, "conditions.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  const RunResult good = module.run_main();
  EXPECT_EQ(good.exit_status, 0) << good.failure;
  for (const Report& report : good.reports) ADD_FAILURE() << report.text;
  const RunResult faulty = module.run_main({"too little memory"});
  ASSERT_FALSE(faulty.reports.empty()) << faulty.failure;
  EXPECT_EQ(faulty.reports[0].kernel, "count");
  EXPECT_EQ(faulty.reports[0].place.line, 5u);
}

const char* const kEvents = R"(
#include <cuda_runtime.h>
__global__ void twice(int* p) { p[threadIdx.x] *= 2; }
int main(int argc, char**) {
  int *d, *h;
  cudaMalloc(&d, 128), cudaMallocHost(&h, 128);
  for (int i = 0; i < 32; ++i) h[i] = i;
  cudaEvent_t ready, done;
  cudaStream_t s, t;
  cudaEventCreate(&ready), cudaEventCreate(&done), cudaStreamCreate(&s), cudaStreamCreate(&t);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  cudaGraphNode_t wait, kernel, copy, record;
  cudaGraphCreate(&graph, 0);
  cudaKernelNodeParams k = {};
  void* arguments[] = {&d};
  k.func = (void*)twice, k.gridDim = dim3(1), k.blockDim = dim3(32), k.kernelParams = arguments;
  if (cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, ready)) return 1;
  if (cudaGraphAddKernelNode(&kernel, graph, &wait, 1, &k)) return 2;
  if (cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, h, d, 128, cudaMemcpyDeviceToHost)) return 3;
  if (cudaGraphAddEventRecordNode(&record, graph, &copy, 1, done)) return 4;
  if (cudaGraphInstantiate(&exec, graph, nullptr, nullptr, 0)) return 5;
  cudaMemcpyAsync(d, h, 128, cudaMemcpyHostToDevice, s);
  cudaEventRecord(ready, s);
  if (cudaGraphLaunch(exec, t)) return 6;
  if (argc == 1) cudaEventSynchronize(done);
  return h[31] == 62 ? 0 : 7;
}
)";

TEST(GraphConditions, EventsOfGraphsOrderStreamsAndTheHost) {
  const WrittenSource source(kEvents, "events.cu");
  const Module module = Module::build({.sources = {source.path()}, .watch = true});
  expect_good(module);
  const RunResult faulty = module.run_main({"does not wait"});
  ASSERT_EQ(faulty.reports.size(), 1u) << faulty.failure;
  EXPECT_EQ(faulty.reports[0].kind, Kind::host_race);
}

}  // namespace
}  // namespace isomer::emulator::tests
