// Says nowhere which number is which word; in a file of its own, for what options.cu says would be taken for it.
#include <cuda_runtime.h>

__global__ void reduce(const float* x, float* out, int n, int what) {
  const int row = blockIdx.x;
  float sum = 0, most = x[row * n];
  for (int i = 0; i < n; ++i) {
    sum += x[row * n + i];
    most = fmaxf(most, x[row * n + i]);
  }
  out[row] = what == 1 ? most : what == 2 ? sum : x[row * n];
}

extern "C" void by_trial(const float* x, float* out, int rows, int n, int way) {
  const int numbers[] = {1, 0, 2, 0};
  reduce<<<rows, 1>>>(x, out, n, numbers[way & 3]);
}
