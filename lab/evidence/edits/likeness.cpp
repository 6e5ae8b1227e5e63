#include "lab/evidence/edits/likeness.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace isomer::lab {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

/// Words that name two of a kind, in small letters.
constexpr std::array<Pair, 22> kPairs = {
    {{"width", "height"}, {"w", "h"},        {"x", "y"},          {"y", "z"},        {"row", "col"},
     {"rows", "cols"},    {"begin", "end"},  {"start", "end"},    {"first", "last"}, {"q", "k"},
     {"k", "v"},          {"in", "out"},     {"input", "output"}, {"src", "dst"},    {"left", "right"},
     {"m", "n"},          {"n", "k"},        {"min", "max"},      {"low", "high"},   {"lo", "hi"},
     {"head", "token"},   {"scale", "shift"}}};

std::string in_small_letters(std::string_view name) {
  std::string small;
  for (const char c : name) small += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

bool is_pair(std::string_view one, std::string_view other) {
  return std::any_of(kPairs.begin(), kPairs.end(), [&](const Pair& each) {
    return (each.first == one && each.second == other) || (each.first == other && each.second == one);
  });
}

}  // namespace

double likeness(std::string_view one, std::string_view other) {
  const std::string a = in_small_letters(one), b = in_small_letters(other);
  const std::size_t least = std::min(a.size(), b.size());
  std::size_t front = 0, back = 0;
  while (front < least && a[front] == b[front]) ++front;
  while (back < least - front && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
  // `grad_width` and `grad_height`: what differs is a pair.
  const auto word = [&](const std::string& whole) {
    std::size_t from = front, to = whole.size() - back;
    while (from > 0 && whole[from - 1] != '_') --from;
    while (to < whole.size() && whole[to] != '_') ++to;
    return whole.substr(from, to - from);
  };
  if (is_pair(word(a), word(b))) return 0.9;
  const std::size_t common = front + back;
  // A single letter of a long name says nothing.
  if (common == 0 || (common < 3 && 2 * common < least)) return 0;
  return 2.0 * static_cast<double>(common) / static_cast<double>(a.size() + b.size());
}

}  // namespace isomer::lab
