#include "lab/capture/csv_row.hpp"

#include <charconv>
#include <cmath>

namespace isomer::lab {
namespace {

constexpr std::size_t kLongestField = 1 << 20, kMostFields = 1 << 16;

}  // namespace

bool next_row(std::istream& in, CsvRow& row) {
  row.assign(1, "");
  std::streambuf& bytes = *in.rdbuf();
  bool quoted = false, any = false;
  const int eof = std::char_traits<char>::eof();
  for (int c = bytes.sbumpc(); c != eof; c = bytes.sbumpc()) {
    any = true;
    if (quoted) {
      if (c == '"' && bytes.sgetc() == '"')
        bytes.sbumpc();
      else if (c == '"') {
        quoted = false;
        continue;
      }
    } else if (c == '"') {
      quoted = true;
      continue;
    } else if (c == ',') {
      if (row.size() < kMostFields) row.emplace_back();
      continue;
    } else if (c == '\n') {
      return true;
    } else if (c == '\r') {
      continue;
    }
    if (row.back().size() < kLongestField) row.back() += static_cast<char>(c);
  }
  return any;
}

std::optional<double> number_in(const std::string& text) {
  std::string digits;
  for (const char c : text)
    if (c != ',') digits += c;
  double value = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc() || end != digits.data() + digits.size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace isomer::lab
