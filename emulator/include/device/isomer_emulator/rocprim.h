// rocPRIM's names: a block's operations as CUB has them, and a device's algorithms done on the host.
#pragma once

#include "cub.h"

#ifndef HIPCUB_ROCPRIM_API
#define ROCPRIM_HIP_VERSION 60000000
#endif

namespace rocprim {

template <class T = void>
struct plus {
  __host__ __device__ T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T = void>
struct multiplies {
  __host__ __device__ T operator()(const T& a, const T& b) const { return a * b; }
};
template <class T = void>
struct minimum {
  __host__ __device__ T operator()(const T& a, const T& b) const { return a < b ? a : b; }
};
template <class T = void>
struct maximum {
  __host__ __device__ T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T = void>
struct less {
  __host__ __device__ bool operator()(const T& a, const T& b) const { return a < b; }
};
template <class T = void>
struct greater {
  __host__ __device__ bool operator()(const T& a, const T& b) const { return b < a; }
};

// A device's algorithms: the first call asks for room, the second works.
template <class In, class Out, class T, class Op = plus<T>>
hipError_t reduce(void* storage, std::size_t& bytes, In in, Out out, T first, std::size_t count, Op op = Op(),
                  hipStream_t = nullptr, bool = false) {
  return cub::detail::reduce(storage, bytes, in, out, count, op, first);
}
template <class In, class Out, class Op = plus<cub::detail::ValueOf<In>>,
          class = decltype(std::declval<Op>()(*std::declval<In>(), *std::declval<In>()))>
hipError_t reduce(void* storage, std::size_t& bytes, In in, Out out, std::size_t count, Op op = Op(),
                  hipStream_t = nullptr, bool = false) {
  return cub::detail::reduce(storage, bytes, in, out, count, op, cub::detail::ValueOf<In>{});
}
template <class In, class Out, class Op = plus<cub::detail::ValueOf<In>>>
hipError_t inclusive_scan(void* storage, std::size_t& bytes, In in, Out out, std::size_t count, Op op = Op(),
                          hipStream_t = nullptr, bool = false) {
  return cub::detail::scan(storage, bytes, in, out, op, cub::detail::ValueOf<In>{}, count, true, false);
}
template <class In, class Out, class T, class Op = plus<T>>
hipError_t exclusive_scan(void* storage, std::size_t& bytes, In in, Out out, T first, std::size_t count,
                          Op op = Op(), hipStream_t = nullptr, bool = false) {
  return cub::detail::scan(storage, bytes, in, out, op, first, count, false);
}
#define ISOMER_EMULATOR_ROCPRIM_SORT(SUFFIX, DESCENDING)                                                   \
  template <class K>                                                                                       \
  hipError_t radix_sort_keys##SUFFIX(void* storage, std::size_t& bytes, const K* in, K* out,               \
                                     std::size_t count, unsigned begin = 0, unsigned end = 8 * sizeof(K),  \
                                     hipStream_t = nullptr, bool = false) {                                \
    return cub::detail::sort(storage, bytes, in, out, static_cast<const int*>(nullptr),                    \
                             static_cast<int*>(nullptr), count, static_cast<int>(begin),                   \
                             static_cast<int>(end), DESCENDING);                                           \
  }                                                                                                        \
  template <class K, class V>                                                                              \
  hipError_t radix_sort_pairs##SUFFIX(void* storage, std::size_t& bytes, const K* in, K* out,              \
                                      const V* values, V* moved, std::size_t count, unsigned begin = 0,    \
                                      unsigned end = 8 * sizeof(K), hipStream_t = nullptr, bool = false) { \
    return cub::detail::sort(storage, bytes, in, out, values, moved, count, static_cast<int>(begin),       \
                             static_cast<int>(end), DESCENDING);                                           \
  }
ISOMER_EMULATOR_ROCPRIM_SORT(, false)
ISOMER_EMULATOR_ROCPRIM_SORT(_desc, true)
#undef ISOMER_EMULATOR_ROCPRIM_SORT
template <class In, class Out, class Op>
hipError_t transform(In in, Out out, std::size_t count, Op op, hipStream_t = nullptr, bool = false) {
  std::vector<cub::detail::ValueOf<In>> values;
  if (!cub::detail::bring(in, values, count)) return cub::detail::refused();
  std::vector<std::decay_t<decltype(op(values[0]))>> results;
  for (const auto& v : values) results.push_back(op(v));
  return cub::detail::take(out, results);
}

// A block's operations.
template <class T, unsigned X, unsigned Items = 1>
class block_load {
 public:
  struct storage_type {};
  template <class In>
  __device__ void load(In from, T (&items)[Items]) {
    for (unsigned i = 0; i < Items; ++i) items[i] = from[threadIdx.x * Items + i];
  }
  template <class In>
  __device__ void load(In from, T (&items)[Items], storage_type&) {
    load(from, items);
  }
  template <class In>
  __device__ void load(In from, T (&items)[Items], unsigned valid) {
    for (unsigned i = 0; i < Items; ++i)
      if (threadIdx.x * Items + i < valid) items[i] = from[threadIdx.x * Items + i];
  }
  template <class In, class Default>
  __device__ void load(In from, T (&items)[Items], unsigned valid, Default otherwise) {
    for (unsigned i = 0; i < Items; ++i) items[i] = static_cast<T>(otherwise);
    load(from, items, valid);
  }
};
template <class T, unsigned X, unsigned Items = 1>
class block_store {
 public:
  struct storage_type {};
  template <class Out>
  __device__ void store(Out to, T (&items)[Items]) {
    for (unsigned i = 0; i < Items; ++i) to[threadIdx.x * Items + i] = items[i];
  }
  template <class Out>
  __device__ void store(Out to, T (&items)[Items], storage_type&) {
    store(to, items);
  }
};
enum class block_reduce_algorithm { using_warp_reduce, raking_reduce, default_algorithm = using_warp_reduce };
template <class T, unsigned X, block_reduce_algorithm = block_reduce_algorithm::default_algorithm>
class block_reduce {
  using Block = cub::BlockReduce<T, static_cast<int>(X)>;

 public:
  using storage_type = typename Block::TempStorage;
  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, storage_type& storage, Op op = Op()) {
    output = Block(storage).Reduce(input, op);
  }
  template <class Op = plus<T>>
  __device__ void reduce(T input, T& output, Op op = Op()) {
    reduce(input, output, cub::detail::own_storage<storage_type>("block_reduce's own storage"), op);
  }
  template <unsigned Items, class Op = plus<T>>
  __device__ void reduce(T (&input)[Items], T& output, Op op = Op()) {
    reduce(input, output, cub::detail::own_storage<storage_type>("block_reduce's own storage"), op);
  }
  template <unsigned Items, class Op = plus<T>>
  __device__ void reduce(T (&input)[Items], T& output, storage_type& storage, Op op = Op()) {
    T own = input[0];
    for (unsigned i = 1; i < Items; ++i) own = op(own, input[i]);
    output = Block(storage).Reduce(own, op);
  }
};
template <class T, unsigned X>
class block_scan {
  using Block = cub::BlockScan<T, static_cast<int>(X)>;

 public:
  using storage_type = typename Block::TempStorage;
  template <class Op = plus<T>>
  __device__ void inclusive_scan(T input, T& output, storage_type& storage, Op op = Op()) {
    Block(storage).InclusiveScan(input, output, op);
  }
  template <class Op = plus<T>>
  __device__ void inclusive_scan(T input, T& output, Op op = Op()) {
    inclusive_scan(input, output, cub::detail::own_storage<storage_type>("block_scan's own storage"), op);
  }
  template <class Op = plus<T>>
  __device__ void exclusive_scan(T input, T& output, T first, Op op = Op()) {
    exclusive_scan(input, output, first, cub::detail::own_storage<storage_type>("block_scan's own storage"), op);
  }
  template <class Op = plus<T>>
  __device__ void exclusive_scan(T input, T& output, T first, storage_type& storage, Op op = Op()) {
    Block(storage).ExclusiveScan(input, output, first, op);
  }
};

}  // namespace rocprim
