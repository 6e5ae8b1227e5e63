// CUB's algorithms of a whole device, done on the host one element after another. What pointers name is
// copied here and back, so that a range that no buffer has is refused as a copy's would be. Each algorithm
// asks for some temporary storage and uses none.
#pragma once

#include <algorithm>
#include <chrono>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "cub_operators.h"
#ifdef ISOMER_EMULATOR_HIP
#include "hip_runtime.h"
#else
#include "cuda_runtime.h"
#endif

namespace cub {
#ifdef ISOMER_EMULATOR_HIP
using Status = hipError_t;
using Stream = hipStream_t;
#else
using Status = cudaError_t;
using Stream = cudaStream_t;
#endif
namespace detail {

template <class Iterator>
using ValueOf = std::remove_cv_t<std::remove_reference_t<decltype(*std::declval<Iterator&>())>>;

constexpr int kAnyDirection = 4;

/// False where the copy was refused.
template <class Iterator, class T>
bool bring(Iterator from, std::vector<T>& to, std::size_t count) {
  to.resize(count);
  if constexpr (std::is_pointer_v<Iterator> && std::is_same_v<ValueOf<Iterator>, T>) {
    return count == 0 || isomer_emulator_copy(to.data(), from, count * sizeof(T), kAnyDirection) == 0;
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<T>(from[i]);
    return true;
  }
}
template <class Iterator, class T>
Status take(Iterator to, const std::vector<T>& from) {
  if constexpr (std::is_pointer_v<Iterator>) {
    using Out = ValueOf<Iterator>;
    const std::vector<Out> converted(from.begin(), from.end());
    if (converted.empty()) return Status(0);
    return static_cast<Status>(
        isomer_emulator_copy(to, converted.data(), converted.size() * sizeof(Out), kAnyDirection));
  } else {
    for (std::size_t i = 0; i < from.size(); ++i) to[i] = from[i];
    return Status(0);
  }
}
/// The first of an algorithm's two calls asks how much room it needs.
inline bool asks(const void* storage, std::size_t& bytes) {
  if (storage == nullptr) bytes = 256;
  return storage == nullptr;
}
inline Status refused() { return static_cast<Status>(isomer_emulator_last_error(0)); }

template <class In, class Out, class Op, class T>
Status reduce(void* storage, std::size_t& bytes, In in, Out out, std::size_t count, Op op, T first) {
  if (asks(storage, bytes)) return Status(0);
  std::vector<ValueOf<In>> values;
  if (!bring(in, values, count)) return refused();
  T total = first;
  for (const auto& v : values) total = op(total, v);
  return take(out, std::vector<T>{total});
}
template <class In, class Out, class Op, class T>
Status scan(void* storage, std::size_t& bytes, In in, Out out, Op op, T first, std::size_t count,
            bool inclusive, bool from_first = true) {
  if (asks(storage, bytes)) return Status(0);
  std::vector<ValueOf<In>> values;
  if (!bring(in, values, count)) return refused();
  std::vector<T> sums(count);
  T running = first;
  for (std::size_t i = 0; i < count; ++i) {
    const T next = i == 0 && !from_first ? static_cast<T>(values[i]) : static_cast<T>(op(running, values[i]));
    sums[i] = inclusive ? next : running;
    running = next;
  }
  return take(out, sums);
}
/// Of the bits from `begin` to `end` only; integers and floats in their own order.
template <class K>
std::uint64_t digits(K key, int begin, int end) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &key, sizeof key);
  const std::uint64_t top = std::uint64_t{1} << (8 * sizeof(K) - 1);
  if constexpr (std::is_floating_point_v<K>) {
    bits = bits & top ? ~bits : bits | top;
  } else if constexpr (std::is_signed_v<K>) {
    bits ^= top;
  }
  bits >>= begin;
  return end - begin >= 64 ? bits : bits & ((std::uint64_t{1} << (end - begin)) - 1);
}
template <class K, class V>
Status sort(void* storage, std::size_t& bytes, const K* keys_in, K* keys_out, const V* values_in,
            V* values_out, std::size_t count, int begin, int end, bool descending) {
  if (asks(storage, bytes)) return Status(0);
  std::vector<K> keys;
  std::vector<V> values;
  if (!bring(keys_in, keys, count) || (values_in && !bring(values_in, values, count))) return refused();
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::uint64_t left = digits(keys[a], begin, end), right = digits(keys[b], begin, end);
    return descending ? left > right : left < right;
  });
  std::vector<K> sorted(count);
  std::vector<V> moved(values.size());
  for (std::size_t i = 0; i < count; ++i) {
    sorted[i] = keys[order[i]];
    if (!moved.empty()) moved[i] = values[order[i]];
  }
  const Status left = take(keys_out, sorted);
  return left != Status(0) || !values_in ? left : take(values_out, moved);
}
template <class In, class Out, class Number, class Keeps>
Status select(void* storage, std::size_t& bytes, In in, Out out, Number selected, std::size_t count,
              Keeps keeps) {
  if (asks(storage, bytes)) return Status(0);
  std::vector<ValueOf<In>> values, kept;
  if (!bring(in, values, count)) return refused();
  for (std::size_t i = 0; i < count; ++i)
    if (keeps(values, i)) kept.push_back(values[i]);
  const Status left = take(out, kept);
  return left != Status(0) ? left : take(selected, std::vector<std::size_t>{kept.size()});
}

}  // namespace detail

template <class T>
struct DoubleBuffer {
  T* d_buffers[2] = {};
  int selector = 0;
  DoubleBuffer() = default;
  DoubleBuffer(T* current, T* other) : d_buffers{current, other} {}
  T* Current() { return d_buffers[selector]; }
  T* Alternate() { return d_buffers[selector ^ 1]; }
};

struct DeviceReduce {
  template <class In, class Out, class Op, class T>
  static Status Reduce(void* storage, std::size_t& bytes, In in, Out out, std::size_t count, Op op, T first,
                       Stream = nullptr) {
    return detail::reduce(storage, bytes, in, out, count, op, first);
  }
  template <class In, class Out>
  static Status Sum(void* storage, std::size_t& bytes, In in, Out out, std::size_t count, Stream = nullptr) {
    using T = detail::ValueOf<Out>;
    return detail::reduce(
        storage, bytes, in, out, count, [](const T& a, const auto& b) -> T { return a + b; }, T{});
  }
  template <class In, class Out>
  static Status Min(void* storage, std::size_t& bytes, In in, Out out, std::size_t count, Stream = nullptr) {
    using T = detail::ValueOf<In>;
    return detail::reduce(
        storage, bytes, in, out, count, [](const T& a, const T& b) { return b < a ? b : a; },
        std::numeric_limits<T>::max());
  }
  template <class In, class Out>
  static Status Max(void* storage, std::size_t& bytes, In in, Out out, std::size_t count, Stream = nullptr) {
    using T = detail::ValueOf<In>;
    return detail::reduce(
        storage, bytes, in, out, count, [](const T& a, const T& b) { return a < b ? b : a; },
        std::numeric_limits<T>::lowest());
  }
};

struct DeviceScan {
  // In place: one iterator to read and to write. A count is told from an iterator by its type.
  template <class It, class N, class = ::std::enable_if_t<::std::is_integral_v<N>>>
  static Status ExclusiveSum(void* storage, std::size_t& bytes, It data, N count, Stream = nullptr) {
    return ExclusiveSum(storage, bytes, data, data, static_cast<std::size_t>(count));
  }
  template <class It, class N, class = ::std::enable_if_t<::std::is_integral_v<N>>>
  static Status InclusiveSum(void* storage, std::size_t& bytes, It data, N count, Stream = nullptr) {
    return InclusiveSum(storage, bytes, data, data, static_cast<std::size_t>(count));
  }
  template <class It, class Op, class T, class N, class = ::std::enable_if_t<::std::is_integral_v<N> && ::std::is_class_v<Op>>>
  static Status ExclusiveScan(void* storage, std::size_t& bytes, It data, Op op, T first, N count, Stream = nullptr) {
    return ExclusiveScan(storage, bytes, data, data, op, first, static_cast<std::size_t>(count));
  }
  template <class It, class Op, class N, class = ::std::enable_if_t<::std::is_integral_v<N> && ::std::is_class_v<Op>>>
  static Status InclusiveScan(void* storage, std::size_t& bytes, It data, Op op, N count, Stream = nullptr) {
    return InclusiveScan(storage, bytes, data, data, op, static_cast<std::size_t>(count));
  }
  template <class In, class Out, class Op, class T>
  static Status InclusiveScanInit(void* storage, std::size_t& bytes, In in, Out out, Op op, T first, std::size_t count,
                                  Stream = nullptr) {
    return detail::scan(storage, bytes, in, out, op, first, count, true);
  }
  template <class In, class Out, class = ::std::enable_if_t<!::std::is_integral_v<Out>>>
  static Status ExclusiveSum(void* storage, std::size_t& bytes, In in, Out out, std::size_t count,
                             Stream = nullptr) {
    using T = detail::ValueOf<In>;
    return detail::scan(
        storage, bytes, in, out, [](const T& a, const T& b) -> T { return a + b; }, T{}, count, false);
  }
  template <class In, class Out, class = ::std::enable_if_t<!::std::is_integral_v<Out>>>
  static Status InclusiveSum(void* storage, std::size_t& bytes, In in, Out out, std::size_t count,
                             Stream = nullptr) {
    using T = detail::ValueOf<In>;
    return detail::scan(
        storage, bytes, in, out, [](const T& a, const T& b) -> T { return a + b; }, T{}, count, true);
  }
  template <class In, class Out, class Op, class T>
  static Status ExclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op, T first,
                              std::size_t count, Stream = nullptr) {
    return detail::scan(storage, bytes, in, out, op, first, count, false);
  }
  template <class In, class Out, class Op>
  static Status InclusiveScan(void* storage, std::size_t& bytes, In in, Out out, Op op, std::size_t count,
                              Stream = nullptr) {
    return detail::scan(storage, bytes, in, out, op, detail::ValueOf<In>{}, count, true, false);
  }
};

struct DeviceRadixSort {
#define ISOMER_CUB_SORT(NAME, DESCENDING)                                                                    \
  template <class K>                                                                                         \
  static Status SortKeys##NAME(void* storage, std::size_t& bytes, const K* in, K* out, std::size_t count,    \
                               int begin = 0, int end = 8 * sizeof(K), Stream = nullptr) {                   \
    const char* none = nullptr;                                                                              \
    return detail::sort(storage, bytes, in, out, none, static_cast<char*>(nullptr), count, begin, end,       \
                        DESCENDING);                                                                         \
  }                                                                                                          \
  template <class K, class V>                                                                                \
  static Status SortPairs##NAME(void* storage, std::size_t& bytes, const K* in, K* out, const V* values_in,  \
                                V* values_out, std::size_t count, int begin = 0, int end = 8 * sizeof(K),    \
                                Stream = nullptr) {                                                          \
    return detail::sort(storage, bytes, in, out, values_in, values_out, count, begin, end, DESCENDING);      \
  }                                                                                                          \
  template <class K>                                                                                         \
  static Status SortKeys##NAME(void* storage, std::size_t& bytes, DoubleBuffer<K>& keys, std::size_t count,  \
                               int begin = 0, int end = 8 * sizeof(K), Stream = nullptr) {                   \
    const Status e = SortKeys##NAME(storage, bytes, static_cast<const K*>(keys.Current()), keys.Alternate(), \
                                    count, begin, end);                                                      \
    if (storage) keys.selector ^= 1;                                                                         \
    return e;                                                                                                \
  }                                                                                                          \
  template <class K, class V>                                                                                \
  static Status SortPairs##NAME(void* storage, std::size_t& bytes, DoubleBuffer<K>& keys,                    \
                                DoubleBuffer<V>& values, std::size_t count, int begin = 0,                   \
                                int end = 8 * sizeof(K), Stream = nullptr) {                                 \
    const Status e =                                                                                         \
        SortPairs##NAME(storage, bytes, static_cast<const K*>(keys.Current()), keys.Alternate(),             \
                        static_cast<const V*>(values.Current()), values.Alternate(), count, begin, end);     \
    if (storage) keys.selector ^= 1, values.selector ^= 1;                                                   \
    return e;                                                                                                \
  }
  ISOMER_CUB_SORT(, false)
  ISOMER_CUB_SORT(Descending, true)
#undef ISOMER_CUB_SORT
};

struct DeviceSelect {
  template <class In, class Flags, class Out, class Number>
  static Status Flagged(void* storage, std::size_t& bytes, In in, Flags flags, Out out, Number selected,
                        std::size_t count, Stream = nullptr) {
    std::vector<detail::ValueOf<Flags>> wanted;
    if (storage && !detail::bring(flags, wanted, count)) return detail::refused();
    return detail::select(storage, bytes, in, out, selected, count,
                          [&](const auto&, std::size_t i) { return static_cast<bool>(wanted[i]); });
  }
  template <class In, class Out, class Number, class Op>
  static Status If(void* storage, std::size_t& bytes, In in, Out out, Number selected, std::size_t count,
                   Op op, Stream = nullptr) {
    return detail::select(storage, bytes, in, out, selected, count, [&](const auto& values, std::size_t i) {
      return static_cast<bool>(op(values[i]));
    });
  }
  template <class In, class Out, class Number>
  static Status Unique(void* storage, std::size_t& bytes, In in, Out out, Number selected, std::size_t count,
                       Stream = nullptr) {
    return detail::select(storage, bytes, in, out, selected, count, [](const auto& values, std::size_t i) {
      return i == 0 || !(values[i] == values[i - 1]);
    });
  }
};

}  // namespace cub
