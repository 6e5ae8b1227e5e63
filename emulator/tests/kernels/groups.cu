// Cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;
typedef unsigned long long u64;
#define KERNEL(NAME) extern "C" __global__ void NAME(u64* out)
#define T (blockIdx.x * blockDim.x + threadIdx.x)

KERNEL(group_block) {
  __shared__ int s[256];
  cg::thread_block block = cg::this_thread_block();
  s[block.thread_rank()] = block.thread_rank();
  block.sync();
  out[T] = s[block.size() - 1 - block.thread_rank()] + 1000 * block.group_index().x;
}
KERNEL(group_tile_sum) {
  auto tile = cg::tiled_partition<8>(cg::this_thread_block());
  int v = tile.thread_rank() + 1;
  for (int o = tile.size() / 2; o > 0; o /= 2) v += tile.shfl_down(v, o);
  out[T] = tile.shfl(v, 0) + 1000 * tile.meta_group_rank() + 1000000ull * tile.meta_group_size();
}
KERNEL(group_tile_votes) {
  auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  out[T] = tile.ballot(tile.thread_rank() % 4 == 0) + 100000 * tile.any(tile.thread_rank() == 2) + 200000 * tile.all(tile.thread_rank() < 15);
}
KERNEL(group_reduce) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out[T] = cg::reduce(warp, (int)warp.thread_rank(), cg::plus<int>()) + 1000 * cg::reduce(warp, (int)warp.thread_rank(), cg::greater<int>());
}
KERNEL(group_coalesced) {
  out[T] = 0;
  if (threadIdx.x % 3 == 0) {
    auto active = cg::coalesced_threads();
    out[T] = active.size() * 100 + active.thread_rank();
  }
}
KERNEL(group_binary_partition) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  auto part = cg::binary_partition(warp, warp.thread_rank() < 12);
  out[T] = part.size() * 100 + part.thread_rank() + 10000 * cg::reduce(part, 1, cg::plus<int>());
}
KERNEL(group_dynamic_tile) {
  auto tile = cg::tiled_partition(cg::this_thread_block(), 4);
  out[T] = tile.size() * 10 + tile.thread_rank();
}
KERNEL(group_scan) {
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  out[T] = cg::inclusive_scan(warp, 2) + 1000 * cg::exclusive_scan(warp, 1);
}
KERNEL(group_grid_sync) {
  cg::grid_group grid = cg::this_grid();
  out[T] = T + 1;
  grid.sync();
  const u64 v = out[grid.size() - 1 - T];
  grid.sync();
  out[T] = v;
}
