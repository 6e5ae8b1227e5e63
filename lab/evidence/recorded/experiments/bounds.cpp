#include "core/codec.hpp"
#include "lab/evidence/recorded/experiments/experiments.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace isomer::lab {
namespace {

using Elements = std::vector<double>;

/// A real number of the call, passed or left at the original's default.
struct Number {
  std::string name;
  double value = 0;
};

std::vector<Number> numbers_of(const Replayed& replayed) {
  std::vector<Number> list;
  const auto add = [&](const std::string& name, const Value& value) {
    if (value.kind == Value::Kind::real && std::isfinite(value.real) && std::fabs(value.real) >= 1e-2)
      list.push_back({name, value.real});
  };
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r)
    add(replayed.roles[r].name, replayed.values[r]);
  for (const Value& value : replayed.left_out) add(value.name, value);
  return list;
}

/// Elements of a tensor that a kernel may treat alike: all, or one half of each row.
struct Share {
  const char* said;
  bool (*has)(std::size_t column, std::size_t width);
};
constexpr Share kShares[] = {
    {"{}", [](std::size_t, std::size_t) { return true; }},
    {"the first half of each row of {}", [](std::size_t c, std::size_t width) { return 2 * c < width; }},
    {"the second half of each row of {}", [](std::size_t c, std::size_t width) { return 2 * c >= width; }},
    {"the even elements of each row of {}", [](std::size_t c, std::size_t) { return c % 2 == 0; }},
    {"the odd elements of each row of {}", [](std::size_t c, std::size_t) { return c % 2 == 1; }},
};

}  // namespace

void add_bound_experiments(const Approach& approach, const Replayed& replayed,
                           std::vector<Experiment>& list) {
  const std::vector<Number> numbers = numbers_of(replayed);
  for (const Passing& passing : approach.form.passings) {
    if (passing.what != Passing::What::role || numbers.empty()) continue;
    const auto role = static_cast<std::size_t>(passing.role);
    const Value& value = replayed.values[role];
    if (replayed.roles[role].output || !value.is_tensor() || value.tensor.empty() ||
        !is_float(value.tensor.dtype) || value.tensor.rank == 0)
      continue;
    const Elements elements = oracle::elements(value.tensor);
    const auto width = static_cast<std::size_t>(value.tensor.size(-1));
    for (const Share& share : kShares) {
      if (&share != kShares && (width < 4 || width % 2 != 0)) continue;
      for (const Number& number : numbers)
        for (const bool below : {true, false}) {
          const double bound = below ? -std::fabs(number.value) : number.value;
          const bool reached = [&] {
            for (std::size_t i = 0; i < elements.size(); ++i)
              if (share.has(i % width, width) && (below ? elements[i] < bound : elements[i] > bound))
                return true;
            return false;
          }();
          if (!reached) continue;
          Experiment experiment{.form = approach.form};
          Adaptation adaptation;
          adaptation.before = [role, share, bound, below](std::vector<Value>& values) {
            Value& v = values[role];
            if (!v.is_tensor() || v.tensor.empty()) return;
            Value made = compact_copy(v);
            const Elements now = oracle::elements(v.tensor);
            const auto size = static_cast<std::size_t>(size_of(v.tensor.dtype));
            const auto row = static_cast<std::size_t>(v.tensor.size(-1));
            for (std::size_t i = 0; i < now.size(); ++i)
              if (share.has(i % row, row))
                core::encode(v.tensor.dtype, below ? std::max(now[i], bound) : std::min(now[i], bound),
                             static_cast<std::byte*>(made.storage.get()) + i * size);
            v = std::move(made);
          };
          experiment.adaptations.push_back(std::move(adaptation));
          const std::string of = fmt::format(fmt::runtime(share.said), replayed.roles[role].name);
          experiment.finding.code = Code::clamp;
          experiment.finding.argument = replayed.roles[role].name;
          experiment.finding.evidence = fmt::format(
              "the answer is right if the elements of {} are made {} {:g} beforehand, {} {}", of,
              below ? "at least" : "at most", bound, below ? "the negative of" : "which is", number.name);
          experiment.finding.fix = fmt::format("take the {} of {} and {:g}, as the original does",
                                               below ? "maximum" : "minimum", of, bound);
          list.push_back(std::move(experiment));
        }
    }
  }
}

}  // namespace isomer::lab
