// Planted faults. `NAME_bad` misbehaves on the line that carries `// fault: NAME`; `NAME_ok` is its clean twin.
#include <cuda_runtime.h>

#define BAD(NAME) extern "C" __global__ void NAME##_bad(int* out, const int* in, int n)
#define OK(NAME) extern "C" __global__ void NAME##_ok(int* out, const int* in, int n)
#define T int(blockIdx.x * blockDim.x + threadIdx.x)
#define LAST (int(gridDim.x * blockDim.x) - 1)

BAD(write_before_first) { out[T - 1] = 1; }  // fault: write_before_first
OK(write_before_first) { if (T > 0) out[T - 1] = 1; }
BAD(write_behind_last) { out[T + 1] = 1; }  // fault: write_behind_last
OK(write_behind_last) { if (T + 1 < n) out[T + 1] = 1; }
BAD(write_middle_far) {
  if (T == n / 2) out[n + 5000] = 1;  // fault: write_middle_far
  out[T] = 1;
}
OK(write_middle_far) { out[T] = 1; }
BAD(read_before_first) { out[T] = in[T - 1]; }  // fault: read_before_first
OK(read_before_first) { out[T] = in[T > 0 ? T - 1 : 0]; }
BAD(read_behind_last) { out[T] = in[T] + in[T + 1]; }  // fault: read_behind_last
OK(read_behind_last) { out[T] = in[T] + in[T + 1 < n ? T + 1 : T]; }
BAD(tail_not_masked) {
  const int i = T + 8;
  out[i] = in[i < n ? i : 0];  // fault: tail_not_masked
}
OK(tail_not_masked) {
  const int i = T + 8;
  if (i < n) out[i] = in[i];
}
BAD(null_pointer) {
  int* p = n > 0 ? nullptr : out;
  if (T == 3) p[0] = 1;  // fault: null_pointer
}
OK(null_pointer) { if (T == 3) out[0] = 1; }
BAD(vector_store_behind) {
  if (T == LAST) *(int4*)(out + n) = make_int4(1, 2, 3, 4);  // fault: vector_store_behind
}
OK(vector_store_behind) { if (T == LAST) *(int4*)(out + n - 4) = make_int4(1, 2, 3, 4); }
BAD(atomic_behind) { if (T == 0) atomicAdd(out + n, 1); }  // fault: atomic_behind
OK(atomic_behind) { if (T == 0) atomicExch(out + n - 1, 1); }
BAD(memcpy_behind) {
  if (T == 0) memcpy(out + n - 2, in, n * sizeof(int));  // fault: memcpy_behind
}
OK(memcpy_behind) { if (T == 0) memcpy(out, in, n * sizeof(int)); }

BAD(shared_write_first) {
  __shared__ int s[64];
  s[int(threadIdx.x) - 1 + (threadIdx.x > 0)] = 1;  // fault: shared_write_first
}
OK(shared_write_first) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
}
BAD(shared_write_last) {
  __shared__ int s[63], t[64];
  t[threadIdx.x] = 2;
  s[threadIdx.x] = 1;  // fault: shared_write_last
}
OK(shared_write_last) {
  __shared__ int s[64], t[64];
  t[threadIdx.x] = 2;
  s[threadIdx.x] = 1;
}
BAD(shared_read_behind) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  out[T] = s[threadIdx.x + 1];  // fault: shared_read_behind
}
OK(shared_read_behind) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  out[T] = s[(threadIdx.x + 1) % 64];
}
BAD(dynamic_shared_behind) {
  extern __shared__ int d[];
  d[threadIdx.x * 2] = 1;  // fault: dynamic_shared_behind
}
OK(dynamic_shared_behind) {
  extern __shared__ int d[];
  d[threadIdx.x] = 1;
}

BAD(uninitialised_shared) {
  __shared__ int s[64];
  if (threadIdx.x != 5) s[threadIdx.x] = T;
  __syncthreads();
  out[T] = s[threadIdx.x ^ 1];  // fault: uninitialised_shared
}
OK(uninitialised_shared) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  out[T] = s[threadIdx.x ^ 1];
}
BAD(uninitialised_word) {
  __shared__ long long words[64];
  char* const bytes = reinterpret_cast<char*>(words + threadIdx.x);
  for (int i = 0; i < 5; ++i) bytes[i] = i;
  out[T] = static_cast<int>(words[threadIdx.x]) + reinterpret_cast<short*>(bytes)[3];  // fault: uninitialised_word
}
OK(uninitialised_word) {  // what fills a word up is copied with it
  __shared__ long long words[64];
  char* const bytes = reinterpret_cast<char*>(words + threadIdx.x);
  for (int i = 0; i < 5; ++i) bytes[i] = i;
  out[T] = static_cast<int>(words[threadIdx.x]);
}
BAD(uninitialised_output) { out[T] += in[T]; }  // fault: uninitialised_output
OK(uninitialised_output) { out[T] = in[T]; }
BAD(uninitialised_accumulator) {
  __shared__ int sum;
  atomicAdd(&sum, 1);  // fault: uninitialised_accumulator
}
OK(uninitialised_accumulator) {
  __shared__ int sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, 1);
}

BAD(race_missing_barrier) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  out[T] = s[63 - threadIdx.x];  // fault: race_missing_barrier
}
OK(race_missing_barrier) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  out[T] = s[63 - threadIdx.x];
}
BAD(race_reduction_without_barrier) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];  // fault: race_reduction_without_barrier
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
OK(race_reduction_without_barrier) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  for (int k = 32; k > 0; k /= 2) {
    if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
BAD(race_overwrites_what_others_read) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  const int v = s[(threadIdx.x + 1) % 64];
  s[threadIdx.x] = v;  // fault: race_overwrites_what_others_read
}
OK(race_overwrites_what_others_read) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  const int v = s[(threadIdx.x + 1) % 64];
  __syncthreads();
  s[threadIdx.x] = v;
}
BAD(race_all_write_one) {
  __shared__ int s;
  s = T;  // fault: race_all_write_one
}
OK(race_all_write_one) {
  __shared__ int s;
  if (threadIdx.x == 0) s = T;
}
BAD(race_inside_warp) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  out[T] = s[threadIdx.x ^ 1];  // fault: race_inside_warp
}
OK(race_inside_warp) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncwarp();
  out[T] = s[threadIdx.x ^ 1];
}
BAD(race_across_warps) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncwarp();
  out[T] = s[(threadIdx.x + blockDim.x / 2) % 64];  // fault: race_across_warps
}
OK(race_across_warps) {
  __shared__ int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  out[T] = s[(threadIdx.x + blockDim.x / 2) % 64];
}
BAD(race_across_blocks) {
  out[threadIdx.x] = T;  // fault: race_across_blocks
}
OK(race_across_blocks) { out[T] = T; }
BAD(race_neighbour_block) {
  out[T] = T;
  __syncthreads();
  if (T + 64 < n) out[T] = out[T + 64];  // fault: race_neighbour_block
}
OK(race_neighbour_block) { out[T] = T; __syncthreads(); out[T] = out[T ^ 1 ^ 1]; }
BAD(race_atomic_and_plain) {
  if (T == 0) atomicExch(out, 5);
  if (T == LAST) out[0] = 7;  // fault: race_atomic_and_plain
}
OK(race_atomic_and_plain) { if (T == 0 || T == LAST) atomicExch(out, 5); }
BAD(race_missing_fence) {
  if (T == 0) { out[1] = 1; atomicExch(out, 1); }
  if (T == LAST) { while (atomicAdd(out, 0) != 1) {} out[2] = out[1]; }  // fault: race_missing_fence
}
OK(race_missing_fence) {
  if (T == 0) { out[1] = 1; __threadfence(); atomicExch(out, 1); }
  if (T == LAST) { while (atomicAdd(out, 0) != 1) {} __threadfence(); out[2] = out[1]; }
}

BAD(barrier_in_both_branches) {
  if (threadIdx.x < 32) {
    __syncthreads();  // fault: barrier_in_both_branches
  } else {
    __syncthreads();
  }
  out[T] = 1;
}
OK(barrier_in_both_branches) { __syncthreads(); out[T] = 1; }
BAD(barrier_in_uneven_loop) {
  for (int i = 0; i < (threadIdx.x < 32 ? 2 : 3); ++i) {
    __syncthreads();  // fault: barrier_in_uneven_loop
  }
  out[T] = 1;
  __syncthreads();
}
OK(barrier_in_uneven_loop) {
  for (int i = 0; i < 3; ++i) __syncthreads();
  out[T] = 1;
  __syncthreads();
}
BAD(barrier_against_warp_barrier) {
  if (threadIdx.x == 0) {
    __syncthreads();  // fault: barrier_against_warp_barrier
  } else {
    __syncwarp(0xffffffffffffffffull);
    __syncthreads();
  }
}
OK(barrier_against_warp_barrier) { __syncwarp(); __syncthreads(); }
BAD(mask_without_own_lane) { out[T] = __shfl_sync(0xffffull, T, 0); }  // fault: mask_without_own_lane
OK(mask_without_own_lane) { out[T] = (T % warpSize) < 16 ? __shfl_sync(0xffffull, T, 0) : 0; }
// As a ballot gives to warps behind the last element, which go on with the lanes that execute together.
BAD(mask_of_no_lane) { out[T] = __shfl_sync(__ballot_sync(~0ull, T < 0), T, 0); }  // fault: mask_of_no_lane
OK(mask_of_no_lane) { out[T] = __shfl_sync(__ballot_sync(~0ull, T >= 0), T, 0); }
BAD(shuffle_from_absent_lane) {
  if (threadIdx.x % warpSize < 16) out[T] = __shfl_sync(0xffffull, T, 20);  // fault: shuffle_from_absent_lane
}
OK(shuffle_from_absent_lane) { if (threadIdx.x % warpSize < 16) out[T] = __shfl_sync(0xffffull, T, 2); }

BAD(writes_its_input) {
  out[T] = 1;
  if (T == n / 2) const_cast<int*>(in)[T] = 7;  // fault: writes_its_input
}
OK(writes_its_input) { out[T] = in[T]; }
BAD(misaligned_vector) { *(long long*)(out + 1) = 3; }  // fault: misaligned_vector
OK(misaligned_vector) { if (T == 0) *(long long*)(out + 2) = 3; }
BAD(misaligned_float4) { if (T == 0) out[0] = (int)((const float4*)(in + 2))->y; }  // fault: misaligned_float4
OK(misaligned_float4) { if (T == 0) out[0] = (int)((const float4*)(in + 4))->y; }
__constant__ int limits[4] = {1, 2, 3, 4};
BAD(writes_constant_memory) { const_cast<volatile int*>(limits)[1] = n; out[T] = limits[0]; }  // fault: writes_constant_memory
OK(writes_constant_memory) { out[T] = limits[0]; }
BAD(fails_assertion) { assert(T < n / 2); out[T] = 1; }  // fault: fails_assertion
OK(fails_assertion) { assert(T < n); out[T] = 1; }
BAD(traps) { if (T == 40) __trap(); }  // fault: traps
OK(traps) { if (T == n) __trap(); }

__device__ __noinline__ void store(int* p, int i, int v) {
  p[i] = v;  // fault: inside_a_called_function
}
BAD(inside_a_called_function) { store(out, T + 2, 1); }
OK(inside_a_called_function) { store(out, T, 1); }
template <class E>
__device__ E through(const E* p, int i) {
  return __ldg(p + i);  // fault: inside_a_header_function
}
BAD(inside_a_header_function) { out[T] = through(in, T + 1); }
OK(inside_a_header_function) { out[T] = through(in, T); }

__device__ int counts[64];
__device__ int beside[64];
__device__ int tail = 3;
__constant__ float weights[4] = {1, 2, 3, 4};
__device__ int turn, shared_sum;
BAD(variable_write_behind) {
  if (T == 0) beside[0] = 1;
  counts[threadIdx.x + 1] = T;  // fault: variable_write_behind
}
OK(variable_write_behind) { if (T < 64) { counts[threadIdx.x] = T; beside[threadIdx.x] = T; } }
BAD(variable_read_before) { out[T] = (&tail)[threadIdx.x == 3 ? -1 : 0]; }  // fault: variable_read_before
OK(variable_read_before) { out[T] = tail; }
BAD(constant_read_behind) { out[T] = weights[threadIdx.x % 5]; }  // fault: constant_read_behind
OK(constant_read_behind) { out[T] = weights[threadIdx.x % 4]; }
BAD(variable_race) { shared_sum += 1; }  // fault: variable_race
OK(variable_race) { atomicAdd(&shared_sum, 1); }
BAD(variable_misaligned) { if (T == 0) *(int2*)(counts + 1) = make_int2(1, 2); }  // fault: variable_misaligned
OK(variable_misaligned) { if (T == 0) *(int2*)(counts + 2) = make_int2(1, 2); }
BAD(variable_lock_without_fence) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&turn, 0, 1) != 0) {}
    shared_sum += 1;  // fault: variable_lock_without_fence
    atomicExch(&turn, 0);
  }
}
OK(variable_lock_without_fence) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&turn, 0, 1) != 0) {}
    __threadfence();
    shared_sum += 1;
    __threadfence();
    atomicExch(&turn, 0);
  }
}

BAD(volatile_reduction) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];
  if (threadIdx.x < 8) out[T] = s[threadIdx.x] + s[threadIdx.x + 8];  // fault: volatile_reduction
}
OK(volatile_reduction) {
  __shared__ volatile int s[64];
  s[threadIdx.x] = T;
  __syncthreads();
  if (threadIdx.x < 16) s[threadIdx.x] += s[threadIdx.x + 16];
  __syncwarp();
  if (threadIdx.x < 8) out[T] = s[threadIdx.x] + s[threadIdx.x + 8];
}
__device__ volatile int ready;
__device__ int message;
BAD(volatile_flag_without_acquire) {
  if (T == 0) { message = 5; __threadfence(); ready = 1; }
  if (T == LAST) {
    while (ready == 0) {}
    out[0] = message;  // fault: volatile_flag_without_acquire
  }
}
OK(volatile_flag_without_acquire) {
  if (T == 0) { message = 5; __threadfence(); ready = 1; }
  if (T == LAST) {
    while (ready == 0) {}
    __threadfence();
    out[0] = message;
  }
}
__device__ volatile int lane;
BAD(volatile_store_of_all) {
  lane = T;  // fault: volatile_store_of_all
}
OK(volatile_store_of_all) { if (T == 0) lane = T; }
__device__ int latch, guarded;
BAD(lock_without_acquire) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&latch, 0, 1) != 0) {}
    guarded += 1;  // fault: lock_without_acquire
    __threadfence();
    atomicExch(&latch, 0);
  }
}
OK(lock_without_acquire) {
  if (threadIdx.x == 0) {
    while (atomicCAS(&latch, 0, 1) != 0) {}
    __threadfence();
    guarded += 1;
    __threadfence();
    *(volatile int*)&latch = 0;
  }
}
BAD(fence_of_the_block) {
  if (T == 0) { message = 6; __threadfence_block(); atomicExch(&guarded, 1); }
  if (T == LAST) {
    while (atomicAdd(&guarded, 0) == 0) {}
    __threadfence();
    out[0] = message;  // fault: fence_of_the_block
  }
}
OK(fence_of_the_block) {
  if (T == 0) { message = 6; __threadfence_block(); atomicExch(&guarded, 1); }
  if (T == int(blockDim.x) - 1) {
    while (atomicAdd(&guarded, 0) == 0) {}
    __threadfence_block();
    out[0] = message;
  }
}
__device__ int votes;
BAD(atomic_of_the_block) {
  if (threadIdx.x == 0) atomicAdd_block(&votes, 1);  // fault: atomic_of_the_block
}
OK(atomic_of_the_block) {
  if (blockIdx.x == 0) atomicAdd_block(&votes, 1);
}
