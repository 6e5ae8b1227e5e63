// With the policies of the devices that are named by their vendor, and thrust::device, which takes a stream as they do.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/detail/execute_with_allocator.h>
#include <thrust/detail/execution_policy.h>
#include <thrust/detail/seq.h>
#include <thrust/system/cpp/execution_policy.h>

#define device device_without_streams
#include_next <thrust/execution_policy.h>
#undef device

#include "../isomer_emulator/thrust_policies.h"

THRUST_NAMESPACE_BEGIN
inline constexpr thrust::detail::on_any_stream device{};
THRUST_NAMESPACE_END
