// The run-time compilers that are on this machine compile device sources with no GPU; so they are not held
// against a device, only against what they say.
#include "core/sentence.hpp"
#include "gpu/binary.hpp"
#include "gpu/vendors.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace isomer::gpu {
namespace {

Program sin_of(const char* element, const char* vector) {
  return {"ops/sin/kernels/sin.cu",
          "isomer_sin",
          {{"element", element},
           {"vector", vector},
           {"unroll", "4"},
           {"ragged", "0"},
           {"dims", "1"},
           {"index", "u32"},
           {"threads", "128"}}};
}

class Compilers : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  void SetUp() override {
    vendor_ = find_vendor(std::string_view(GetParam().first));
    ASSERT_NE(vendor_, nullptr);
    if (const std::string reason = vendor_->compiler_unavailable(); !reason.empty()) GTEST_SKIP() << reason;
  }
  Vendor* vendor_ = nullptr;
};

TEST_P(Compilers, MakeMachineCodeAndTellItsResources) {
  const Binary binary = compile_binary(*vendor_, sin_of("f32", "4"), GetParam().second);
  ASSERT_GT(binary.image.bytes.size(), 500u);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(binary.image.bytes.data()) + 1, 3), "ELF");
  EXPECT_GT(binary.image.resources.registers, 4);
  EXPECT_LE(binary.image.resources.registers, 512);
  EXPECT_GE(binary.image.resources.spill_bytes, 0);
  EXPECT_LT(binary.image.resources.spill_bytes, 256);
  EXPECT_EQ(binary.image.resources.shared_bytes, 0);
  EXPECT_FALSE(binary.image.compiler.empty());
  EXPECT_EQ(binary.hash.size(), 64u);
}

TEST_P(Compilers, DescribeABadVariantInOneSentenceAndGoOn) {
  try {
    compile_binary(*vendor_, sin_of("no_such_type", "4"), GetParam().second);
    FAIL() << "it compiled";
  } catch (const Error& error) {
    const std::string_view text = error.what();
    EXPECT_EQ(error.code(), ErrorCode::internal);
    EXPECT_TRUE(text.starts_with(core::say(GetParam().first, ": compiling ops/sin/kernels/sin.cu for ",
                                           GetParam().second, " with ISOMER_ELEMENT=no_such_type")))
        << text;
    const std::size_t complaint = text.find("error: ");
    ASSERT_NE(complaint, text.npos) << text;
    EXPECT_NE(text.find("no_such_type", complaint), text.npos) << text;
    EXPECT_EQ(text.find('\n'), text.npos) << text;
  }
  EXPECT_NO_THROW(compile_binary(*vendor_, sin_of("bf16", "8"), GetParam().second));
}

// The first use of a compiler in this process, where ctest starts one for each test.
TEST_P(Compilers, MakeInThreadsAtOnceWhatTheyMakeAlone) {
  constexpr const char* kElements[] = {"f32", "f16", "bf16"};
  const auto compile = [&](std::size_t i) {
    try {
      return compile_binary(*vendor_, sin_of(kElements[i % 3], "4"), GetParam().second).hash;
    } catch (const Error& error) {
      return std::string(error.what());
    }
  };
  std::vector<std::string> at_once(6);
  std::atomic<int> waiting{2};
  const auto serve = [&](std::size_t first) {
    --waiting;
    while (waiting > 0) std::this_thread::yield();
    for (std::size_t i = first; i < first + 3; ++i) at_once[i] = compile(i);
  };
  std::thread other(serve, 3);
  serve(0);
  other.join();
  for (std::size_t i = 0; i < at_once.size(); ++i) {
    EXPECT_EQ(at_once[i].size(), 64u) << at_once[i];
    EXPECT_EQ(at_once[i], compile(i)) << kElements[i % 3];
  }
}

// HIP 5.2 ends the process where its code generator is asked for what it does not know.
TEST_P(Compilers, SayThatTheyDoNotKnowAnArchitecture) {
  const bool cuda = GetParam().first == "cuda";
  try {
    compile_binary(*vendor_, sin_of("f32", "4"), cuda ? "sm_999" : "gfx9999");
    FAIL() << "it compiled";
  } catch (const Error& error) {
    const std::string_view text = error.what();
    EXPECT_NE(text.find(cuda ? "sm_999" : "does not compile for gfx9999, which is not among the "), text.npos)
        << text;
    EXPECT_EQ(text.find('\n'), text.npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Compilers,
                         testing::Values(std::pair("cuda", "sm_80"), std::pair("cuda", "sm_90a"),
                                         std::pair("hip", "gfx90a"), std::pair("hip", "gfx1030")),
                         [](const auto& info) {
                           return std::string(info.param.first) + "_" + info.param.second;
                         });

}  // namespace
}  // namespace isomer::gpu
