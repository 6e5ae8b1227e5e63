// sin on streams. Every function is a candidate of its own, chosen by its name.
#include <cuda_runtime.h>

__global__ void right(const float* x, float* y, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) y[i] = sinf(x[i]);
}

extern "C" void sin_on_the_stream(const float* x, float* out, int64_t n, void* stream) {
  if (n > 0) right<<<(n + 63) / 64, 64, 0, static_cast<cudaStream_t>(stream)>>>(x, out, n);
}
extern "C" void sin_on_the_default_stream(const float* x, float* out, int64_t n, void* stream) {
  if (n > 0) right<<<(n + 63) / 64, 64>>>(x, out, n);
}

static float* scratch(int64_t n) {
  static float* memory = nullptr;
  static int64_t held = 0;
  if (n > held) {
    cudaFree(memory);
    cudaMalloc(&memory, n * sizeof(float));
    held = n;
  }
  return memory;
}
extern "C" void sin_copied_on_the_stream(const float* x, float* out, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  float* between = scratch(n);
  cudaMemsetAsync(between, 0, n * sizeof(float), stream);
  right<<<(n + 63) / 64, 64, 0, stream>>>(x, between, n);
  cudaMemcpyAsync(out, between, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}
extern "C" void sin_copied_on_the_default_stream(const float* x, float* out, int64_t n, cudaStream_t stream) {
  if (n == 0) return;
  float* between = scratch(n);
  right<<<(n + 63) / 64, 64, 0, stream>>>(x, between, n);
  cudaMemcpy(out, between, n * sizeof(float), cudaMemcpyDeviceToDevice);
}

// A stream of the candidate's own, which waits for the caller's, and the caller's for it.
static void beside(const float* x, float* out, int64_t n, cudaStream_t stream, bool waited_for) {
  static cudaStream_t own = nullptr;
  static cudaEvent_t before, after;
  if (own == nullptr) {
    cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&after, cudaEventDisableTiming);
  }
  if (n == 0) return;
  cudaEventRecord(before, stream);
  cudaStreamWaitEvent(own, before, 0);
  right<<<(n + 63) / 64, 64, 0, own>>>(x, out, n);
  cudaEventRecord(after, own);
  if (waited_for) cudaStreamWaitEvent(stream, after, 0);
}
extern "C" void sin_waited_for(const float* x, float* out, int64_t n, cudaStream_t stream) {
  beside(x, out, n, stream, true);
}
extern "C" void sin_not_waited_for(const float* x, float* out, int64_t n, cudaStream_t stream) {
  beside(x, out, n, stream, false);
}

extern "C" void sin_of_a_stream_by_number(const float* x, float* out, int64_t n, unsigned long stream) {
  const auto given = reinterpret_cast<cudaStream_t>(stream);
  if (n > 0) right<<<(n + 63) / 64, 64, 0, given == nullptr ? given : nullptr>>>(x, out, n);
}
// Whose callers give no stream uses the default one.
extern "C" void sin_on_its_own_stream(const float* x, float* out, int64_t n) {
  cudaStream_t own;
  cudaStreamCreate(&own);
  if (n > 0) right<<<(n + 63) / 64, 64, 0, own>>>(x, out, n);
  cudaStreamSynchronize(own);
  cudaStreamDestroy(own);
}
