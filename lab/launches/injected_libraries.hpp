#pragma once

#include <string>
#include <vector>

namespace isomer::lab {

/// The library that is put into a vendor's programs: "cuda", "hip", and "driver" for CUDA's where another
/// profiler holds CUPTI. ISOMER_TRACE_CUDA, ISOMER_TRACE_HIP or ISOMER_TRACE_DRIVER, else beside this
/// program. Empty where there is none.
std::string injected_library(const std::string& vendor);

/// rocprofiler-sdk of this machine, which the library for HIP programs needs: ISOMER_ROCPROFILER, else in
/// LD_LIBRARY_PATH, ROCM_PATH, /opt/rocm and the system's folders. Empty where there is none.
std::string rocprofiler_library();

/// Why programs of a vendor are not recorded, as a clause; empty where they are.
std::string why_not_recorded(const std::string& vendor);

/// The variables that a traced program has: this process's own, with those by which the drivers load the
/// libraries. `by_driver_calls` preloads the one for CUDA's driver instead of the one for CUPTI; it throws
/// Error unsupported where that has not been built. A ROCm program ends itself where it is asked for a
/// profiler that it cannot load, so it is asked only where there is one.
std::vector<std::string> traced_environment(const std::string& folder, bool by_driver_calls);

}  // namespace isomer::lab
