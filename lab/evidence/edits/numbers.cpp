#include "lab/evidence/edits/numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

namespace isomer::lab {
namespace {

bool is_hex(const std::string& text) { return text.size() > 2 && (text[1] == 'x' || text[1] == 'X'); }

/// Other numbers in place of a whole one, as text without its suffix.
std::vector<std::string> other_whole(const std::string& digits) {
  std::int64_t value = 0;
  const bool hex = digits.size() > 2 && (digits[1] == 'x' || digits[1] == 'X');
  const auto [end, error] =
      std::from_chars(digits.data() + (hex ? 2 : 0), digits.data() + digits.size(), value, hex ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return {};
  std::vector<std::int64_t> others = {value + 1, value - 1, 2 * value, value / 2, 0, 1, 4 * value};
  // Sizes of a warp, a block or a head are powers of two.
  constexpr std::int64_t kLeast = 10;
  if (value >= kLeast && !std::has_single_bit(static_cast<std::uint64_t>(value)))
    for (const std::uint64_t each : {std::bit_floor(static_cast<std::uint64_t>(value)),
                                     std::bit_ceil(static_cast<std::uint64_t>(value))})
      others.push_back(static_cast<std::int64_t>(each));
  if (value > 1 << 20) others = {value >> 1, 2 * value + 1};
  std::vector<std::string> texts;
  for (const std::int64_t each : others) {
    const std::string text = hex ? fmt::format("{:#x}", each) : std::to_string(each);
    if (each != value && (each >= 0 || !hex) && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(text);
  }
  return texts;
}

std::vector<std::string> other_real(const std::string& digits, const std::string& suffix) {
  const double value = std::strtod(digits.c_str(), nullptr);
  std::vector<std::string> texts;
  const auto put = [&](double each) {
    std::string text = fmt::format("{:.9g}", each);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    texts.push_back(text + suffix);
  };
  if (value == 0) {
    put(1);
    texts.emplace_back(suffix.empty() ? "-(double)INFINITY" : "-INFINITY");
    return texts;
  }
  for (const double factor : {-1.0, 2.0, 0.5, 10.0, 0.1}) put(value * factor);
  if (value != 1) put(1);
  put(0);
  if (value < 0.1)
    for (const double epsilon : {1e-5, 1e-6, 1e-8, 1e-10, 1e-12, 1e-4})
      if (epsilon != value) put(epsilon);
  if (value > 200)
    for (const double largest : {448.0, 127.0, 128.0, 255.0, 256.0, 240.0})
      if (largest != value) put(largest);
  if (value == 1) put(-value);
  return texts;
}

/// A number without its suffix, and that.
std::pair<std::string, std::string> parts_of(const std::string& text) {
  std::size_t end = text.size();
  while (end > 0 && std::string_view("uUlLfF").find(text[end - 1]) != std::string_view::npos &&
         !(is_hex(text) && (text[end - 1] == 'f' || text[end - 1] == 'F')))
    --end;
  return {text.substr(0, end), text.substr(end)};
}

double value_of(const std::string& text) { return std::strtod(text.c_str(), nullptr); }

/// As far as float tells them apart.
bool is_same(double a, double b) { return std::abs(a - b) <= 1e-7 * std::max(std::abs(a), std::abs(b)); }

}  // namespace

bool is_real_number(const std::string& text) {
  return !is_hex(text) && text.find_first_of(".eE") != std::string::npos;
}

std::vector<std::string> other_numbers(const std::string& text) {
  const auto [digits, suffix] = parts_of(text);
  if (is_real_number(text)) return other_real(digits, suffix);
  std::vector<std::string> others = other_whole(digits);
  for (std::string& each : others) each += suffix;
  return others;
}

bool is_nearly(const std::string& one, const std::string& other) {
  const double a = value_of(one), b = value_of(other);
  return std::abs(a - b) <= 0.1 * std::max(std::abs(a), std::abs(b));
}

AbsentNumbers::AbsentNumbers(const std::vector<std::string>& of_label, const CppTokens& tokens) {
  std::vector<double> own;
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == CppToken::Kind::number) own.push_back(value_of(std::string(tokens.text(i))));
  for (const std::string& each : of_label) {
    const double value = value_of(each);
    if (std::none_of(own.begin(), own.end(), [&](double other) { return is_same(value, other); }))
      numbers_.push_back(each);
  }
}

std::vector<std::string> AbsentNumbers::near(const std::string& text) const {
  constexpr std::size_t kMost = 3;
  constexpr double kFarthest = 3;  // times as large
  const bool real = is_real_number(text);
  const std::string suffix = parts_of(text).second;
  const double own = value_of(text);
  std::vector<std::pair<double, std::string>> found;
  for (const std::string& each : numbers_) {
    const double value = value_of(each);
    if (is_real_number(each) != real || !(own > 0) || !(value > 0)) continue;
    const double distance = value > own ? value / own : own / value;
    if (distance < kFarthest) found.emplace_back(distance, each + suffix);
  }
  std::sort(found.begin(), found.end());
  if (found.size() > kMost) found.resize(kMost);
  std::vector<std::string> near;
  for (auto& [distance, number] : found) near.push_back(std::move(number));
  return near;
}

}  // namespace isomer::lab
