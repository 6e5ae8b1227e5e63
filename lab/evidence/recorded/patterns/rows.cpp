#include "lab/evidence/recorded/patterns/patterns.hpp"

#include "oracle/expected.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace isomer::lab {
namespace {

const Value* named(const Replayed& replayed, const std::string& name) {
  for (std::size_t r = 0; r < replayed.call->before.size(); ++r)
    if (replayed.roles[r].name == name && replayed.values[r].is_tensor()) return &replayed.values[r];
  return nullptr;
}

/// Rows of one length, as many as there may be.
bool rows_fit(const Tensor& a, const Tensor& b) {
  return a.rank > 0 && a.rank == b.rank && !a.empty() && !b.empty() &&
         std::equal(a.shape.begin() + 1, a.shape.begin() + a.rank, b.shape.begin() + 1);
}

/// Whether rows of `a` are those of `b` for every pair (row of a, row of b) that exists, and there are some
/// that are no pair of a row with itself.
bool same_rows(const std::vector<double>& a, const std::vector<double>& b, std::size_t width,
               const std::vector<std::pair<double, double>>& pairs) {
  std::size_t others = 0;
  for (const auto& [of_a, of_b] : pairs) {
    if (of_a < 0 || of_b < 0) continue;
    const auto i = static_cast<std::size_t>(of_a), j = static_cast<std::size_t>(of_b);
    if ((i + 1) * width > a.size() || (j + 1) * width > b.size()) continue;
    if (!std::equal(a.begin() + static_cast<std::ptrdiff_t>(i * width),
                    a.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                    b.begin() + static_cast<std::ptrdiff_t>(j * width)))
      return false;
    others += i != j;
  }
  return others > 1;
}

}  // namespace

Finding other_side_of_index(const Replayed& replayed, std::size_t output, const std::vector<double>& got,
                            const Facts* facts) {
  const LabelFunction* label = facts == nullptr ? nullptr : facts->function(replayed.call->function);
  const Tensor& want = replayed.outputs[output].want;
  if (label == nullptr || want.rank == 0 || want.empty()) return {};
  const std::size_t width = got.size() / static_cast<std::size_t>(want.size(0));
  for (const IndexUse& use : label->indexes) {
    const Value* index = named(replayed, use.index);
    if (index == nullptr || index->tensor.rank != 1) continue;
    const std::vector<double> places = oracle::elements(index->tensor);
    const bool puts = use.tensor == replayed.outputs[output].name;
    for (std::size_t r = 0; r < replayed.call->before.size(); ++r) {
      const Value& rows = replayed.values[r];
      if (!rows.is_tensor() || replayed.roles[r].output || &rows == index) continue;
      if (!rows_fit(rows.tensor, want) || (!puts && replayed.roles[r].name != use.tensor)) continue;
      // The original: want[place] = rows[i], or want[i] = rows[place]. Here the other of the two.
      std::vector<std::pair<double, double>> pairs;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const auto own = static_cast<double>(i);
        pairs.emplace_back(puts ? own : places[i], puts ? places[i] : own);
      }
      if (!same_rows(got, oracle::elements(rows.tensor), width, pairs)) continue;
      Finding finding;
      finding.code = Code::layout_convention;
      finding.argument = use.index;
      finding.evidence = fmt::format(
          fmt::runtime(
              puts ? "has the rows of {} read from where {} points, but the original writes them there"
                   : "has the rows of {} written to where {} points, but the original reads them from there"),
          replayed.roles[r].name, use.index);
      finding.fix = fmt::format("address {} by {}, not {}", puts ? replayed.outputs[output].name : use.tensor,
                                use.index, puts ? replayed.roles[r].name : replayed.outputs[output].name);
      return finding;
    }
  }
  return {};
}

}  // namespace isomer::lab
