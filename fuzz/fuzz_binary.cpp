// Any bytes as a binary with kernels: either kernels that can be reported and compared, or one sentence.
#include "lab/diff/diff_binaries.hpp"

#include <isomer/error.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_binary: %s\n", what);
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const std::vector<isomer::lab::BinaryKernel> kernels = isomer::lab::read_image(data, size, "input");
    for (const isomer::lab::BinaryKernel& kernel : kernels)
      require(kernel.code_bytes <= 64u << 20, "more code than a kernel has");
    if (kernels.size() < 64)
      require(isomer::lab::diff_binaries(kernels, kernels).same(), "a build differs from itself");
  } catch (const isomer::Error& error) {
    require(error.code() == isomer::ErrorCode::io, "another code than io");
    require(std::strncmp(error.what(), "input: ", 7) == 0, "another subject than the file");
  }
  return 0;
}
