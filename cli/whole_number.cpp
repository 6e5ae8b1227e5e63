#include "cli/verbs.hpp"

#include <fmt/format.h>

#include <charconv>

namespace isomer::cli {
namespace {

/// Empty where the text is a whole number of at least that much; otherwise the sentence that CLI11 prints
/// after the option's name.
std::string at_least(std::uint64_t least, const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed == std::errc() && end == text.data() + text.size() && value >= least) return {};
  return fmt::format("expected a whole number from {} to {}, got '{}'", least, UINT64_MAX, text);
}

}  // namespace

std::string whole_number(const std::string& text) { return at_least(0, text); }
std::string positive_whole_number(const std::string& text) { return at_least(1, text); }

}  // namespace isomer::cli
