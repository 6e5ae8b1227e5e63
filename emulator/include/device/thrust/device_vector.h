// Thrust's device_vector, with the lists of values that it takes since version 2.
#pragma once
#include <thrust/version.h>

#if THRUST_VERSION >= 200000
#include_next <thrust/device_vector.h>
#else
#define device_vector device_vector_without_lists
#include_next <thrust/device_vector.h>
#undef device_vector

#include <initializer_list>

THRUST_NAMESPACE_BEGIN
template <class T, class Alloc = device_allocator<T>>
class device_vector : public device_vector_without_lists<T, Alloc> {
  using Base = device_vector_without_lists<T, Alloc>;

 public:
  using Base::Base;
  using Base::operator=;
  device_vector() = default;
  device_vector(std::initializer_list<T> list) : Base(list.begin(), list.end()) {}
  device_vector& operator=(std::initializer_list<T> list) {
    this->assign(list.begin(), list.end());
    return *this;
  }
};
THRUST_NAMESPACE_END
#endif
