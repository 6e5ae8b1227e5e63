// Candidates for a real device: what only its clock, its schedule and its memory show.
#include <cstdint>

namespace {

__global__ void sines(const float* x, float* out, int64_t n, int rounds) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  float value = sinf(x[i]);
  // Work that changes nothing: the compiler cannot know that no sine is above 2.
  for (int r = 0; r < rounds; ++r)
    if (sinf(value + r) > 2.0f) value = 0;
  out[i] = value;
}

void launch(const float* x, float* out, int64_t n, int rounds) {
  if (n > 0) sines<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n, rounds);
}

// Which of two good sines an element gets is nobody's choice.
__global__ void sines_by_clock(const float* x, float* out, int64_t n) {
  const int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  if (i >= n) return;
  out[i] = clock64() / 32 % 2 ? sinf(x[i]) : static_cast<float>(sin(static_cast<double>(x[i])));
}

__global__ void write_behind(float* out, int64_t n) { out[n + threadIdx.x] = 1.0f; }
__global__ void write_nowhere() { *reinterpret_cast<volatile int*>(64) = 1; }
__global__ void never_end() {
  for (volatile int i = 0;; i = i + 1) {
  }
}

}  // namespace

extern "C" {
void sin_right(const float* x, float* out, int64_t n) { launch(x, out, n, 0); }
void sin_slow(const float* x, float* out, int64_t n) { launch(x, out, n, 20000); }
void sin_by_chance(const float* x, float* out, int64_t n) {
  if (n > 0) sines_by_clock<<<static_cast<unsigned>((n + 255) / 256), 256>>>(x, out, n);
}
void sin_overruns(const float* x, float* out, int64_t n) {
  launch(x, out, n, 0);
  write_behind<<<1, 32>>>(out, n);
}
void sin_stops_the_device(const float* x, float* out, int64_t n) {
  launch(x, out, n, 0);
  write_nowhere<<<1, 1>>>();
}
void sin_hangs(const float*, float*, int64_t) { never_end<<<1, 1>>>(); }
void sin_launches_too_much(const float* x, float* out, int64_t n) {
  launch(x, out, n, 0);
  sines<<<1, 2048>>>(x, out, n, 0);
}
}
