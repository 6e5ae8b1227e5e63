#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "lab/text/lower_case.hpp"
#include "lab/text/pattern.hpp"
#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace isomer::lab {
namespace {

/// Per index of that dimension, whether any element with it is wrong.
std::vector<bool> wrong_rows(const Tensor& want, int dim, const std::vector<std::uint8_t>& wrong) {
  std::vector<bool> rows(static_cast<std::size_t>(want.size(dim)));
  std::int64_t behind = 1;
  for (int d = dim + 1; d < want.rank; ++d) behind *= want.size(d);
  for (std::size_t i = 0; i < wrong.size(); ++i)
    if (wrong[i] != 0)
      rows[static_cast<std::size_t>(static_cast<std::int64_t>(i) / behind % want.size(dim))] = true;
  return rows;
}

bool both(const std::vector<bool>& rows) {
  return std::count(rows.begin(), rows.end(), true) > 0 && std::count(rows.begin(), rows.end(), false) > 0;
}

/// 0 to n − 1 in some order: places, of which 0 is one like the others.
bool are_places(std::vector<double> numbers) {
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<double>(i)) return false;
  return true;
}

}  // namespace

bool begins_at_zero(const std::string& name, const std::vector<double>& numbers) {
  static const Pattern beginning("\\w*(start|begin|offset|loc|ptr|first|indptr|cu_)\\w*");
  return !numbers.empty() && numbers.front() == 0 && beginning.is(lower_case(name));
}

Finding rows_by_count(const Replayed& replayed, const Tensor& want, const std::vector<std::uint8_t>& wrong) {
  for (std::size_t r = 0; r < replayed.roles.size(); ++r) {
    const Value& counts = replayed.values[r];
    if (replayed.roles[r].output || !counts.is_tensor() || is_float(counts.tensor.dtype) || counts.boolean ||
        counts.tensor.rank != 1)
      continue;
    const std::vector<double> numbers = oracle::elements(counts.tensor);
    // Nothing is counted by a number below 0: labels, or slots.
    if (begins_at_zero(replayed.roles[r].name, numbers) || are_places(numbers) ||
        std::any_of(numbers.begin(), numbers.end(), [](double n) { return n < 0; }))
      continue;
    for (int dim = 0; dim < want.rank; ++dim) {
      if (want.size(dim) != counts.tensor.size(0)) continue;
      const std::vector<bool> rows = wrong_rows(want, dim, wrong);
      if (!both(rows)) continue;
      const auto all_and_only = [&](auto&& said) {
        for (std::size_t i = 0; i < rows.size(); ++i)
          if (rows[i] != said(static_cast<std::int64_t>(numbers[i]))) return false;
        return true;
      };
      const auto count = std::count(rows.begin(), rows.end(), true);
      Finding finding;
      finding.argument = replayed.roles[r].name;
      if (all_and_only([](std::int64_t n) { return n == 0; })) {
        finding.code = Code::empty_input;
        finding.evidence =
            fmt::format("is wrong in all {} rows whose {} is 0, and in no others", count, finding.argument);
        finding.fix =
            fmt::format("return what the original returns for rows whose {} is 0", finding.argument);
        return finding;
      }
      // One of each kind would be so by chance half of the time.
      constexpr std::size_t kFew = 5;  // rows, of which any number may say something by chance
      if (count < 2 || rows.size() < kFew) continue;
      std::int64_t block = 0;
      for (const std::int64_t tile : std::array<std::int64_t, 6>{4, 8, 16, 32, 64, 128})
        // 0 is a multiple of everything.
        if (block == 0 && all_and_only([&](std::int64_t n) { return n % tile != 0; }) &&
            std::any_of(numbers.begin(), numbers.end(),
                        [&](double n) { return n != 0 && static_cast<std::int64_t>(n) % tile == 0; }))
          block = tile;
      std::size_t most = 0;  // an argument, one further, that all which are right have
      for (std::size_t a = 0; a < replayed.call->before.size(); ++a)
        if (const Value& value = replayed.values[a];
            most == 0 && value.kind == Value::Kind::integer && value.integer > 0 &&
            all_and_only([&](std::int64_t n) { return n < value.integer; }))
          most = a + 1;
      // Of what fits both nothing is known.
      if ((block > 0) == (most > 0)) continue;
      if (block > 0) {
        finding.code = Code::tail_mask;
        finding.evidence =
            fmt::format("is wrong in all {} rows whose {} is not a multiple of {}, and in no others", count,
                        finding.argument, block);
        finding.fix = "process the last, partial block, and mask what lies past its end";
        return finding;
      }
      finding.code = Code::layout_convention;
      finding.evidence = fmt::format(
          "is wrong in all {} rows whose {} is less than {} ({}), and in no others: what is shorter may lie "
          "at "
          "the other end",
          count, finding.argument, replayed.roles[most - 1].name, replayed.values[most - 1].integer);
      finding.fix = fmt::format("take what is shorter than {} from where the original has it",
                                replayed.roles[most - 1].name);
      return finding;
    }
  }
  return {};
}

}  // namespace isomer::lab
