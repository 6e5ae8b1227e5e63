#include "lab/diff/argument_words.hpp"

#include "core/sentence.hpp"
#include "lab/names/field_names.hpp"

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

/// The fields of one launch's parameters; of one that no table knows none.
using LaunchFields = std::vector<std::vector<NamedField>>;

LaunchFields fields_of(const LaunchGroup& group, const ParameterLayouts& layouts) {
  LaunchFields all;
  for (std::size_t i = 0; i < group.first.arguments.size(); ++i) {
    const ArgumentBytes& argument = group.first.arguments[i];
    const auto* layout =
        layouts.find(group.name.family, group.name.arity, i, argument.bytes.size(), group.name.text);
    all.push_back(layout == nullptr ? std::vector<NamedField>{}
                                    : named_fields(*layout, group.name.fields.get(), argument));
  }
  return all;
}

/// A launch's addresses in words that mean the same in a program that allocates otherwise: where each first
/// appears.
class Addresses {
 public:
  Addresses(const Launch& launch, const LaunchFields& fields) {
    for (std::size_t i = 0; i < launch.arguments.size(); ++i)
      for (const auto& [offset, place] : launch.arguments[i].pointers) {
        const auto field =
            std::find_if(fields[i].begin(), fields[i].end(), [at = offset](const NamedField& each) {
              return each.field->offset == at && each.field->size == 8;
            });
        first_.try_emplace(place, field == fields[i].end()
                                      ? place_name(i, launch.arguments[i].bytes.size(), offset)
                                      : field->name);
      }
  }
  std::string text(const std::string& place, const std::string& here) const {
    const std::string& first = first_.at(place);
    return first == here ? "an address" : "the address of " + first;
  }

 private:
  std::map<std::string, std::string> first_;
};

/// Larger arguments are structs of which only a table can tell padding from values.
constexpr std::size_t kSmallStruct = 64;

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

class WordComparison {
 public:
  WordComparison(const LaunchGroup& a, const LaunchGroup& b, const ParameterLayouts& layouts)
      : a_(a),
        b_(b),
        fields_a_(fields_of(a, layouts)),
        fields_b_(fields_of(b, layouts)),
        addresses_a_(a.first, fields_a_),
        addresses_b_(b.first, fields_b_) {}

  ArgumentDifferences run() {
    const auto& left = a_.first.arguments;
    const auto& right = b_.first.arguments;
    const bool one_kernel = a_.name.text == b_.name.text;
    // Another instantiation has another struct: nothing but names says which of its bytes are the same field.
    const bool words = one_kernel || std::equal(left.begin(), left.end(), right.begin(), right.end(),
                                                [](const ArgumentBytes& x, const ArgumentBytes& y) {
                                                  return x.bytes.size() == y.bytes.size();
                                                });
    if (left.size() != right.size() && one_kernel)
      add("number of arguments", std::to_string(left.size()), std::to_string(right.size()));
    for (std::size_t i = 0; i < std::min(left.size(), right.size()); ++i) {
      const Side a{left[i], a_.varying[i]}, b{right[i], b_.varying[i]};
      if (!fields_a_[i].empty() && !fields_b_[i].empty()) {
        by_fields(fields_a_[i], fields_b_[i], a, b);
        continue;
      }
      if (a.argument.bytes.size() != b.argument.bytes.size()) {
        if (!one_kernel) continue;
        add(core::say("argument ", i, " size"), core::say(a.argument.bytes.size(), " bytes"),
            core::say(b.argument.bytes.size(), " bytes"));
        continue;
      }
      if (!words) continue;
      const std::size_t before = result_.differences.size();
      by_words(i, a, b);
      if (a.argument.bytes.size() > kSmallStruct) set_apart(before, a, b);
      result_.once |= a_.count == 1 || b_.count == 1;
    }
    return std::move(result_);
  }

  static std::string value(const std::string& name, const Field& field, const Side& side,
                           const Addresses& addresses) {
    if (field.type == "pointer" && field.size == 8) return address_text(name, side, field.offset, addresses);
    if (field.type == "bytes") return bytes_and_addresses(name, field, side, addresses);
    return field_text(field, side);
  }

  static std::string field_text(const Field& field, const Side& side) {
    const auto& bytes = side.argument.bytes;
    const std::size_t offset = field.offset;
    if (field.type == "float" && field.size == 4) return fmt::format("{}", at<float>(bytes, offset));
    if (field.type == "float" && field.size == 8) return fmt::format("{}", at<double>(bytes, offset));
    if (field.type == "bool" && field.size == 1) return bytes[offset] != 0 ? "true" : "false";
    if (field.type == "int" || field.type == "uint") {
      const bool is_signed = field.type == "int";
      const auto number = [&](auto as_signed, auto as_unsigned) {
        return is_signed ? std::to_string(at<decltype(as_signed)>(bytes, offset))
                         : std::to_string(at<decltype(as_unsigned)>(bytes, offset));
      };
      switch (field.size) {
        case 1:
          return number(std::int8_t{}, std::uint8_t{});
        case 2:
          return number(std::int16_t{}, std::uint16_t{});
        case 4:
          return number(std::int32_t{}, std::uint32_t{});
        case 8:
          return number(std::int64_t{}, std::uint64_t{});
        default:
          break;
      }
    }
    return bytes_text(bytes, offset, field.size);
  }

 private:
  /// Addresses say what they are; any other word of such a struct may be padding that was never written.
  void set_apart(std::size_t before, const Side& a, const Side& b) {
    const auto known = [&](const Difference& each) {
      const std::size_t word = each.name.rfind(" byte ");
      if (word == std::string::npos) return true;
      const auto offset = static_cast<std::uint32_t>(std::stoul(each.name.substr(word + 6)));
      return is_address(a, offset) && (is_address(b, offset) || each.b == "null");
    };
    const auto begin = result_.differences.begin() + static_cast<std::ptrdiff_t>(before);
    const auto unknown = std::stable_partition(begin, result_.differences.end(), known);
    result_.unknown.insert(result_.unknown.end(), unknown, result_.differences.end());
    result_.differences.erase(unknown, result_.differences.end());
  }

  void add(const std::string& name, const std::string& a, const std::string& b) {
    if (a != b) result_.differences.push_back({name, a, b});
  }

  /// An address of that name, as each side has it.
  static std::string address_text(const std::string& name, const Side& side, std::uint32_t offset,
                                  const Addresses& addresses) {
    const auto place = side.argument.pointers.find(offset);
    if (place != side.argument.pointers.end()) return addresses.text(place->second, name);
    const auto word = at<std::uint64_t>(side.argument.bytes, offset);
    return word == 0 ? "null" : fmt::format("0x{:x}, no address of device memory", word);
  }

  /// Of bytes such as a tensor map's: an address as what it is, which no other run has, between what stands
  /// around it.
  static std::string bytes_and_addresses(const std::string& name, const Field& field, const Side& side,
                                         const Addresses& addresses) {
    std::string text;
    const auto add = [&](const std::string& piece) { text += (text.empty() ? "" : ", ") + piece; };
    std::uint32_t begin = 0;
    const auto add_bytes = [&](std::uint32_t end) {
      if (end > begin) add(bytes_text(side.argument.bytes, field.offset + begin, end - begin));
      begin = end;
    };
    for (std::uint32_t i = 0; i + 8 <= field.size; i += 8) {
      if (!is_address(side, field.offset + i)) continue;
      add_bytes(i);
      add(address_text(name, side, field.offset + i, addresses));
      begin = i + 8;
    }
    add_bytes(field.size);
    return text;
  }

  static bool is_address(const Side& side, std::uint32_t offset) {
    return side.argument.pointers.contains(offset);
  }

  /// Counts the bytes that vary on a side.
  bool masked(const Side& a, std::size_t in_a, const Side& b, std::size_t in_b, std::size_t size) {
    std::size_t varying = 0;
    for (std::size_t i = 0; i < size; ++i)
      varying += any_varies(a, in_a + i, 1) || any_varies(b, in_b + i, 1) ? 1 : 0;
    result_.masked += varying;
    return varying > 0;
  }

  static bool equal(const Side& a, std::size_t in_a, const Side& b, std::size_t in_b, std::size_t size) {
    return std::equal(a.argument.bytes.begin() + static_cast<std::ptrdiff_t>(in_a),
                      a.argument.bytes.begin() + static_cast<std::ptrdiff_t>(in_a + size),
                      b.argument.bytes.begin() + static_cast<std::ptrdiff_t>(in_b));
  }

  void by_words(std::size_t argument, const Side& a, const Side& b) {
    const std::size_t size = a.argument.bytes.size();
    const auto place = [&](std::size_t offset) { return place_name(argument, size, offset); };
    for (std::size_t offset = 0; offset < size;) {
      const auto where = static_cast<std::uint32_t>(offset);
      if (offset + 8 <= size && (is_address(a, where) || is_address(b, where))) {
        add(place(offset), address_text(place(offset), a, where, addresses_a_),
            address_text(place(offset), b, where, addresses_b_));
        offset += 8;
        continue;
      }
      const std::size_t step =
          std::min<std::size_t>(offset % 4 == 0 && size - offset >= 4 ? 4 : 1, size - offset);
      if (!equal(a, offset, b, offset, step)) {
        if (masked(a, offset, b, offset, step)) {
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

  /// By their names, wherever they lie on each side. A field that one side alone has follows from the other
  /// instantiation, unless people know it by name: what the call gave.
  void by_fields(const std::vector<NamedField>& left, const std::vector<NamedField>& right, const Side& a,
                 const Side& b) {
    std::map<std::string_view, const NamedField*> in_a, in_b;
    for (const NamedField& each : left) in_a.emplace(each.name, &each);
    for (const NamedField& each : right) in_b.emplace(each.name, &each);
    std::vector<const NamedField*> known, others;
    for (const NamedField& each : left) (each.known ? known : others).push_back(&each);
    for (const NamedField& each : right)
      if (each.known && !in_a.contains(each.name)) known.push_back(&each);
    known.insert(known.end(), others.begin(), others.end());
    for (const NamedField* each : known) {
      const auto x = in_a.find(each->name), y = in_b.find(each->name);
      if (x != in_a.end() && y != in_b.end())
        field(each->name, *x->second->field, *y->second->field, a, b);
      else if (each->known)
        add(each->name, x == in_a.end() ? "" : value(each->name, *x->second->field, a, addresses_a_),
            y == in_b.end() ? "" : value(each->name, *y->second->field, b, addresses_b_));
    }
  }

  void field(const std::string& name, const Field& in_a, const Field& in_b, const Side& a, const Side& b) {
    if (in_a.type == "bytes" && in_b.type == "bytes" && in_a.size == in_b.size)
      return opaque(name, in_a, in_b, a, b);
    if (in_a.type != "pointer" && in_a.type == in_b.type && in_a.size == in_b.size &&
        (equal(a, in_a.offset, b, in_b.offset, in_a.size) ||
         masked(a, in_a.offset, b, in_b.offset, in_a.size)))
      return;
    add(name, value(name, in_a, a, addresses_a_), value(name, in_b, b, addresses_b_));
  }

  /// Words that no type is known of, as a tensor map's: those that differ, and of addresses what they are.
  void opaque(const std::string& name, const Field& in_a, const Field& in_b, const Side& a, const Side& b) {
    std::string left, right;
    const auto word = [&](std::uint32_t i, const std::string& x, const std::string& y) {
      if (x == y) return;
      const std::string place = in_a.size <= 8 ? "" : core::say(left.empty() ? "" : ", ", "byte ", i, " ");
      left += place + x;
      right += place + y;
    };
    for (std::uint32_t i = 0; i < in_a.size; i += 8) {
      const std::uint32_t size = std::min(8u, in_a.size - i), x = in_a.offset + i, y = in_b.offset + i;
      if (is_address(a, x) || is_address(b, y))
        word(i, address_text(name, a, x, addresses_a_), address_text(name, b, y, addresses_b_));
      else if (!equal(a, x, b, y, size) && !masked(a, x, b, y, size))
        word(i, bytes_text(a.argument.bytes, x, size), bytes_text(b.argument.bytes, y, size));
    }
    add(name, left, right);
  }

  const LaunchGroup& a_;
  const LaunchGroup& b_;
  LaunchFields fields_a_, fields_b_;
  Addresses addresses_a_, addresses_b_;
  ArgumentDifferences result_;
};

}  // namespace

std::vector<std::pair<std::string, std::string>> argument_values(const LaunchGroup& group,
                                                                 const ParameterLayouts& layouts) {
  std::vector<std::pair<std::string, std::string>> values;
  if (!group.first.arguments_known) return values;
  const LaunchFields fields = fields_of(group, layouts);
  const Addresses addresses(group.first, fields);
  for (std::size_t i = 0; i < group.first.arguments.size(); ++i) {
    const ArgumentBytes& argument = group.first.arguments[i];
    const Side side{argument, group.varying[i]};
    for (const NamedField& each : fields[i])
      values.emplace_back(each.name, WordComparison::value(each.name, *each.field, side, addresses));
    if (!fields[i].empty()) continue;
    const std::size_t size = argument.bytes.size();
    const std::string name = core::say("argument ", i);
    if (argument.pointers.contains(0) && size == 8)
      values.emplace_back(name, addresses.text(argument.pointers.at(0), name));
    else if (size == 4)
      values.emplace_back(name, word_text(at<std::uint32_t>(argument.bytes, 0)));
    else if (size <= 8)
      values.emplace_back(
          name, WordComparison::field_text({name, 0, static_cast<std::uint32_t>(size), "int"}, side));
    else
      values.emplace_back(name, core::say(size, " bytes without a table of their fields"));
  }
  return values;
}

ArgumentDifferences compare_arguments(const LaunchGroup& a, const LaunchGroup& b,
                                      const ParameterLayouts& layouts) {
  if (!a.first.arguments_known || !b.first.arguments_known) return {};
  return WordComparison(a, b, layouts).run();
}

}  // namespace isomer::lab
