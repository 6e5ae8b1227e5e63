// Five kernels by which the speed of the emulator is measured, and that of compute-sanitizer on a device beside it
// (docs/performance/emulator.md). One run launches one of them, checks its result, and prints the time of its
// launches:
//
//   isomer emulate tools/emulator_speed/five.cu -- scale 4
//   nvcc -O3 -o five tools/emulator_speed/five.cu && compute-sanitizer --tool racecheck ./five scale 4
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

constexpr int kValues = 1 << 23;
constexpr int kThreads = 256;
constexpr int kColumns = 512;  // of the matrices
constexpr int kTile = 16;
constexpr int kBins = 256;
constexpr int kHistogramBlocks = 64;
constexpr int kSums = 8192;  // blocks of block_sum and warp_sum, of 256 values each

__global__ void scale(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}

__global__ void histogram(const unsigned* x, unsigned* bins, int n) {
  __shared__ unsigned mine[kBins];
  mine[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    atomicAdd(&mine[x[i] & (kBins - 1)], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kTile][kTile], tile_b[kTile][kTile];
  int x = threadIdx.x, y = threadIdx.y;
  int column = blockIdx.x * kTile + x, row = blockIdx.y * kTile + y;
  float sum = 0;
  for (int t = 0; t < n; t += kTile) {
    tile_a[y][x] = a[row * n + t + x];
    tile_b[y][x] = b[(t + y) * n + column];
    __syncthreads();
    for (int k = 0; k < kTile; k++) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}

__global__ void block_sum(const float* x, float* sums) {
  __shared__ float s[kThreads];
  int t = threadIdx.x;
  s[t] = x[blockIdx.x * kThreads + t];
  __syncthreads();
  for (int d = kThreads / 2; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

__global__ void warp_sum(const float* x, float* sums) {
  int t = threadIdx.x;
  float v = x[blockIdx.x * kThreads + t];
  for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (t % 32 == 0) sums[(blockIdx.x * kThreads + t) / 32] = v;
}

static void need(cudaError_t result, const char* what) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "five: %s failed: %s\n", what, cudaGetErrorString(result));
  std::exit(1);
}

static void launch(const char* kernel, const float* x, float* y) {
  if (!std::strcmp(kernel, "scale")) {
    scale<<<kValues / kThreads, kThreads>>>(x, y, kValues);
  } else if (!std::strcmp(kernel, "histogram")) {
    histogram<<<kHistogramBlocks, kBins>>>(reinterpret_cast<const unsigned*>(x), reinterpret_cast<unsigned*>(y),
                                           kValues);
  } else if (!std::strcmp(kernel, "product")) {
    dim3 blocks(kColumns / kTile, kColumns / kTile), threads(kTile, kTile);
    product<<<blocks, threads>>>(x, x, y, kColumns);
  } else if (!std::strcmp(kernel, "block_sum")) {
    block_sum<<<kSums, kThreads>>>(x, y);
  } else {
    warp_sum<<<kSums, kThreads>>>(x, y);
  }
}

/// All values are small whole numbers, so that each sum of floats is exact in any order.
static bool is_right(const char* kernel, int launches, const std::vector<float>& x, const std::vector<float>& y) {
  if (!std::strcmp(kernel, "scale")) {
    for (int i = 0; i < kValues; i++) {
      if (y[i] != 2 * x[i]) return false;
    }
  } else if (!std::strcmp(kernel, "histogram")) {
    std::vector<unsigned> bins(kBins), seen(kBins);
    for (int i = 0; i < kValues; i++) {
      unsigned bits;
      std::memcpy(&bits, &x[i], sizeof bits);
      bins[bits & (kBins - 1)] += launches;
    }
    std::memcpy(seen.data(), y.data(), kBins * sizeof(unsigned));
    return seen == bins;
  } else if (!std::strcmp(kernel, "product")) {
    for (int row = 0; row < kColumns; row += 37) {
      for (int column = 0; column < kColumns; column++) {
        float sum = 0;
        for (int k = 0; k < kColumns; k++) sum += x[row * kColumns + k] * x[k * kColumns + column];
        if (y[row * kColumns + column] != sum) return false;
      }
    }
  } else {
    int each = !std::strcmp(kernel, "block_sum") ? kThreads : 32;
    for (int i = 0; i < kSums * kThreads / each; i++) {
      float sum = 0;
      for (int k = 0; k < each; k++) sum += x[i * each + k];
      if (y[i] != sum) return false;
    }
  }
  return true;
}

int main(int count, char** words) {
  const char* kernel = count > 1 ? words[1] : "";
  int launches = count > 2 ? std::atoi(words[2]) : 1;
  bool known = false;
  for (const char* name : {"scale", "histogram", "product", "block_sum", "warp_sum"}) {
    known = known || !std::strcmp(kernel, name);
  }
  if (!known || launches < 1) {
    std::fprintf(stderr,
                 "five: expected the name of a kernel (scale, histogram, product, block_sum or warp_sum) and, if "
                 "wanted, how often to launch it (1 or more), got \"%s\" \"%s\"\n",
                 kernel, count > 2 ? words[2] : "");
    return 2;
  }

  std::vector<float> values(kValues), results(kValues);
  bool bits = !std::strcmp(kernel, "histogram");
  for (int i = 0; i < kValues; i++) {
    unsigned mixed = (static_cast<unsigned>(i) * 2654435761u) >> 20;
    values[i] = static_cast<float>(mixed % 7);
    if (bits) std::memcpy(&values[i], &mixed, sizeof mixed);
  }
  float *x, *y;
  need(cudaMalloc(&x, kValues * sizeof(float)), "cudaMalloc");
  need(cudaMalloc(&y, kValues * sizeof(float)), "cudaMalloc");
  need(cudaMemcpy(x, values.data(), kValues * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  need(cudaMemset(y, 0, kValues * sizeof(float)), "cudaMemset");

  cudaEvent_t start, first, end;
  need(cudaEventCreate(&start), "cudaEventCreate");
  need(cudaEventCreate(&first), "cudaEventCreate");
  need(cudaEventCreate(&end), "cudaEventCreate");
  need(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  need(cudaEventRecord(start), "cudaEventRecord");
  launch(kernel, x, y);
  need(cudaGetLastError(), "the first launch");
  need(cudaEventRecord(first), "cudaEventRecord");
  for (int i = 1; i < launches; i++) launch(kernel, x, y);
  need(cudaGetLastError(), "a later launch");
  need(cudaEventRecord(end), "cudaEventRecord");
  need(cudaEventSynchronize(end), "a kernel");
  float ms_of_first = 0, ms_of_all = 0;
  need(cudaEventElapsedTime(&ms_of_first, start, first), "cudaEventElapsedTime");
  need(cudaEventElapsedTime(&ms_of_all, start, end), "cudaEventElapsedTime");

  need(cudaMemcpy(results.data(), y, kValues * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (!is_right(kernel, launches, values, results)) {
    std::fprintf(stderr, "five: %s computed something else than the host\n", kernel);
    return 1;
  }
  std::printf("%s: first launch %.4f ms, %d launches %.4f ms\n", kernel, ms_of_first, launches, ms_of_all);
  need(cudaEventDestroy(start), "cudaEventDestroy");
  need(cudaEventDestroy(first), "cudaEventDestroy");
  need(cudaEventDestroy(end), "cudaEventDestroy");
  need(cudaFree(x), "cudaFree");
  need(cudaFree(y), "cudaFree");
  return 0;
}
