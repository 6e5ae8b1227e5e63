// thrust::cuda::par and thrust::hip::par: the device's policy, on whatever stream; an allocator is not asked.
#pragma once
#include <thrust/system/cpp/detail/par.h>

THRUST_NAMESPACE_BEGIN
namespace detail {
struct on_any_stream : thrust::system::cpp::detail::par_t {
  template <class Stream>
  constexpr on_any_stream on(Stream) const {
    return {};
  }
  template <class Allocator>
  constexpr on_any_stream operator()(Allocator&&) const {
    return {};
  }
};
}  // namespace detail
namespace cuda {
inline constexpr thrust::detail::on_any_stream par{}, par_nosync{};
}
namespace cuda_cub {
using thrust::cuda::par;
using thrust::cuda::par_nosync;
}  // namespace cuda_cub
namespace hip {
using thrust::cuda::par;
using thrust::cuda::par_nosync;
}  // namespace hip
namespace system {
namespace cuda {
using thrust::cuda::par;
using thrust::cuda::par_nosync;
}  // namespace cuda
}  // namespace system
THRUST_NAMESPACE_END
