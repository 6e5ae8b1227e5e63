#pragma once

#include "gpu/shared_object.hpp"
#include "gpu/vendor.hpp"

#include <string>
#include <vector>

namespace isomer::gpu {

/// What NVRTC and hipRTC offer. tests/abi holds it against nvrtc.h and hiprtc.h where they are installed.
struct CompilerFunctions {
  using Program = struct ProgramObject*;
  using Result = int;
  Result (*version)(int*, int*) = nullptr;
  Result (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*) = nullptr;
  Result (*destroy)(Program*) = nullptr;
  Result (*compile)(Program, int, const char* const*) = nullptr;
  Result (*log_size)(Program, std::size_t*) = nullptr;
  Result (*log)(Program, char*) = nullptr;
  Result (*image_size)(Program, std::size_t*) = nullptr;
  Result (*image)(Program, char*) = nullptr;
  const char* (*error)(Result) = nullptr;
};

/// NVRTC or hipRTC, whose interfaces differ in names alone. Needs no GPU and no driver.
class RuntimeCompiler {
 public:
  struct Names {
    std::string vendor;     ///< "cuda", for sentences
    std::string functions;  ///< what they all begin with: "nvrtc"
    std::string image;      ///< what the compiled code is called in them: "CUBIN"
  };
  using Options = std::vector<std::string>;

  /// The first of the files that opens. Where none does, `missing` is the sentence that says so.
  RuntimeCompiler(Names names, const std::vector<std::string>& files, const std::string& missing);

  const std::string& unavailable() const { return unavailable_; }
  void refuse(std::string reason) { unavailable_ = std::move(reason); }
  const SharedObject& library() const { return library_; }
  /// Major and minor, as the library says.
  std::pair<int, int> version() const;
  /// For sentences, and kept with what it compiles: "NVRTC 13.0".
  void call_it(std::string name) { name_ = std::move(name); }
  const std::string& name() const { return name_; }

  /// Machine code. `options` without the definitions; `log` receives what the compiler said. Throws Error
  /// internal with the compiler's first complaint.
  Image compile(const Translation& translation, Options options, std::string& log) const;

 private:
  using Program = CompilerFunctions::Program;
  Names names_;
  SharedObject library_;
  CompilerFunctions functions_;
  std::string unavailable_, name_;
};

}  // namespace isomer::gpu
