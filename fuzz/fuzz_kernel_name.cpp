// Any text as a kernel's name: it is read in time, never throws, and its canonical text is its own canonical
// text.
#include "lab/diff/build_log.hpp"
#include "lab/names/kernel_name.hpp"

#include <cstdio>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const isomer::lab::KernelName name = isomer::lab::parse_kernel_name(text);
  if (isomer::lab::parse_kernel_name(text).text != name.text) {
    std::fprintf(stderr, "fuzz_kernel_name: two answers to one name\n");
    std::abort();
  }
  isomer::lab::compiler_options(isomer::lab::shell_words(text));
  return 0;
}
