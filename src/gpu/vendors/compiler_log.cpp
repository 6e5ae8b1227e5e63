#include "gpu/vendors/compiler_log.hpp"

#include <cctype>
#include <charconv>

namespace isomer::gpu {
namespace {

/// The number that stands before `words`, or −1.
std::int64_t number_before(std::string_view log, std::string_view words) {
  const std::size_t at = log.find(words);
  if (at == std::string_view::npos) return -1;
  std::size_t begin = at;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(log[begin - 1]))) --begin;
  std::int64_t value = -1;
  std::from_chars(log.data() + begin, log.data() + at, value);
  return value;
}

}  // namespace

std::string first_complaint(std::string_view log, std::string_view otherwise) {
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string_view line = log.substr(begin, end - begin);
    if (line.find("error") != std::string_view::npos) return std::string(line);
    begin = end + 1;
  }
  return std::string(otherwise);
}

Resources ptxas_resources(std::string_view log) {
  Resources resources;
  resources.registers = static_cast<int>(number_before(log, " registers"));
  const std::int64_t stores = number_before(log, " bytes spill stores"),
                     loads = number_before(log, " bytes spill loads");
  if (stores >= 0 && loads >= 0) resources.spill_bytes = stores + loads;
  // The line of a kernel that has none does not speak of it.
  if (resources.registers >= 0)
    resources.shared_bytes = std::max<std::int64_t>(number_before(log, " bytes smem"), 0);
  // ptxas says so at level "info", with a number of its own for each reason: C7510 to C7520.
  resources.serialized = log.find("wgmma.mma_async instructions are serialized") != std::string_view::npos;
  return resources;
}

}  // namespace isomer::gpu
