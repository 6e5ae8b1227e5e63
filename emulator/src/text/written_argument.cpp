#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <random>

#include "isomer/emulator/written.hpp"
#include "isomer_emulator/fp8.h"

namespace isomer::emulator {
namespace {

struct Type {
  const char* name;
  std::size_t bytes;
  void (*store)(double, std::byte*);
  double (*load)(const std::byte*);
};

template <class T>
constexpr Type plain(const char* name) {
  return {name, sizeof(T),
          [](double v, std::byte* to) {
            const T t = static_cast<T>(v);
            std::memcpy(to, &t, sizeof t);
          },
          [](const std::byte* from) {
            T t;
            std::memcpy(&t, from, sizeof t);
            return static_cast<double>(t);
          }};
}

template <class F>
constexpr Type sixteen(const char* name) {
  return {name, 2,
          [](double v, std::byte* to) {
            const std::uint16_t bits = encode16<F>(v);
            std::memcpy(to, &bits, 2);
          },
          [](const std::byte* from) {
            std::uint16_t bits;
            std::memcpy(&bits, from, 2);
            return static_cast<double>(decode16<F>(bits));
          }};
}

template <class F>
constexpr Type eight(const char* name) {
  return {name, 1, [](double v, std::byte* to) { *to = static_cast<std::byte>(encode8<F>(v, true)); },
          [](const std::byte* from) {
            return static_cast<double>(decode8<F>(static_cast<std::uint8_t>(*from)));
          }};
}

const Type kTypes[] = {plain<double>("f64"),          plain<float>("f32"),
                       sixteen<Float16Format>("f16"), sixteen<Bfloat16Format>("bf16"),
                       eight<E4m3>("e4m3"),           eight<E5m2>("e5m2"),
                       plain<std::int8_t>("i8"),      plain<std::uint8_t>("u8"),
                       plain<std::int16_t>("i16"),    plain<std::int32_t>("i32"),
                       plain<std::uint32_t>("u32"),   plain<std::int64_t>("i64"),
                       plain<std::uint64_t>("u64")};

const Type& type_of(const std::string& name, const std::string& text) {
  for (const Type& t : kTypes) {
    if (name == t.name) return t;
  }
  throw Error(fmt::format(
      "argument {}: type {}, expected one of f64 f32 f16 bf16 e4m3 e5m2 i8 u8 i16 i32 u32 i64 u64", text,
      name.empty() ? "missing" : name));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == ':') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::uint64_t whole(const std::string& word, const std::string& text) {
  std::uint64_t n = 0;
  const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), n);
  if (failed != std::errc() || end != word.data() + word.size() || n > (std::uint64_t{1} << 36)) {
    throw Error(fmt::format("argument {}: '{}' is no number of elements", text, word));
  }
  return n;
}

void store_value(const std::string& word, const Type& type, std::byte* to, const std::string& text) {
  // Integers beyond 2^53 have no double.
  if (type.bytes == 8 && type.name[0] != 'f') {
    const bool negative = !word.empty() && word[0] == '-';
    std::uint64_t n = 0;
    const auto [end, failed] = std::from_chars(word.data() + negative, word.data() + word.size(), n);
    if (failed == std::errc() && end == word.data() + word.size()) {
      if (negative) n = ~n + 1;
      std::memcpy(to, &n, sizeof n);
      return;
    }
  }
  char* end = nullptr;
  const double v = std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0')
    throw Error(fmt::format("argument {}: '{}' is no value of type {}", text, word, type.name));
  type.store(v, to);
}

void fill(WrittenArgument& a, const Type& type, const std::string& how, std::uint64_t seed,
          const std::string& text) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform(-1, 1);
  const bool integer = type.name[0] == 'i' || type.name[0] == 'u';
  for (std::uint64_t i = 0; i < a.count; ++i) {
    double v = 0;
    if (how == "zero") {
      v = 0;
    } else if (how == "one") {
      v = 1;
    } else if (how == "ramp") {
      v = static_cast<double>(i);
    } else if (how == "randn") {
      v = normal(random) * (integer ? 20 : 1);
    } else if (how == "uniform") {
      v = uniform(random) * (integer ? 100 : 1);
    } else if (how == "nan" && !integer) {
      v = std::nan("");
    } else {
      throw Error(fmt::format(
          "argument {}: fill {}, expected zero, one, ramp, randn, uniform or (floating) nan", text, how));
    }
    if (type.name[0] == 'u') v = std::abs(v);
    type.store(v, a.memory.data() + i * type.bytes);
  }
}

}  // namespace

WrittenArgument parse_argument(const std::string& text, std::uint64_t seed) {
  WrittenArgument a;
  const auto equals = text.find('=');
  if (equals != std::string::npos) a.argument.name = text.substr(0, equals);
  const std::vector<std::string> words = split(equals == std::string::npos ? text : text.substr(equals + 1));
  const std::string& kind = words[0];
  if (kind == "in" || kind == "out" || kind == "inout") {
    if (words.size() < 3 || words.size() > 4)
      throw Error(
          fmt::format("argument {}: expected {}:TYPE:COUNT{}", text, kind, kind == "out" ? "" : "[:FILL]"));
    a.argument.role = kind == "in"    ? Argument::Role::input
                      : kind == "out" ? Argument::Role::output
                                      : Argument::Role::in_out;
    const Type& type = type_of(words[1], text);
    a.type = type.name;
    a.count = whole(words[2], text);
    a.memory.resize(a.count * type.bytes);
    if (kind != "out") fill(a, type, words.size() == 4 ? words[3] : "randn", seed, text);
    a.argument.data = a.memory.data();
    a.argument.bytes = a.memory.size();
    return a;
  }
  if (words.size() != 2)
    throw Error(fmt::format(
        "argument {}: expected TYPE:VALUE, in:TYPE:COUNT[:FILL], out:TYPE:COUNT or inout:TYPE:COUNT[:FILL]",
        text));
  const Type& type = type_of(kind, text);
  a.type = type.name;
  a.argument.bits.resize(type.bytes);
  store_value(words[1], type, a.argument.bits.data(), text);
  return a;
}

std::vector<double> leading_values(const WrittenArgument& a, std::size_t most) {
  std::vector<double> values;
  for (const Type& t : kTypes) {
    if (a.type != t.name) continue;
    for (std::size_t i = 0; i < std::min<std::size_t>(a.count, most); ++i)
      values.push_back(t.load(a.memory.data() + i * t.bytes));
  }
  return values;
}

}  // namespace isomer::emulator
