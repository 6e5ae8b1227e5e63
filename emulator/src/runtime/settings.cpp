#include "runtime/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "isomer/emulator/error.hpp"

extern "C" {
__attribute__((visibility("default"))) int isomer_emulator_edits[4] = {};
__attribute__((visibility("default"))) unsigned char isomer_emulator_edit_chosen[1 << 16] = {};
__attribute__((visibility("default"))) unsigned char isomer_emulator_edit_ways[1 << 14] = {};
__attribute__((visibility("default"))) const int* isomer_emulator_edit_values = nullptr;
}

namespace isomer::emulator {
namespace {

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  if (!text || !*text) return otherwise;
  const std::string_view digits = text;
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || rest != digits.data() + digits.size())
    throw Error(std::string(variable) + " expects a number, got '" + text + "'");
  return value;
}

int lanes() {
  const std::uint64_t value = number("ISOMER_EMULATOR_LANES", 32);
  if (value != 32 && value != 64)
    throw Error("ISOMER_EMULATOR_LANES expects 32 or 64, got '" + std::to_string(value) + "'");
  return static_cast<int>(value);
}

}  // namespace

namespace {

/// The values that an edit is in: what begins with the greatest number that is not beyond its own.
void mark_values(int number) {
  const int* known = isomer_emulator_edit_values;
  if (number <= 0 || known == nullptr) return;
  int begins = -1;
  for (const int* each = known; *each >= 0; each += 2)
    if (*each <= number) begins = *each;
  for (const int* each = known; *each >= 0; each += 2)
    if (*each == begins) isomer_emulator_edit_ways[each[1] & 0x3fff] = 1;
}

}  // namespace

void choose_edits(const std::array<int, 4>& numbers) {
  constexpr unsigned char kAsked = 2;  // of edits.h
  if (numbers[0] < 0 || isomer_emulator_edits[0] < 0)
    std::memset(isomer_emulator_edit_chosen, numbers[0] < 0 ? kAsked : 0, sizeof isomer_emulator_edit_chosen);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (isomer_emulator_edits[i] > 0) isomer_emulator_edit_chosen[isomer_emulator_edits[i] & 0xffff] = 0;
    isomer_emulator_edits[i] = numbers[i];
  }
  for (const int number : numbers)
    if (number > 0 && number < 1 << 16) isomer_emulator_edit_chosen[number] = 1;
  std::memset(isomer_emulator_edit_ways, numbers[0] < 0 ? 1 : 0, sizeof isomer_emulator_edit_ways);
  for (const int number : numbers) mark_values(number);
}

bool is_edited() { return isomer_emulator_edits[0] > 0; }

std::vector<int> reached_edits() {
  constexpr unsigned char kReached = 3;  // of edits.h
  std::vector<int> list;
  if (isomer_emulator_edits[0] < 0)
    for (int i = 1; i < 1 << 16; ++i)
      if (isomer_emulator_edit_chosen[i] == kReached) list.push_back(i);
  return list;
}

Settings& settings() {
  static Settings s = [] {
    Settings from;
    from.lanes = lanes();
    from.seed = number("ISOMER_EMULATOR_SEED", 0);
    from.watch = number("ISOMER_EMULATOR_WATCH", 0) != 0;
    from.workers = static_cast<int>(number("ISOMER_EMULATOR_WORKERS", 0));
    from.step_limit = number("ISOMER_EMULATOR_STEPS", 0);
    return from;
  }();
  return s;
}

}  // namespace isomer::emulator
