// In place of Thrust's own: what its sequential system allocates is device memory.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/detail/sequential/execution_policy.h>
#include <thrust/system_error.h>

#include "../../../../isomer_emulator/thrust_memory.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace detail {
namespace sequential {
template <class Policy>
inline void* malloc(execution_policy<Policy>&, std::size_t n) {
  return ::isomer::emulator::thrust_malloc(n);
}
template <class Policy, class Pointer>
inline void free(execution_policy<Policy>&, Pointer pointer) {
  ::isomer::emulator::thrust_free(thrust::raw_pointer_cast(pointer));
}
}  // namespace sequential
}  // namespace detail
}  // namespace system
THRUST_NAMESPACE_END
