// Inline PTX of barriers that count bytes, and of bulk copies, as people write it for Hopper: the same rules
// hold as for the words of the project's own kernels.
#include <gtest/gtest.h>

#include "isomer/emulator/error.hpp"
#include "isomer/emulator/module.hpp"
#include "told.hpp"

namespace isomer::emulator::tests {
namespace {

const char* const kProgram = R"(#include <cstdint>
__device__ uint32_t shared(const void* p) { return static_cast<uint32_t>(__cvta_generic_to_shared(p)); }
__device__ void init(uint64_t* b, int count) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared(b)), "r"(count)); }
__device__ void fence_barriers() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void expect(uint64_t* b, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(shared(b)), "r"(bytes) : "memory");
}
__device__ void wait(uint64_t* b, uint32_t parity) {
  asm volatile(
      "{\n"
      ".reg .pred P1;\n"
      "LAB_WAIT:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 P1, [%0], %1;\n"
      "@P1 bra DONE;\n"
      "bra LAB_WAIT;\n"
      "DONE:\n"
      "}" ::"r"(shared(b)), "r"(parity) : "memory");
}
__device__ bool is_over(uint64_t* b, uint64_t state) {
  int over;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
               : "=r"(over) : "r"(shared(b)), "l"(state) : "memory");
  return over;
}
__device__ void load(void* to, const void* from, uint32_t bytes, uint64_t* b) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
               ::"r"(shared(to)), "l"(from), "r"(bytes), "r"(shared(b)) : "memory");
}
__device__ bool one_of_warp() {
  uint32_t is;
  asm volatile("{ .reg .pred p; elect.sync _|p, 0xffffffff; selp.u32 %0, 1, 0, p; }" : "=r"(is));
  return is;
}
// Two tiles through one stage, there and back.
__global__ void tiles(const float* in, float* out, char how) {
  __shared__ alignas(128) float stage[64];
  __shared__ alignas(8) uint64_t full;
  if (threadIdx.x == 0) {
    init(&full, 1);
    if (how != 'i') fence_barriers();
  }
  __syncthreads();
  for (int tile = 0; tile < 2; ++tile) {
    if (threadIdx.x < 32 && one_of_warp()) {
      expect(&full, how == 'b' ? 128 : 256);
      load(stage, in + 64 * tile, 256, &full);
    }
    if (how != 'm') wait(&full, how == 'w' ? 1 ^ tile : tile);
    const float v = stage[63 - threadIdx.x];
    __syncthreads();
    stage[threadIdx.x] = 2 * v;
    if (how != 'f') fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + 64 * tile), "r"(shared(stage)), "r"(256) : "memory");
      asm volatile("cp.async.bulk.commit_group;");
      if (how != 's') asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(0) : "memory");
    }
    __syncthreads();
  }
}
// Arrivals with a state, and copies of each thread's own that arrive by themselves.
__global__ void states(const float4* in, float* out, char how) {
  __shared__ float4 room[64];
  __shared__ uint64_t both[2];
  if (threadIdx.x == 0) init(both, blockDim.x), init(both + 1, how == 'e' ? 65 : 64);
  __syncthreads();
  asm volatile("cp.async.ca.shared::cta.global [%0], [%1], 16;" ::"r"(shared(room + threadIdx.x)), "l"(in + threadIdx.x));
  asm volatile("cp.async.mbarrier.arrive.shared::cta.b64 [%0];" ::"r"(shared(both)));
  uint64_t state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(shared(both)) : "memory");
  if (how != 'n') while (!is_over(both, state)) asm volatile("nanosleep.u32 20;");
  const float v = room[63 - threadIdx.x].x;
  asm volatile("mbarrier.arrive.b64 %0, [%1];" : "=l"(state) : "l"(both + 1) : "memory");
  if (how == 'e') wait(both + 1, 0);
  while (!is_over(both + 1, state)) {}
  room[threadIdx.x].x = 3 * v;
  out[threadIdx.x] = room[threadIdx.x].x;
}
// Two stages of copies in groups, each thread's read by another; the last eight bytes of a row are zeros.
__global__ void stages(const float4* in, float* out, char how) {
  __shared__ float4 stage[2][64];
  const auto begin = [&](int tile) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared(&stage[tile % 2][threadIdx.x])), "l"(in + threadIdx.x), "r"(8));
    asm volatile("cp.async.commit_group;");
  };
  begin(0);
  float sum = 0;
  for (int tile = 0; tile < 4; ++tile) {
    if (tile < 3) begin(tile + 1);
    if (how == 'g') asm volatile("cp.async.wait_group 2;");
    else if (how != 'c' && tile < 3) asm volatile("cp.async.wait_group %0;" ::"n"(1));
    else if (how != 'c') asm volatile("cp.async.wait_all;");
    if (how != 'y') __syncthreads();
    const float4 v = stage[tile % 2][63 - threadIdx.x];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
// A loop of jumps that counts.
__device__ int sum(int n) {
  int total;
  asm("{\n\t.reg .s32 i, t;\n\tmov.s32 t, 0;\n\tmov.s32 i, %1;\n$again_%=:\n\t.reg .pred q;\n\tsetp.le.s32 q, i, 0;\n\t"
      "@q bra $end_%=;\n\tadd.s32 t, t, i;\n\tsub.s32 i, i, 1;\n\tbra.uni $again_%=;\n$end_%=:\n\tmov.s32 %0, t;\n\t}" : "=r"(total) : "r"(n));
  return total;
}
__global__ void sums(int* out) { out[threadIdx.x] = sum(threadIdx.x) + sum(2); }
int main(int, char** words) {
  float *in, *out; int* counts;
  cudaMallocManaged(&in, 1024); cudaMallocManaged(&out, 1024); cudaMallocManaged(&counts, 128);
  for (int i = 0; i < 256; ++i) in[i] = i;
  const char how = words[1][0];
  if (how != 'n' && how != 'e') {
    tiles<<<1, 64>>>(in, out, how);
    cudaDeviceSynchronize();
    for (int i = 0; i < 128; ++i) if (out[i] != 2 * (i / 64 * 64 + 63 - i % 64)) return 1;
  }
  states<<<1, 64>>>((float4*)in, out, how);
  cudaDeviceSynchronize();
  if (out[5] != 3 * 4 * 58) return 2;
  stages<<<1, 64>>>((float4*)in, out, how);
  cudaDeviceSynchronize();
  if (out[5] != 4 * (2 * 4 * 58 + 1)) return 3;
  sums<<<1, 32>>>(counts);
  cudaDeviceSynchronize();
  return counts[5] != 18;
}
)";

const ProgramWithFaults& program() {
  static const ProgramWithFaults all(kProgram, "units.cu");
  return all;
}
RunResult run(const char* how) { return program().run(how); }
void expect_told(const char* how, Kind kind, const char* words) { program().expect_told(how, kind, words); }

TEST(PtxUnits, Hold) {
  const RunResult r = run("all");
  EXPECT_EQ(r.exit_status, 0) << r.failure;
  for (const Report& report : r.reports) ADD_FAILURE() << report.text;
}

TEST(PtxUnits, AreSeenWhereNobodyWaits) {
  expect_told("m", Kind::in_flight, "reads shared memory at offset");
  expect_told("n", Kind::race, "room");
  expect_told("s", Kind::early_reuse, "that the bulk store at");
  expect_told("c", Kind::in_flight, "still writes: its thread has not waited for it");
  expect_told("g", Kind::in_flight, "still writes: its thread has not waited for it");
  expect_told("y", Kind::race, "stage");
}

TEST(PtxUnits, AreSeenWhereTheWaitIsForAnotherPhase) {
  expect_told("w", Kind::in_flight,
              "nobody has waited for that phase of the barrier at offset 0 of shared array full");
}

TEST(PtxUnits, AreSeenWhereBytesOrArrivalsDoNotAddUp) {
  expect_told("b", Kind::byte_count, "128 bytes more than were announced");
  expect_told("e", Kind::barrier_divergence, "of which 1 of 65 arrivals and 0 bytes are missing");
}

TEST(PtxUnits, AreSeenWithoutTheirFences) {
  expect_told("i", Kind::unseen_barrier, "the copy engine may not see yet");
  expect_told("f", Kind::missing_proxy_fence, "copies from shared memory");
}

TEST(PtxOfUnits, ThatIsNotExecutedIsRefusedByName) {
  for (const std::string instruction :
       {"mbarrier.complete_tx.shared::cta.b64 [%0], 16",
        "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%0, {%0, "
        "%0, %0}], [%0], {%0}",
        "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%0], 16, [%0]",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%0], "
        "16, [%0], 3",
        "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%0, %0}, %0, %0, 1, 1, 1, 0, 0",
        "mapa.u64 %0, %0, 1", "bra nowhere"}) {
    const WrittenSource source("__global__ void k(unsigned x) { asm volatile(\"" + instruction +
                               ";\" : \"+r\"(x)); }\n");
    const std::string name = instruction.substr(0, instruction.find(' '));
    try {
      Module::build({.sources = {source.path()}});
      ADD_FAILURE() << instruction;
    } catch (const Error& e) {
      EXPECT_NE(std::string(e.what()).find("inline PTX assembly '" + name + "' cannot be emulated"),
                std::string::npos)
          << e.what();
    }
  }
}

}  // namespace
}  // namespace isomer::emulator::tests
