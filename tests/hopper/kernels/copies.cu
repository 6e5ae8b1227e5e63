// Boxes of tensors of every rank there and back: what lies outside of the tensor arrives as zeros and is not written.
#include "gpu/device/sm90/shared.cuh"
#include "gpu/device/sm90/tensor_copy.cuh"
#include "parameters.h"

namespace isomer::device {
using namespace sm90;

extern __shared__ __align__(1024) char memory[];

/// A box at `corner`; its bytes go to `seen` as they lie in shared memory, then the box to the other tensor.
template <int N>
ISOMER_DEVICE void there_and_back(const CopyParameters& p) {
  const u32 base = shared_address(memory);
  const Barrier full{base + p.bytes};
  if (threadIdx.x == 0) {
    full.init(1);
    fence_barriers();
    prefetch(p.from);
  }
  __syncthreads();
  Coordinates<N> corner;
  for (int i = 0; i < N; ++i) corner.of[i] = p.corner[i];
  if (threadIdx.x == 0) {
    full.arrive_expect(p.bytes);
    load<N>(p.from, corner, base, full);
  }
  while (!full.is_over(0)) {
  }
  for (u32 at = threadIdx.x * 4; at < p.bytes; at += blockDim.x * 4) p.seen[at / 4] = load_shared(base + at);
  if (threadIdx.x == 0) {
    store<N>(p.to, corner, base);
    end_stores();
    wait_stores<0>();
  }
}
#define COPY(NAME, N)                                                                                    \
  extern "C" __global__ void __launch_bounds__(64) NAME(const __grid_constant__ CopyParameters p) {      \
    there_and_back<N>(p);                                                                                \
  }
COPY(copy_2, 2)
COPY(copy_3, 3)
COPY(copy_4, 4)
COPY(copy_5, 5)

}  // namespace isomer::device
