// Any bytes as a bundle: either tensors whose every element can be read, or one sentence.
#include "bundle/bundle.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_bundle: %s\n", what);
  std::abort();
}

void use(const isomer::Bundle& bundle) {
  unsigned sum = 0;
  for (const auto& [name, tensor] : bundle.tensors()) {
    require(bundle.find(name) == &tensor, "a name stands twice");
    isomer::bundle::for_each_row(tensor, [&, &view = tensor](const std::byte* row) {
      for (std::int64_t j = 0; j < (view.rank > 0 ? view.size(-1) : 1); ++j)
        sum += static_cast<unsigned>(row[(view.rank > 0 ? j * view.stride(-1) : 0) * size_of(view.dtype)]);
    });
  }
  require(!bundle.metadata().contains("strides"), "strides are left in the metadata");
  static volatile unsigned keep;
  keep = sum;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    use(isomer::bundle::read_bundle("input", size, [&](std::uint64_t offset, void* to, std::size_t bytes) {
      require(offset <= size && bytes <= size - offset, "a read outside the file");
      std::memcpy(to, data + offset, bytes);
    }));
  } catch (const isomer::Error& error) {
    require(error.code() == isomer::ErrorCode::io || error.code() == isomer::ErrorCode::out_of_memory,
            "another code than io");
    require(std::strncmp(error.what(), "load: input: ", 13) == 0, "another subject than the file");
  }
  return 0;
}
