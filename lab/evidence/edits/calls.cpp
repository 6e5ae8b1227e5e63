#include "lab/evidence/edits/calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace isomer::lab {
namespace {

/// Tokens from the first to the last.
using Range = std::pair<std::size_t, std::size_t>;

/// A function by its name, and what it is given.
struct Call {
  std::size_t name = 0, close = 0;
  std::vector<Range> arguments;
};

class Calls {
 public:
  Calls(const EditPlaces& places, ChangedValues& changed)
      : places_(places), tokens_(places.tokens()), changed_(changed) {}

  void add(const SourceValue& value) {
    for (std::size_t at = value.first; at <= value.last; ++at) {
      const Call call = call_at(at);
      if (call.arguments.empty() || call.close > value.last) continue;
      add_parts(value, call);
      add_sum(value, call);
      add_function(value, call);
      add_last_bit(value, call);
      add_lane(value, call);
      if (call.arguments.size() == 2) add_inner(value, call);
      if (call.arguments.size() == 2) add_limits(value, call);
    }
  }

 private:
  std::string text(Range range) const { return std::string(tokens_.text(range.first, range.second)); }

  /// No call where a type, a cast or a member stands there.
  Call call_at(std::size_t at) const {
    Call call;
    if (!tokens_.is_name(at) || !tokens_.is(at + 1, "(") || tokens_[at + 1].partner <= at + 2) return call;
    if (at > 0 && (tokens_.is(at - 1, ".") || tokens_.is(at - 1, "->"))) return call;
    if (is_number_word(tokens_.text(at)) || tokens_.is(at, "sizeof")) return call;
    call.name = at;
    call.close = tokens_[at + 1].partner;
    std::size_t first = at + 2;
    for (std::size_t i = first; i <= call.close; i = tokens_.behind(i))
      if (tokens_.is(i, ",") || i == call.close) {
        if (i == first) return {};
        call.arguments.emplace_back(first, i - 1);
        first = i + 1;
      }
    return call;
  }

  /// `f(a - b, c)` as `f(a, c) - f(b, c)`.
  void add_parts(const SourceValue& value, const Call& call) {
    const auto [first, last] = call.arguments.front();
    for (std::size_t i = tokens_.behind(first); i < last; i = tokens_.behind(i)) {
      if ((!tokens_.is(i, "-") && !tokens_.is(i, "+")) || i == first) continue;
      if (tokens_[i - 1].kind == CppToken::Kind::number || tokens_[i + 1].kind == CppToken::Kind::number)
        continue;
      const std::string name(tokens_.text(call.name)), behind = text({last + 1, call.close});
      changed_.add(value,
                   {{call.name, call.close,
                     fmt::format("({}({}{} {} {}({}{})", name, text({first, i - 1}), behind, tokens_.text(i),
                                 name, text({i + 1, last}), behind)}},
                   Code::wrong_expression, 3);
    }
  }

  /// `f(a, c) - f(b, c)` as `f(a - b, c)`.
  void add_sum(const SourceValue& value, const Call& call) {
    const std::size_t sign = call.close + 1;
    if (sign >= value.last || (!tokens_.is(sign, "-") && !tokens_.is(sign, "+"))) return;
    const Call other = call_at(sign + 1);
    if (other.arguments.size() != call.arguments.size() || call.arguments.empty() ||
        other.close > value.last || tokens_.text(other.name) != tokens_.text(call.name))
      return;
    for (std::size_t i = 1; i < call.arguments.size(); ++i)
      if (text(call.arguments[i]) != text(other.arguments[i])) return;
    changed_.add(value,
                 {{call.name, other.close,
                   fmt::format("{}({} {} {}{}", tokens_.text(call.name), text(call.arguments.front()),
                               tokens_.text(sign), text(other.arguments.front()),
                               text({call.arguments.front().second + 1, call.close}))}},
                 Code::wrong_expression, 3);
  }

  /// A function of the label's, or once more the same, of what a function is given: `exp(-exp(x))`.
  void add_function(const SourceValue& value, const Call& call) {
    static const std::vector<std::string> kReal = {"expf", "exp",   "__expf", "logf",
                                                   "log",  "sqrtf", "tanhf",  "log1pf"};
    const std::string own(tokens_.text(call.name));
    if (call.arguments.size() != 1 || std::find(kReal.begin(), kReal.end(), own) == kReal.end()) return;
    Range inner = call.arguments.front();
    if (tokens_.is(inner.first, "-") && inner.first < inner.second) ++inner.first;
    std::vector<std::string> functions = places_.label().functions;
    if (functions.size() > 3) functions.resize(3);
    if (std::find(functions.begin(), functions.end(), own) == functions.end()) functions.push_back(own);
    for (const std::string& each : functions)
      changed_.add(value, {{inner.first, inner.second, fmt::format("{}({})", each, text(inner))}},
                   Code::wrong_expression, 2);
  }

  /// The highest bit for how many there are, less one: `31 - __clz(x)` for `__popc(x) - 1`.
  void add_last_bit(const SourceValue& value, const Call& call) {
    if (!tokens_.is(call.name, "__popc") || !tokens_.is(call.close + 1, "-") ||
        !tokens_.is(call.close + 2, "1") || call.close + 2 > value.last)
      return;
    const std::string bits = text({call.name + 1, call.close});
    changed_.add(value, {{call.name, call.close + 2, "31 - __clz" + bits}}, Code::wrong_expression, 1);
    changed_.add(value, {{call.name, call.close + 2, fmt::format("__ffs{} - 1", bits)}},
                 Code::wrong_expression, 2);
  }

  /// The last lane for the first one: `__shfl(v, W - 1, W)`.
  void add_lane(const SourceValue& value, const Call& call) {
    const std::string_view name = tokens_.text(call.name);
    const std::size_t masked = name == "__shfl_sync" ? 1 : 0;
    if ((masked == 0 && name != "__shfl") || call.arguments.size() < 2 + masked) return;
    const Range lane = call.arguments[1 + masked];
    if (text(lane) != "0") return;
    const std::string width =
        call.arguments.size() > 2 + masked ? text(call.arguments[2 + masked]) + " - 1" : "warpSize - 1";
    changed_.add(value, {{lane.first, lane.second, width}}, Code::wrong_expression, 0);
  }

  /// A bound by a number of the label's, not by a variable.
  void add_limits(const SourceValue& value, const Call& call) {
    const std::string_view name = tokens_.text(call.name);
    if (name != "fminf" && name != "fmaxf" && name != "min" && name != "max" && name != "fmin" &&
        name != "fmax")
      return;
    for (const Range& each : call.arguments)
      for (const std::string& bound : places_.label().bounds)
        if (tokens_.is_name(each.first) && value.kind == SourceValue::Kind::real &&
            (each.first == each.second ||
             (each.second == each.first + 2 && !tokens_.is(each.first + 1, "["))))
          changed_.add(value, {{each.first, each.second, bound}}, Code::clamp, 2);
  }

  /// `g(f(a), b)` as `g(a, f(b))`.
  void add_inner(const SourceValue& value, const Call& call) {
    for (const int own : {0, 1}) {
      const Range argument = call.arguments[static_cast<std::size_t>(own)],
                  other = call.arguments[static_cast<std::size_t>(1 - own)];
      const Call inner = call_at(argument.first);
      if (inner.arguments.size() != 1 || inner.close != argument.second) continue;
      changed_.add(
          value,
          {{argument.first, argument.second, text(inner.arguments.front())},
           {other.first, other.second, fmt::format("{}({})", tokens_.text(inner.name), text(other))}},
          tokens_.text(inner.name).find("abs") != std::string_view::npos ? Code::missing_absolute
                                                                         : Code::wrong_expression,
          2);
    }
  }

  const EditPlaces& places_;
  const CppTokens& tokens_;
  ChangedValues& changed_;
};

}  // namespace

void add_calls(const EditPlaces& places, const std::vector<SourceValue>& values, ChangedValues& changed) {
  Calls calls(places, changed);
  for (const SourceValue& value : values) calls.add(value);
}

}  // namespace isomer::lab
