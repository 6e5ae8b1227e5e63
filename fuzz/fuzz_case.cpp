// Any text as a case line: either a case whose own line gives it back, or one sentence.
#include "oracle/oracle.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_case: %s\n", what.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  try {
    const isomer::oracle::Case parsed = isomer::oracle::parse_case(line);
    const std::string canonical = parsed.line();
    require(isomer::oracle::parse_case(canonical) == parsed, "not the same case again: " + canonical);
    require(isomer::oracle::parse_case(canonical).line() == canonical,
            "not the same line again: " + canonical);
    require(parsed.with_seed(7).seed() == 7, "the seed is lost: " + canonical);
  } catch (const isomer::Error& error) {
    require(error.code() == isomer::ErrorCode::bad_argument, std::string("another code: ") + error.what());
  }
  return 0;
}
