// Sources whose expressions are exchanged: whatever a text is, its lines stay, and each edit is on one of
// them.
#include "lab/evidence/edits/exchangeable.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string source(reinterpret_cast<const char*>(data), size);
  const isomer::lab::Exchangeable made = isomer::lab::exchangeable(source);
  const auto lines = std::count(source.begin(), source.end(), '\n');
  if (std::count(made.source.begin(), made.source.end(), '\n') < lines) std::abort();
  for (const isomer::lab::Exchange& each : made.edits)
    if (each.line < 1 || each.line > lines + 1 || each.becomes == each.was) std::abort();
  return 0;
}
