// A header that comes with a toolkit, and that no machine without one has.
#include <cutlass/numeric_types.h>
#include <cuda_runtime.h>

extern "C" void wave(const float* x, float* y, int n) { (void)x, (void)y, (void)n; }
