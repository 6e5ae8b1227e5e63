#include "lab/ask/adapting/refusal.hpp"

#include "lab/ask/adapting/changes.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

namespace isomer::lab {
namespace {

bool letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// c10's names of scalar types.
DType of_scalar_type(const std::string& name) {
  static const std::array<std::pair<const char*, DType>, 10> kNames = {{{"Float", DType::f32},
                                                                        {"Half", DType::f16},
                                                                        {"BFloat16", DType::bf16},
                                                                        {"Double", DType::f64},
                                                                        {"Char", DType::i8},
                                                                        {"Byte", DType::u8},
                                                                        {"Short", DType::i16},
                                                                        {"Int", DType::i32},
                                                                        {"Long", DType::i64},
                                                                        {"Float8_e4m3fn", DType::e4m3fn}}};
  for (const auto& [spelling, dtype] : kNames)
    if (name == spelling) return dtype;
  return DType::none;
}

struct ScalarTypes {
  DType wanted = DType::none, found = DType::none;
};

std::optional<ScalarTypes> scalar_types(const std::string& message) {
  static const Pattern expected("expected scalar type (\\w+) but found (\\w+)"),
      unsupported("not implemented for '(\\w+)'");
  if (const std::optional<Match> match = expected.find(message))
    return ScalarTypes{of_scalar_type((*match)[1]), of_scalar_type((*match)[2])};
  if (const std::optional<Match> match = unsupported.find(message))
    return ScalarTypes{DType::none, of_scalar_type((*match)[1])};
  return {};
}

}  // namespace

bool names_argument(const std::string& said, const std::string& argument) {
  // Letters by themselves are articles, or another letter in the other case.
  const bool word = argument.size() > 1;
  const std::string message = word ? lower_case(said) : said, name = word ? lower_case(argument) : argument;
  if (name.empty() || name == "a" || name == "i") return false;
  for (std::size_t at = message.find(name); at != std::string::npos; at = message.find(name, at + 1)) {
    const bool begins = at == 0 || !letter(message[at - 1]);
    const bool ends = at + name.size() == message.size() || !letter(message[at + name.size()]);
    // "out of range" is no tensor's name.
    const bool phrase = name == "out" && message.compare(at, 7, "out of ") == 0;
    if (begins && ends && !phrase) return true;
  }
  return false;
}

bool may_be_meant(const std::string& message, DType given, DType wanted) {
  const std::optional<ScalarTypes> said = scalar_types(message);
  if (!said) return true;
  return (said->found == DType::none || said->found == given) &&
         (said->wanted == DType::none || said->wanted == wanted);
}

bool tells_the_dtype(const std::string& message) { return scalar_types(message).has_value(); }

Refusal refusal_of(const std::string& message, const std::vector<std::string>& names) {
  static const Pattern contiguous("contiguous|stride", Pattern::Letters::of_any_case),
      device("\\bdevice\\b|\\bis_(cuda|cpu|hip)\\b|(cuda|gpu|cpu|hip) tensor|\\bon (the )?(gpu|cpu|cuda)\\b",
             Pattern::Letters::of_any_case),
      rank("dim\\(\\)|\\bndim|\\brank\\b|\\b\\d ?-?d\\b|dimensional|\\bdimensions\\b|dimension out of range",
           Pattern::Letters::of_any_case);
  Refusal refusal;
  for (const std::string& name : names)
    if (names_argument(message, name) &&
        std::find(refusal.arguments.begin(), refusal.arguments.end(), name) == refusal.arguments.end())
      refusal.arguments.push_back(name);
  const std::string what = refusal.arguments.empty() ? "the argument" : refusal.arguments.front();
  if (contiguous.found_in(message)) {
    refusal.code = Code::assumes_contiguous;
    refusal.fix = "address " + what + " by its strides";
  } else if (device.found_in(message)) {
    refusal.code = Code::argument_kind;
    refusal.fix = "take " + what + " on the device on which callers have it";
  } else if (rank.found_in(message)) {
    refusal.code = Code::rank_refused;
    refusal.fix = "take " + what + " with the dimensions that it has";
  } else if (scalar_types(message) || (is_about_dtype(message) && !is_about_rank(message))) {
    refusal.code = Code::dtype_refused;
    refusal.fix = "take the dtype that " + what + " has";
  } else {
    refusal.code = Code::shape_refused;
    refusal.fix = "accept the sizes that the original accepts";
  }
  return refusal;
}

void say_what_is_refused(const std::string& message, const Entry& entry, const std::vector<Port::Role>& roles,
                         Finding& finding) {
  std::vector<std::string> names;
  for (const Parameter& p : entry.parameters) names.push_back(p.name);
  // A role that a parameter of another spelling stands for is named once.
  for (const Port::Role& role : roles)
    if (std::none_of(names.begin(), names.end(),
                     [&](const std::string& name) { return lower_case(name) == lower_case(role.name); }))
      names.push_back(role.name);
  const Refusal refusal = refusal_of(message, names);
  finding.code = refusal.code;
  finding.fix = refusal.fix;
  for (const std::string& name : refusal.arguments)
    finding.argument += (finding.argument.empty() ? "" : ", ") + name;
}

}  // namespace isomer::lab
