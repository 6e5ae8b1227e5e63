#pragma once

#include <isomer/explain.hpp>

#include <string>

namespace isomer::gpu {

/// One kernel, exactly as it is compiled. A kernel's file has one `extern "C" __global__` function that takes
/// one parameter struct by value; the variant reaches it as macros: head_dim=128 is ISOMER_HEAD_DIM 128.
struct Program {
  std::string source;  ///< among the embedded device sources: "ops/sin/kernels/sin.cu"
  std::string kernel;  ///< the function
  Named variant;       ///< compile-time parameters, in a fixed order

  /// "sin element=f32 vector=4": for people, and as the key of this process's loaded kernels.
  std::string text() const;
};

}  // namespace isomer::gpu
