#pragma once

#include "gpu/shared_object.hpp"
#include "gpu/sources.hpp"
#include "gpu/vendors/runtime_compiler.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <type_traits>
#include <vector>

namespace isomer::gpu {

/// NVRTC, where the library looks for it: an empty ISOMER_NVRTC names nothing.
inline SharedObject nvrtc_library() {
  return SharedObject(compiler_files("ISOMER_NVRTC", {"libnvrtc.so.13", "libnvrtc.so.12"},
                                     {"CUDA_HOME", "CUDA_PATH"}, {"/usr/local/cuda"}, "libnvrtc")
                          .files);
}

/// What NVRTC says of a text for sm_90a that includes device sources, ptxas -v among it; `result` is its
/// status.
inline std::string log_of(const SharedObject& library, const std::string& text,
                          const std::vector<std::string>& definitions, int& result) {
  CompilerFunctions nvrtc;
  const auto resolve = [&](auto& function, const char* symbol) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.symbol(symbol));
    ASSERT_NE(function, nullptr) << symbol;
  };
  resolve(nvrtc.create, "nvrtcCreateProgram");
  resolve(nvrtc.compile, "nvrtcCompileProgram");
  resolve(nvrtc.log_size, "nvrtcGetProgramLogSize");
  resolve(nvrtc.log, "nvrtcGetProgramLog");
  resolve(nvrtc.destroy, "nvrtcDestroyProgram");

  std::deque<std::string> keep;  // terminated copies
  std::vector<const char*> texts, paths;
  for (const Source& source : sources()) {
    texts.push_back(keep.emplace_back(source.text).c_str());
    paths.push_back(keep.emplace_back(source.path).c_str());
  }
  CompilerFunctions::Program program = nullptr;
  EXPECT_EQ(nvrtc.create(&program, text.c_str(), "test.cu", static_cast<int>(texts.size()), texts.data(),
                         paths.data()),
            0);
  std::vector<const char*> options = {"--gpu-architecture=sm_90a", "-std=c++17", "-default-device",
                                      "--ptxas-options=-v"};
  for (const std::string& definition : definitions)
    options.push_back(keep.emplace_back("-D" + definition).c_str());
  result = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  std::size_t size = 0;
  nvrtc.log_size(program, &size);
  std::string log(size, '\0');
  if (size > 0) nvrtc.log(program, log.data());
  nvrtc.destroy(&program);
  return log;
}

}  // namespace isomer::gpu
