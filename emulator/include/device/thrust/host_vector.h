// Thrust's host_vector, with the lists of values that it takes since version 2.
#pragma once
#include <thrust/version.h>

#if THRUST_VERSION >= 200000
#include_next <thrust/host_vector.h>
#else
#define host_vector host_vector_without_lists
#include_next <thrust/host_vector.h>
#undef host_vector

#include <initializer_list>

THRUST_NAMESPACE_BEGIN
template <class T, class Alloc = std::allocator<T>>
class host_vector : public host_vector_without_lists<T, Alloc> {
  using Base = host_vector_without_lists<T, Alloc>;

 public:
  using Base::Base;
  using Base::operator=;
  host_vector() = default;
  host_vector(std::initializer_list<T> list) : Base(list.begin(), list.end()) {}
  host_vector& operator=(std::initializer_list<T> list) {
    this->assign(list.begin(), list.end());
    return *this;
  }
};
THRUST_NAMESPACE_END
#endif
