#pragma once

#include "lab/launches/inject/hip/recorder.hpp"
#include "lab/launches/inject/hip/sdk.hpp"

#include <vector>

namespace isomer::inject {

/// HIP's calls that launch, allocate and free, and that find a module's function.
const std::vector<rocprofiler_tracing_operation_t>& heard_hip_calls();

/// The launch that a call makes; false where it makes none.
bool launch_of(rocprofiler_tracing_operation_t call, const rocprofiler_hip_api_args_t& arguments,
               HipCall& launch);

/// A call has ended well: what it says of memory and of functions.
void heard_hip(rocprofiler_tracing_operation_t call, const rocprofiler_hip_api_args_t& arguments,
               HipRecorder& recorder);

}  // namespace isomer::inject
