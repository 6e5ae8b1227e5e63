#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace isomer::lab {
namespace {

constexpr std::size_t kFewest = 3;

/// The elements that stand where those of an answer do: of inputs, and of what the answer is written into.
struct Beside {
  std::string name;
  std::vector<double> elements;
};
std::vector<Beside> beside(const Replayed& replayed, const Replayed::Output& output) {
  std::vector<Beside> list;
  if (output.before.defined()) list.push_back({output.name, oracle::elements(output.before)});
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
    const Value& value = replayed.values[r];
    if (!replayed.roles[r].output && value.is_tensor() && is_float(value.tensor.dtype) &&
        value.tensor.numel() == output.want.numel())
      list.push_back({replayed.roles[r].name, oracle::elements(value.tensor)});
  }
  return list;
}

}  // namespace

Finding wrong_by_sign(const Replayed& replayed, std::size_t output, const std::vector<bool>& wrong) {
  const Replayed::Output& of = replayed.outputs[output];
  const std::vector<double> want = oracle::elements(of.want);
  const std::vector<double> before =
      of.before.defined() ? oracle::elements(of.before) : std::vector<double>();
  for (const Beside& input : beside(replayed, of))
    for (const bool below : {true, false}) {
      std::size_t bad = 0, good = 0;
      bool holds = input.elements.size() == want.size();
      for (std::size_t i = 0; i < want.size() && holds; ++i) {
        if (i < before.size() && before[i] == want[i] && !wrong[i]) continue;  // left as it was
        const bool on_that_side = below ? input.elements[i] < 0 : input.elements[i] > 0;
        holds = on_that_side == wrong[i];
        ++(wrong[i] ? bad : good);
      }
      if (!holds || bad < kFewest || good < kFewest) continue;
      Finding finding;
      finding.code = Code::approximation;
      finding.argument = of.name;
      finding.evidence = fmt::format(
          "is wrong in just the {} elements of which that of {} is {} 0, and right in the {} others: another "
          "formula "
          "stands there",
          bad, input.name, below ? "below" : "above", good);
      finding.fix = fmt::format("compute elements {} 0 as the original does", below ? "below" : "above");
      return finding;
    }
  return {};
}

Finding wrong_at_named_index(const Replayed& replayed, std::size_t output, const std::vector<bool>& wrong) {
  const Replayed::Output& of = replayed.outputs[output];
  const auto numbers = [&](const std::function<void(const std::string&, std::int64_t)>& each) {
    for (std::size_t r = 0; r < replayed.call->before.size(); ++r)
      if (replayed.values[r].kind == Value::Kind::integer)
        each(replayed.roles[r].name, replayed.values[r].integer);
    for (const Value& value : replayed.left_out)
      if (value.kind == Value::Kind::integer) each(value.name, value.integer);
  };
  for (int d = 0; d < of.want.rank; ++d) {
    const std::int64_t size = of.want.size(d);
    if (size < 3) continue;
    std::int64_t behind = 1;
    for (int e = d + 1; e < of.want.rank; ++e) behind *= of.want.size(e);
    std::int64_t only = -1;
    std::size_t count = 0;
    bool one = true;
    for (std::size_t i = 0; i < wrong.size() && one; ++i) {
      if (!wrong[i]) continue;
      const std::int64_t at = static_cast<std::int64_t>(i) / behind % size;
      one = only < 0 || only == at;
      only = at;
      ++count;
    }
    if (!one || only < 0 || static_cast<std::int64_t>(2 * count) < of.want.numel() / size) continue;
    Finding finding;
    numbers([&](const std::string& name, std::int64_t value) {
      // Sizes name no row, and an end of rows is one besides.
      static const Pattern names_one("\\w*(ignore|pad|skip|mask|eos|bos|blank|null)\\w*");
      if (value != only || finding.code != Code::none || !names_one.is(lower_case(name))) return;
      finding.code = Code::ignores_argument;
      finding.argument = name;
      finding.evidence = fmt::format(
          "is wrong at index {} of dimension {} alone, which is {}, in {} elements", only, d, name, count);
      finding.fix = fmt::format("treat the index that {} names as the original does", name);
    });
    if (finding.code != Code::none) return finding;
  }
  return {};
}

Finding wrong_at_beginnings(const Compared& c, const std::vector<std::size_t>& at) {
  constexpr std::size_t kFewestWrong = 4;
  if (at.size() < kFewestWrong) return {};
  std::vector<std::int64_t> behind(static_cast<std::size_t>(c.want.rank), 1);
  for (int d = c.want.rank - 2; d >= 0; --d)
    behind[static_cast<std::size_t>(d)] = behind[static_cast<std::size_t>(d + 1)] * c.want.size(d + 1);
  const auto index = [&](std::size_t i, int d) {
    return static_cast<std::int64_t>(i) / behind[static_cast<std::size_t>(d)] % c.want.size(d);
  };
  for (int d = 1; d < c.want.rank; ++d)
    for (int outer = 0; outer < d; ++outer)
      for (const bool first : {true, false}) {
        const std::int64_t size = c.want.size(d), sequences = c.want.size(outer);
        if (size < 3 || sequences < 2) continue;
        bool only = true;
        for (const std::size_t i : at)
          only = only && index(i, d) == (first ? 0 : size - 1) &&
                 (first ? index(i, outer) > 0 : index(i, outer) + 1 < sequences);
        const auto all = static_cast<double>(c.want.numel() / size / sequences * (sequences - 1));
        if (!only || static_cast<double>(at.size()) < 0.9 * all) continue;
        Finding finding;
        finding.code = Code::off_by_one;
        finding.argument = c.name;
        finding.evidence = fmt::format(
            "is wrong at the {} index of dimension {} alone, in all but the {} of dimension {}: it is made "
            "of what "
            "stands {} it in memory, which belongs to another",
            first ? "first" : "last", d, first ? "first" : "last", outer, first ? "before" : "behind");
        finding.fix =
            fmt::format("treat the {} index of dimension {} as the original does in each of dimension {}",
                        first ? "first" : "last", d, outer);
        return finding;
      }
  return {};
}

}  // namespace isomer::lab
