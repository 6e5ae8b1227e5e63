// CUB's collectives of a block and of a warp.
#include <cub/cub.cuh>
#include <cuda_runtime.h>

typedef unsigned long long u64;
#define KERNEL(NAME) extern "C" __global__ void NAME(u64* out)
#define T (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(cub_block_sum) {
  using Reduce = cub::BlockReduce<int, 96>;
  __shared__ typename Reduce::TempStorage room;
  const int sum = Reduce(room).Sum(threadIdx.x + 1);
  __syncthreads();
  const int most = Reduce(room).Reduce((int)threadIdx.x, cub::Max(), 70);
  out[T] = threadIdx.x == 0 ? sum + 100000ull * most : 0;
}
KERNEL(cub_block_sum_of_items) {
  typedef cub::BlockReduce<float, 8, cub::BLOCK_REDUCE_RAKING, 8> Reduce;
  __shared__ union {
    typename Reduce::TempStorage reduce;
    float other[4];
  } room;
  float items[3] = {1, 2, 3};
  const float sum = Reduce(room.reduce).Sum(items);
  out[T] = threadIdx.x == 0 && threadIdx.y == 0 ? (u64)sum : 0;
}
KERNEL(cub_block_scan) {
  using Scan = cub::BlockScan<int, 96>;
  __shared__ typename Scan::TempStorage room;
  int through, before, all;
  Scan(room).InclusiveSum(2, through);
  __syncthreads();
  Scan(room).ExclusiveSum(1, before, all);
  out[T] = through + 1000 * before + 1000000ull * all;
}
struct Running {
  int total;
  __device__ int operator()(int block) {
    const int before = total;
    total += block;
    return before;
  }
};
KERNEL(cub_block_scan_of_items) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ typename Scan::TempStorage room;
  Running running{5};
  int items[2] = {1, 1};
  for (int tile = 0; tile < 2; ++tile) {
    items[0] = items[1] = 1;
    Scan(room).InclusiveSum(items, items, running);
    __syncthreads();
  }
  out[T] = items[0] + 1000 * items[1];
}
KERNEL(cub_warp_collectives) {
  __shared__ cub::WarpReduce<int, 16>::TempStorage of_sum;
  __shared__ cub::WarpScan<int, 16>::TempStorage of_scan;
  const int sum = cub::WarpReduce<int, 16>(of_sum).Sum(threadIdx.x % 16);
  int before;
  cub::WarpScan<int, 16>(of_scan).ExclusiveSum(1, before);
  out[T] = before + (threadIdx.x % 16 == 0 ? 1000 * sum : 0);
}
KERNEL(cub_load_store) {
  __shared__ int numbers[64], copied[64];
  numbers[threadIdx.x] = threadIdx.x;
  numbers[threadIdx.x + 32] = threadIdx.x + 32;
  __syncthreads();
  int items[2];
  cub::BlockLoad<int, 32, 2, cub::BLOCK_LOAD_WARP_TRANSPOSE>().Load(numbers, items, 63, -1);
  cub::BlockStore<int, 32, 2, cub::BLOCK_STORE_STRIPED>().Store(copied, items);
  __syncthreads();
  out[T] = copied[threadIdx.x] + 1000 * (copied[threadIdx.x + 32] + 1);
}
KERNEL(cub_arg_max) {
  using Pair = cub::KeyValuePair<int, float>;
  using Reduce = cub::BlockReduce<Pair, 128>;
  __shared__ typename Reduce::TempStorage room;
  const Pair best = Reduce(room).Reduce(Pair(threadIdx.x, threadIdx.x % 50), cub::ArgMax());
  out[T] = threadIdx.x == 0 ? best.key * 100 + (int)best.value : 0;
}
#undef T
