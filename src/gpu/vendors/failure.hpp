#pragma once

#include "gpu/vendor.hpp"

#include <string>
#include <string_view>

namespace isomer::gpu {

/// What a runtime's error means for whoever called.
enum class Meaning {
  memory,         ///< the device's memory is exhausted: Error out_of_memory
  lost,           ///< the device, or this process's hold on it, is gone: Error device
  refused_image,  ///< the compiled code is not for this device or driver: Error unsupported
  other,          ///< Error device
};

/// "cuda: cuStreamSynchronize failed: CUDA_ERROR_…: …", and what to do where that is known.
[[noreturn]] void fail_call(std::string_view vendor, std::string_view call, Meaning meaning,
                            const std::string& error);
/// The same for a launch, with its geometry.
[[noreturn]] void fail_launch(std::string_view vendor, const Launch& launch, Meaning meaning,
                              const std::string& error);

}  // namespace isomer::gpu
