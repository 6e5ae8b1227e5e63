// NVRTC takes the Hopper words in every form, as machine code that keeps products beside the threads.
#include "gpu/shared_object.hpp"
#include "gpu/sources.hpp"
#include "gpu/vendors/runtime_compiler.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace isomer::gpu {
namespace {

/// What the compiler says of a text that includes device sources; `result` is its status.
std::string log_of(const SharedObject& library, const std::string& text, int& result) {
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
  EXPECT_EQ(nvrtc.create(&program, text.c_str(), "sm90_words.cu", static_cast<int>(texts.size()),
                         texts.data(), paths.data()),
            0);
  const char* const options[] = {"--gpu-architecture=sm_90a", "-std=c++17", "-default-device",
                                 "--ptxas-options=-v"};
  result = nvrtc.compile(program, std::size(options), options);
  std::size_t size = 0;
  nvrtc.log_size(program, &size);
  std::string log(size, '\0');
  if (size > 0) nvrtc.log(program, log.data());
  nvrtc.destroy(&program);
  return log;
}

TEST(Sm90Words, CompileInEveryFormWithNoSpillAndNoSerializedProduct) {
  const char* named = std::getenv("ISOMER_NVRTC");
  const SharedObject library({named != nullptr ? named : "libnvrtc.so.13"});
  if (!library.open()) GTEST_SKIP() << library.failure();
  std::ifstream file(ISOMER_TEST_DATA "/gpu/sm90_words.cu");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_NE(text.find("copies_of_words"), std::string::npos);
  int result = -1;
  const std::string log = log_of(library, text, result);
  ASSERT_EQ(result, 0) << log;
  EXPECT_NE(log.find("copies_of_words"), std::string::npos) << log;
  EXPECT_EQ(log.find("serialized"), std::string::npos) << log;
  std::size_t kernels = 0;
  for (std::size_t at = 0; (at = log.find(" bytes spill stores", at)) != std::string::npos; ++at, ++kernels)
    EXPECT_EQ(log.substr(at - 3, 3), ", 0") << log.substr(at - 40, 80);
  EXPECT_EQ(kernels, 61u);  // 20 shapes of three types, and the copies
}

}  // namespace
}  // namespace isomer::gpu
