#include "core/contract.hpp"
#include "core/sentence.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace isomer::core {
namespace {

template <class Number>
void put(void* options, const Option& option, Number number) {
  std::memcpy(static_cast<std::byte*>(options) + option.offset, &number, sizeof number);
}

template <class Number>
Number read(const void* options, const Option& option) {
  Number number{};
  std::memcpy(&number, static_cast<const std::byte*>(options) + option.offset, sizeof number);
  return number;
}

}  // namespace

std::string Option::type() const {
  switch (kind) {
    case Kind::integer:
      return "int";
    case Kind::f32:
      return "f32";
    case Kind::boolean:
      return "bool";
    case Kind::choice:
      break;
  }
  std::string text;
  for (const std::string& each : enumerators) text += (text.empty() ? "" : " | ") + each;
  return text;
}

std::string Option::text_of(double number) const {
  if (kind == Kind::boolean) return number != 0 ? "true" : "false";
  if (kind == Kind::choice) return enumerators.at(static_cast<std::size_t>(number));
  if (kind == Kind::integer) return std::to_string(static_cast<std::int64_t>(number));
  return say(static_cast<float>(number));
}

std::int64_t Option::integer_in(const void* options) const {
  if (bytes == 1) return read<std::uint8_t>(options, *this);
  return bytes == 4 ? read<std::int32_t>(options, *this) : read<std::int64_t>(options, *this);
}

void Option::set(void* options, std::int64_t integer) const {
  if (kind == Kind::f32) fail(ErrorCode::internal, "option ", name, " is no integer");
  if (kind == Kind::boolean) return put(options, *this, integer != 0);
  if (bytes == 8) return put(options, *this, integer);
  if (bytes == 1) return put(options, *this, static_cast<std::uint8_t>(integer));
  using Int = std::numeric_limits<std::int32_t>;
  put(options, *this, static_cast<std::int32_t>(std::clamp<std::int64_t>(integer, Int::min(), Int::max())));
}

void Option::set(void* options, float number) const {
  if (kind != Kind::f32) fail(ErrorCode::internal, "option ", name, " is no f32");
  put(options, *this, number);
}

std::optional<std::string> not_an_enumerator(const Call& call) {
  for (const Option& option : call.contract->options) {
    if (option.kind != Option::Kind::choice) continue;
    const std::int64_t number = option.integer_in(call.options_struct);
    if (number >= 0 && number < static_cast<std::int64_t>(option.enumerators.size())) continue;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < option.enumerators.size(); ++i)
      names.push_back(say(option.enumerators[i], " (", i, ")"));
    return say(option.name, " is ", number, ", expected ", either(names));
  }
  return std::nullopt;
}

}  // namespace isomer::core
