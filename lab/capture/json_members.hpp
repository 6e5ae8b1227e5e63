#pragma once

#include <simdjson.h>

#include <limits>
#include <optional>
#include <string_view>

namespace isomer::lab::json {

// Members of an object by their names, as far as they are there and of that type.

inline std::optional<double> number(const simdjson::dom::object& from, std::string_view key) {
  simdjson::dom::element value;
  double got = 0;
  if (from[key].get(value) != simdjson::SUCCESS || value.get(got) != simdjson::SUCCESS) return std::nullopt;
  return got;
}

inline std::string_view text(const simdjson::dom::object& from, std::string_view key) {
  std::string_view got;
  return from[key].get(got) == simdjson::SUCCESS ? got : std::string_view();
}

template <class Unsigned>
void whole(const simdjson::dom::object& from, std::string_view key, std::optional<Unsigned>& into) {
  const auto value = number(from, key);
  if (value && *value >= 0 && *value <= 9e15 &&
      *value <= static_cast<double>(std::numeric_limits<Unsigned>::max()))
    into = static_cast<Unsigned>(*value);
}

}  // namespace isomer::lab::json
