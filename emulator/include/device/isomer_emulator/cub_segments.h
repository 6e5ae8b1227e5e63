// CUB's runs, segments, histograms and merge sort of a whole device, on the host as in cub_device.h.
#pragma once

#include "cub_device.h"

namespace cub {

struct DeviceRunLengthEncode {
  template <class In, class Out, class Lengths, class Number>
  static Status Encode(void* storage, std::size_t& bytes, In in, Out unique, Lengths lengths, Number runs,
                       std::size_t count, Stream = nullptr) {
    if (detail::asks(storage, bytes)) return Status(0);
    std::vector<detail::ValueOf<In>> values, kept;
    std::vector<std::size_t> longs;
    if (!detail::bring(in, values, count)) return detail::refused();
    for (const auto& v : values) {
      if (kept.empty() || !(kept.back() == v)) kept.push_back(v), longs.push_back(0);
      ++longs.back();
    }
    if (const Status left = detail::take(unique, kept); left != Status(0)) return left;
    if (const Status left = detail::take(lengths, longs); left != Status(0)) return left;
    return detail::take(runs, std::vector<std::size_t>{kept.size()});
  }
};

struct DeviceSegmentedReduce {
  template <class In, class Out, class Begins, class Ends, class Op, class T>
  static Status Reduce(void* storage, std::size_t& bytes, In in, Out out, std::size_t segments, Begins begins,
                       Ends ends, Op op, T first, Stream = nullptr) {
    if (detail::asks(storage, bytes)) return Status(0);
    std::vector<detail::ValueOf<Begins>> from;
    std::vector<detail::ValueOf<Ends>> to;
    if (!detail::bring(begins, from, segments) || !detail::bring(ends, to, segments))
      return detail::refused();
    std::vector<T> totals(segments, first);
    for (std::size_t s = 0; s < segments; ++s) {
      std::vector<detail::ValueOf<In>> values;
      if (from[s] < to[s] && !detail::bring(in + from[s], values, to[s] - from[s])) return detail::refused();
      for (const auto& v : values) totals[s] = op(totals[s], v);
    }
    return detail::take(out, totals);
  }
  template <class In, class Out, class Begins, class Ends>
  static Status Sum(void* storage, std::size_t& bytes, In in, Out out, std::size_t segments, Begins begins,
                    Ends ends, Stream = nullptr) {
    using T = detail::ValueOf<Out>;
    return Reduce(
        storage, bytes, in, out, segments, begins, ends, [](const T& a, const auto& b) -> T { return a + b; },
        T{});
  }
  template <class In, class Out, class Begins, class Ends>
  static Status Max(void* storage, std::size_t& bytes, In in, Out out, std::size_t segments, Begins begins,
                    Ends ends, Stream = nullptr) {
    using T = detail::ValueOf<In>;
    return Reduce(
        storage, bytes, in, out, segments, begins, ends, [](const T& a, const T& b) { return a < b ? b : a; },
        std::numeric_limits<T>::lowest());
  }
  template <class In, class Out, class Begins, class Ends>
  static Status Min(void* storage, std::size_t& bytes, In in, Out out, std::size_t segments, Begins begins,
                    Ends ends, Stream = nullptr) {
    using T = detail::ValueOf<In>;
    return Reduce(
        storage, bytes, in, out, segments, begins, ends, [](const T& a, const T& b) { return b < a ? b : a; },
        std::numeric_limits<T>::max());
  }
};

struct DeviceHistogram {
  template <class In, class Count, class Level>
  static Status HistogramEven(void* storage, std::size_t& bytes, In in, Count* counts, int levels,
                              Level lowest, Level highest, std::size_t samples, Stream = nullptr) {
    if (detail::asks(storage, bytes)) return Status(0);
    std::vector<detail::ValueOf<In>> values;
    if (!detail::bring(in, values, samples)) return detail::refused();
    std::vector<Count> found(levels - 1);
    for (const auto& v : values) {
      const auto level = static_cast<Level>(v);
      if (level < lowest || !(level < highest)) continue;
      using Wide = std::conditional_t<std::is_floating_point_v<Level>, double, long long>;
      const auto bin = Wide(level - lowest) * (levels - 1) / Wide(highest - lowest);
      ++found[std::min(static_cast<std::size_t>(bin), found.size() - 1)];
    }
    return detail::take(counts, found);
  }
  template <class In, class Count, class Level>
  static Status HistogramRange(void* storage, std::size_t& bytes, In in, Count* counts, int levels,
                               const Level* bounds, std::size_t samples, Stream = nullptr) {
    if (detail::asks(storage, bytes)) return Status(0);
    std::vector<detail::ValueOf<In>> values;
    std::vector<Level> edges;
    if (!detail::bring(in, values, samples) || !detail::bring(bounds, edges, levels))
      return detail::refused();
    std::vector<Count> found(levels - 1);
    for (const auto& v : values) {
      const auto above = std::upper_bound(edges.begin(), edges.end(), static_cast<Level>(v));
      if (above != edges.begin() && above != edges.end()) ++found[above - edges.begin() - 1];
    }
    return detail::take(counts, found);
  }
};

struct DeviceMergeSort {
  template <class Keys, class Less>
  static Status SortKeys(void* storage, std::size_t& bytes, Keys keys, std::size_t count, Less less,
                         Stream = nullptr) {
    if (detail::asks(storage, bytes)) return Status(0);
    std::vector<detail::ValueOf<Keys>> values;
    if (!detail::bring(keys, values, count)) return detail::refused();
    std::stable_sort(values.begin(), values.end(), less);
    return detail::take(keys, values);
  }
  template <class Keys, class Less>
  static Status StableSortKeys(void* storage, std::size_t& bytes, Keys keys, std::size_t count, Less less,
                               Stream = nullptr) {
    return SortKeys(storage, bytes, keys, count, less);
  }
  template <class Keys, class Items, class Less>
  static Status SortPairs(void* storage, std::size_t& bytes, Keys keys, Items items, std::size_t count,
                          Less less, Stream = nullptr) {
    if (detail::asks(storage, bytes)) return Status(0);
    std::vector<detail::ValueOf<Keys>> values, sorted;
    std::vector<detail::ValueOf<Items>> beside, moved;
    if (!detail::bring(keys, values, count) || !detail::bring(items, beside, count)) return detail::refused();
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return less(values[a], values[b]); });
    for (const std::size_t i : order) sorted.push_back(values[i]), moved.push_back(beside[i]);
    const Status left = detail::take(keys, sorted);
    return left != Status(0) ? left : detail::take(items, moved);
  }
  template <class Keys, class Items, class Less>
  static Status StableSortPairs(void* storage, std::size_t& bytes, Keys keys, Items items, std::size_t count,
                                Less less, Stream = nullptr) {
    return SortPairs(storage, bytes, keys, items, count, less);
  }
};

}  // namespace cub
