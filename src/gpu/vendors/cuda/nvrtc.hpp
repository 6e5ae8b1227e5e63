#pragma once

#include "gpu/vendor.hpp"

#include <string>

namespace isomer::gpu::cuda {

/// NVIDIA's run-time compiler. Needs no GPU and no driver.
class Nvrtc {
 public:
  /// Opened once in this process: the file that ISOMER_NVRTC names, the loader's, CUDA_HOME's, or a Python
  /// package's.
  static const Nvrtc& get();

  std::string unavailable() const { return unavailable_; }
  /// Machine code for that architecture. Throws Error internal with the compiler's first complaint.
  Image compile(const Translation& translation) const;

 private:
  using Program = struct ProgramObject*;
  Nvrtc();
  int (*version_)(int*, int*) = nullptr;
  int (*create_)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  int (*destroy_)(Program*) = nullptr;
  int (*compile_)(Program, int, const char* const*) = nullptr;
  int (*log_size_)(Program, std::size_t*) = nullptr;
  int (*log_)(Program, char*) = nullptr;
  int (*image_size_)(Program, std::size_t*) = nullptr;
  int (*image_)(Program, char*) = nullptr;
  const char* (*error_)(int) = nullptr;
  std::string unavailable_, name_;
};

}  // namespace isomer::gpu::cuda
