#pragma once

#include "gpu/vendor.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace isomer::gpu::hip {

/// AMD's compiler as a program, for compiling ahead of time on machines that have no hipRTC: Debian's hipcc
/// needs no ROCm and no GPU. A call of an op never starts it.
class Hipcc {
 public:
  /// Looked for once in this process: the program that ISOMER_HIPCC names, hipcc on the PATH, and in
  /// ROCM_PATH or /opt/rocm.
  static const Hipcc& get();
  explicit Hipcc(std::string program) : program_(std::move(program)) {}

  /// Why there is none, and what to install; empty where there is.
  std::string unavailable() const;
  const std::string& program() const { return program_; }
  /// A code object for that architecture, in the form that hipModuleLoadData takes. Throws Error internal
  /// with the compiler's first complaint.
  Image compile(const Translation& translation) const;

 private:
  std::string program_;
};

/// Registers, scratch and shared memory from clang's kernel-resource-usage remarks. Spills are all scratch
/// memory of a thread: what lies there is as slow whatever put it there.
Resources clang_resources(std::string_view log);

}  // namespace isomer::gpu::hip
