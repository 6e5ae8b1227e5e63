// NVRTC takes the Hopper words in every form, as machine code that keeps products beside the threads.
#include "nvrtc_log.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace isomer::gpu {
namespace {

TEST(Sm90Words, CompileInEveryFormWithNoSpillAndNoSerializedProduct) {
  const SharedObject library = nvrtc_library();
  if (!library.open()) GTEST_SKIP() << library.failure();
  std::ifstream file(ISOMER_TEST_DATA "/gpu/sm90_words.cu");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  ASSERT_NE(text.find("copies_of_words"), std::string::npos);
  int result = -1;
  const std::string log = log_of(library, text, {}, result);
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
