#include "lab/ask/recorded/kind_words.hpp"

#include "lab/ask/names/bare.hpp"
#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"

#include <set>

namespace isomer::lab {
namespace {

constexpr const char *kNothing = "no value", *kNumber = "a number", *kTensor = "a tensor";

}  // namespace

std::string kind_word(const Replayed& call, const std::string& argument) {
  for (std::size_t r = 0; r < call.call->before.size() && r < call.values.size(); ++r) {
    if (call.roles[r].name != argument) continue;
    const Value& value = call.values[r];
    const bool number = value.kind == Value::Kind::real || value.kind == Value::Kind::integer ||
                        value.kind == Value::Kind::boolean;
    return value.is_tensor() ? kTensor : number ? kNumber : kNothing;
  }
  return kNothing;
}

bool is_number_or_tensor(const std::vector<Replayed>& calls, const std::string& argument) {
  std::set<std::string> kinds;
  for (const Replayed& call : calls) kinds.insert(kind_word(call, argument));
  return kinds.count(kNumber) > 0 && kinds.count(kTensor) > 0;
}

const std::vector<OptionWord>& kind_words() {
  static const std::vector<OptionWord> words = {
      {kNothing, {"none", "null", "absent", "nothing", "no"}},
      {kNumber, {"number", "scalar", "float", "value", "constant"}},
      {kTensor, {"tensor", "array", "buffer", "pointer", "elementwise"}}};
  return words;
}

std::string argument_of_kind(const std::string& parameter, const std::vector<Replayed>& calls) {
  static const Pattern of_kind("(?:(\\w+?)_?)?(?:kind|type|mode|tag|is_?(?:tensor|scalar|number))");
  static const Pattern before("is_(?:tensor|scalar|number)_(\\w+)");
  const std::string lower = lower_case(parameter);
  std::optional<Match> match = before.whole(lower);
  if (!match) match = of_kind.whole(lower);
  if (!match) return {};
  std::set<std::string> found;
  for (const Replayed& call : calls)
    for (std::size_t r = 0; r < call.call->before.size(); ++r) {
      const std::string& name = call.roles[r].name;
      if ((!match->has(1) || bare((*match)[1]) == bare(name)) && is_number_or_tensor(calls, name))
        found.insert(name);
    }
  return found.size() == 1 ? *found.begin() : std::string();
}

std::optional<std::map<std::string, int>> codes_of_kind_flag(const std::string& parameter) {
  static const Pattern tensor("(?:\\w+_)?is_?tensor(?:_\\w+)?"),
      number("(?:\\w+_)?is_?(?:scalar|number)(?:_\\w+)?");
  const std::string lower = lower_case(parameter);
  if (!tensor.is(lower) && !number.is(lower)) return std::nullopt;
  return std::map<std::string, int>{{kNothing, 0}, {kNumber, number.is(lower)}, {kTensor, tensor.is(lower)}};
}

}  // namespace isomer::lab
