// CUB's iterators whose values no memory holds: a constant, a count, a function of what another names.
#pragma once

#include <cstddef>
#include <iterator>

namespace cub {
namespace detail {
/// What every one of them has beside its value at an offset.
template <class Self, class T>
struct Computed {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = T*;
  using reference = T;
  std::ptrdiff_t offset = 0;
  T operator*() const { return self().at(offset); }
  T operator[](std::ptrdiff_t i) const { return self().at(offset + i); }
  Self operator+(std::ptrdiff_t n) const {
    Self moved = self();
    moved.offset += n;
    return moved;
  }
  Self operator-(std::ptrdiff_t n) const { return *this + -n; }
  std::ptrdiff_t operator-(const Self& other) const { return offset - other.offset; }
  Self& operator+=(std::ptrdiff_t n) {
    offset += n;
    return static_cast<Self&>(*this);
  }
  Self& operator++() { return *this += 1; }
  Self operator++(int) {
    const Self before = self();
    ++offset;
    return before;
  }
  bool operator==(const Self& other) const { return offset == other.offset; }
  bool operator!=(const Self& other) const { return offset != other.offset; }
  bool operator<(const Self& other) const { return offset < other.offset; }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};
}  // namespace detail

/// What is written there is nobody's.
template <class = std::ptrdiff_t>
struct DiscardOutputIterator {
  struct Sink {
    template <class T>
    const Sink& operator=(const T&) const {
      return *this;
    }
  };
  using iterator_category = std::random_access_iterator_tag;
  using value_type = void;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Sink;
  std::ptrdiff_t offset = 0;
  explicit DiscardOutputIterator(std::ptrdiff_t at = 0) : offset(at) {}
  Sink operator*() const { return {}; }
  Sink operator[](std::ptrdiff_t) const { return {}; }
  DiscardOutputIterator operator+(std::ptrdiff_t n) const { return DiscardOutputIterator(offset + n); }
  std::ptrdiff_t operator-(const DiscardOutputIterator& other) const { return offset - other.offset; }
  DiscardOutputIterator& operator++() {
    ++offset;
    return *this;
  }
};

template <class T, class = std::ptrdiff_t>
struct ConstantInputIterator : detail::Computed<ConstantInputIterator<T>, T> {
  T value;
  ConstantInputIterator(T v, std::ptrdiff_t = 0) : value(v) {}
  T at(std::ptrdiff_t) const { return value; }
};
template <class T, class = std::ptrdiff_t>
struct CountingInputIterator : detail::Computed<CountingInputIterator<T>, T> {
  T first;
  CountingInputIterator(T v) : first(v) {}
  T at(std::ptrdiff_t i) const { return static_cast<T>(first + i); }
};
template <class T, class Function, class Iterator, class = std::ptrdiff_t>
struct TransformInputIterator : detail::Computed<TransformInputIterator<T, Function, Iterator>, T> {
  Iterator values;
  Function function;
  TransformInputIterator(Iterator v, Function f) : values(v), function(f) {}
  T at(std::ptrdiff_t i) const { return function(values[i]); }
};

}  // namespace cub
