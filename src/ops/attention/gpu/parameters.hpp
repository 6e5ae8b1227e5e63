#pragma once

#include "ops/attention/gpu/tiling.hpp"
#include "ops/attention/kernels/attention.h"

namespace isomer::ops::attention {

/// What every kernel of such a call is given, but for the addresses.
device::AttentionParameters parameters_of(const Geometry& geometry, const GpuTiling& tiling);
/// Those of a call that the parameters were made for, and of its workspace, which has the tiling's
/// workspace_bytes().
void set_addresses(device::AttentionParameters& parameters, const AttentionArgs& args, void* workspace);

/// Those of the kernel that takes queries of v, with their address.
device::AttentionQvParameters qv_parameters(const device::AttentionParameters& parameters,
                                            const AttentionArgs& args);

/// Those of the kernel that reads an int8 cache, with the addresses of its scales.
device::AttentionInt8Parameters int8_parameters(const device::AttentionParameters& parameters,
                                                const AttentionArgs& args);

}  // namespace isomer::ops::attention
