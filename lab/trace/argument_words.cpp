#include "lab/trace/argument_words.hpp"

#include "core/sentence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace isomer::lab {
namespace {

std::string place_name(std::size_t argument, std::size_t bytes, std::size_t offset) {
  return bytes <= 8 ? core::say("argument ", argument) : core::say("argument ", argument, " byte ", offset);
}

/// A launch's addresses in words that mean the same in a program that allocates otherwise: where each first
/// appears.
class Addresses {
 public:
  explicit Addresses(const Launch& launch) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      for (const auto& [offset, place] : launch.arguments[i].pointers)
        first_.try_emplace(place, place_name(i, launch.arguments[i].bytes.size(), offset));
  }
  std::string text(const std::string& place, const std::string& here) const {
    const std::string& first = first_.at(place);
    return first == here ? "an address" : "the address of " + first;
  }

 private:
  std::map<std::string, std::string> first_;
};

struct Side {
  const ArgumentBytes& argument;
  const std::vector<std::uint8_t>& varying;
};

template <class Value>
Value at(const std::vector<std::uint8_t>& bytes, std::size_t offset) {
  Value value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// 4 bytes as a number: what it most likely is.
std::string word_text(std::uint32_t bits) {
  float real;
  std::memcpy(&real, &bits, sizeof real);
  constexpr std::uint32_t kLargestPlain = 1u << 24;
  const auto number = static_cast<std::int32_t>(bits);
  const bool small =
      bits < kLargestPlain || (number < 0 && number > -static_cast<std::int32_t>(kLargestPlain));
  if (!small && std::isfinite(real) && std::abs(real) > 1e-20F && std::abs(real) < 1e20F)
    return fmt::format("{} (0x{:08x})", real, bits);
  return fmt::format("{}", number);
}

std::string bytes_text(const std::vector<std::uint8_t>& bytes, std::size_t offset, std::size_t size) {
  std::string text = "0x";
  for (std::size_t i = offset; i < std::min(offset + size, bytes.size()); ++i)
    text += fmt::format("{:02x}", bytes[i]);
  return text;
}

bool any_varies(const Side& side, std::size_t offset, std::size_t size) {
  for (std::size_t i = offset; i < std::min(offset + size, side.varying.size()); ++i)
    if (side.varying[i] != 0) return true;
  return false;
}

class Comparison {
 public:
  Comparison(const LaunchGroup& a, const LaunchGroup& b)
      : a_(a), b_(b), addresses_a_(a.first), addresses_b_(b.first) {}

  ArgumentDifferences run(const ParameterLayouts& layouts) {
    const auto& left = a_.first.arguments;
    const auto& right = b_.first.arguments;
    if (left.size() != right.size())
      add("number of arguments", std::to_string(left.size()), std::to_string(right.size()));
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      const Side a{left[i], a_.varying[i]}, b{right[i], b_.varying[i]};
      if (a.argument.bytes.size() != b.argument.bytes.size()) {
        add(core::say("argument ", i, " size"), core::say(a.argument.bytes.size(), " bytes"),
            core::say(b.argument.bytes.size(), " bytes"));
        continue;
      }
      if (const auto* fields = layouts.find(a_.name.family, i, a.argument.bytes.size()))
        by_fields(*fields, i, a, b);
      else
        by_words(i, a, b);
    }
    result_.once = a_.count == 1 || b_.count == 1;
    return std::move(result_);
  }

 private:
  void add(const std::string& name, const std::string& a, const std::string& b) {
    if (a != b) result_.differences.push_back({name, a, b});
  }

  void address(const std::string& name, std::size_t argument, const Side& a, const Side& b,
               std::uint32_t offset) {
    const std::string here = place_name(argument, a.argument.bytes.size(), offset);
    const auto text = [&](const Side& side, const Addresses& addresses) -> std::string {
      const auto place = side.argument.pointers.find(offset);
      if (place != side.argument.pointers.end()) return addresses.text(place->second, here);
      const auto word = at<std::uint64_t>(side.argument.bytes, offset);
      return word == 0 ? "null" : fmt::format("0x{:x}, no address of device memory", word);
    };
    add(name, text(a, addresses_a_), text(b, addresses_b_));
  }

  static bool is_address(const Side& side, std::uint32_t offset) {
    return side.argument.pointers.contains(offset);
  }

  /// Counts the bytes that vary on a side.
  bool masked(const Side& a, const Side& b, std::size_t offset, std::size_t size) {
    std::size_t varying = 0;
    for (std::size_t i = offset; i < offset + size; ++i)
      varying += any_varies(a, i, 1) || any_varies(b, i, 1) ? 1 : 0;
    result_.masked += varying;
    return varying > 0;
  }

  static bool equal(const Side& a, const Side& b, std::size_t offset, std::size_t size) {
    return std::equal(a.argument.bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                      a.argument.bytes.begin() + static_cast<std::ptrdiff_t>(offset + size),
                      b.argument.bytes.begin() + static_cast<std::ptrdiff_t>(offset));
  }

  void by_words(std::size_t argument, const Side& a, const Side& b) {
    const std::size_t size = a.argument.bytes.size();
    const auto place = [&](std::size_t offset) { return place_name(argument, size, offset); };
    for (std::size_t offset = 0; offset < size;) {
      const auto where = static_cast<std::uint32_t>(offset);
      if (offset + 8 <= size && (is_address(a, where) || is_address(b, where))) {
        address(place(offset), argument, a, b, where);
        offset += 8;
        continue;
      }
      const std::size_t step =
          std::min<std::size_t>(offset % 4 == 0 && size - offset >= 4 ? 4 : 1, size - offset);
      if (!equal(a, b, offset, step)) {
        if (masked(a, b, offset, step)) {
          beside_masked(argument, a, b, offset, step);
        } else if (size == 8) {
          // A whole argument of 8 bytes is one number.
          return add(place(0), wide_text(a), wide_text(b));
        } else if (step == 4) {
          add(place(offset), word_text(at<std::uint32_t>(a.argument.bytes, offset)),
              word_text(at<std::uint32_t>(b.argument.bytes, offset)));
        } else {
          add(place(offset), std::to_string(a.argument.bytes[offset]),
              std::to_string(b.argument.bytes[offset]));
        }
      }
      offset += step;
    }
  }

  /// Bytes of a word that do not vary, beside others that do: a flag before padding.
  void beside_masked(std::size_t argument, const Side& a, const Side& b, std::size_t offset,
                     std::size_t step) {
    for (std::size_t i = offset; i < offset + step; ++i)
      if (!any_varies(a, i, 1) && !any_varies(b, i, 1))
        add(place_name(argument, a.argument.bytes.size(), i), std::to_string(a.argument.bytes[i]),
            std::to_string(b.argument.bytes[i]));
  }

  static std::string wide_text(const Side& side) {
    const auto number = at<std::int64_t>(side.argument.bytes, 0);
    const auto real = at<double>(side.argument.bytes, 0);
    constexpr std::int64_t kLargestPlain = std::int64_t{1} << 48;
    if (std::abs(number) < kLargestPlain || !std::isfinite(real) || std::abs(real) > 1e100 ||
        std::abs(real) < 1e-100)
      return std::to_string(number);
    return fmt::format("{} (0x{:016x})", real, static_cast<std::uint64_t>(number));
  }

  void by_fields(const std::vector<Field>& fields, std::size_t argument, const Side& a, const Side& b) {
    for (const Field& field : fields) {
      if (field.type == "pointer" && field.size == 8) {
        address(field.name, argument, a, b, field.offset);
        continue;
      }
      if (equal(a, b, field.offset, field.size) || masked(a, b, field.offset, field.size)) continue;
      add(field.name, field_text(field, a), field_text(field, b));
    }
  }

  static std::string field_text(const Field& field, const Side& side) {
    const auto& bytes = side.argument.bytes;
    const std::size_t offset = field.offset;
    if (field.type == "float" && field.size == 4) return fmt::format("{}", at<float>(bytes, offset));
    if (field.type == "float" && field.size == 8) return fmt::format("{}", at<double>(bytes, offset));
    if (field.type == "bool" && field.size == 1) return bytes[offset] != 0 ? "true" : "false";
    if (field.type == "int" && field.size == 1) return std::to_string(at<std::int8_t>(bytes, offset));
    if (field.type == "int" && field.size == 2) return std::to_string(at<std::int16_t>(bytes, offset));
    if (field.type == "int" && field.size == 4) return std::to_string(at<std::int32_t>(bytes, offset));
    if (field.type == "int" && field.size == 8) return std::to_string(at<std::int64_t>(bytes, offset));
    return bytes_text(bytes, offset, field.size);
  }

  const LaunchGroup& a_;
  const LaunchGroup& b_;
  Addresses addresses_a_, addresses_b_;
  ArgumentDifferences result_;
};

}  // namespace

ArgumentDifferences compare_arguments(const LaunchGroup& a, const LaunchGroup& b,
                                      const ParameterLayouts& layouts) {
  if (!a.first.arguments_known || !b.first.arguments_known) return {};
  return Comparison(a, b).run(layouts);
}

}  // namespace isomer::lab
