// The runtime's errors as Thrust's exceptions carry them.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/system/error_code.h>

#include <string>

#ifdef ISOMER_EMULATOR_HIP
#include "hip_runtime.h"
#else
#include "cuda_runtime.h"
#endif

THRUST_NAMESPACE_BEGIN
namespace system {
namespace detail {
class runtime_category final : public error_category {
 public:
  const char* name() const override { return "cuda"; }
  std::string message(int code) const override {
#ifdef ISOMER_EMULATOR_HIP
    return hipGetErrorString(static_cast<hipError_t>(code));
#else
    return cudaGetErrorString(static_cast<cudaError_t>(code));
#endif
  }
};
}  // namespace detail
inline const error_category& cuda_category() {
  static const detail::runtime_category category;
  return category;
}
}  // namespace system
using system::cuda_category;
namespace cuda_cub {
using thrust::system::cuda_category;
}
THRUST_NAMESPACE_END
