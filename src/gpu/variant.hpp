#pragma once

#include <isomer/dtype.hpp>
#include <isomer/explain.hpp>

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace isomer::gpu {

/// The value of a compile-time parameter: a number, or a word that outlives it. Text where it is asked for.
class Value {
 public:
  template <std::integral Number>
  constexpr Value(Number number) : number_(static_cast<std::int64_t>(number)) {}
  constexpr Value(std::string_view word) : word_(word) {}
  constexpr Value(const char* word) : word_(word) {}
  Value(DType type) : word_(name_of(type)) {}

  std::string text() const { return word_.empty() ? std::to_string(number_) : std::string(word_); }

 private:
  std::string_view word_;
  std::int64_t number_ = 0;
};

/// A kernel's compile-time parameters by name, in a fixed order. Names are literals.
using Variant = std::vector<std::pair<std::string_view, Value>>;

/// For people, and for a compiler.
inline Named named(const Variant& variant) {
  Named list;
  list.reserve(variant.size());
  for (const auto& [name, value] : variant) list.emplace_back(name, value.text());
  return list;
}

}  // namespace isomer::gpu
