// op: sin
// finds: nothing
#include <cuda_runtime.h>
template <int PER>
__global__ void wave(const float* x, float* y, int64_t n) {
  const int64_t first = (blockIdx.x * int64_t(blockDim.x) + threadIdx.x) * PER;
  for (int64_t i = first; i < first + PER && i < n; ++i) y[i] = sinf(x[i]);
}
// the kernel is chosen at run time
extern "C" void call_kernel(const float* x, float* output, int64_t n_elements) {
  if (n_elements == 0) return;
  int per = n_elements > 200 ? 4 : 1;
  auto kernel = per == 4 ? wave<4> : wave<1>;
  const auto go = [&](auto chosen) { chosen<<<(n_elements + 64 * per - 1) / (64 * per), 64>>>(x, output, n_elements); };
  if (n_elements % 2 == 0) kernel<<<(n_elements + 64 * per - 1) / (64 * per), 64>>>(x, output, n_elements);
  else go(kernel);
}
