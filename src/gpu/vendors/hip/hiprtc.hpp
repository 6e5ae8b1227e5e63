#pragma once

#include "gpu/vendors/runtime_compiler.hpp"

namespace isomer::gpu::hip {

/// AMD's run-time compiler, opened once in this process: the file that ISOMER_HIPRTC names, else the
/// loader's, or ROCM_PATH's.
const RuntimeCompiler& hiprtc();

/// Machine code for that architecture.
Image compile(const Translation& translation);

/// Registers, scratch and shared memory from the metadata of a code object with one kernel. Spills are all
/// scratch memory of a thread, as with hipcc; what is spilled into other registers is none.
Resources code_object_resources(const std::vector<std::byte>& image);

}  // namespace isomer::gpu::hip
