#pragma once

#include <isomer/error.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace isomer::core {

/// The parts, printed one after the other.
template <class... Parts>
std::string say(const Parts&... parts) {
  std::ostringstream text;
  (text << ... << parts);
  return text.str();
}

/// "f32", "f32 or f16", "f32, f16 or bf16".
template <class Items>
std::string either(const Items& items) {
  std::string text;
  std::size_t i = 0;
  const std::size_t count = std::size(items);
  for (const auto& item : items) {
    if (i > 0) text += i + 1 == count ? " or " : ", ";
    text += std::string_view(item);
    ++i;
  }
  return text;
}

template <class... Parts>
[[noreturn]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, say(parts...));
}

}  // namespace isomer::core
