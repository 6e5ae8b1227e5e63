#pragma once

#include <isomer/attention.hpp>

#include "oracle/expected.hpp"
#include "oracle/variation.hpp"

#include <cstdint>
#include <vector>

/// The two halves of the reference: what a call's layouts, lengths and caches mean, and attention itself.
/// Written from the op's definition alone: it shares nothing with Geometry, which the implementations use.
namespace isomer::ops::attention {

/// Rows of doubles. `spread` is how far an implementation's value may be from ours because it rotated in f32
/// and rounded to the other side of a tie; 0 nearly everywhere, and empty without rotary.
struct Matrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> value, spread;

  Matrix(std::int64_t r, std::int64_t c) : rows(r), columns(c), value(static_cast<std::size_t>(r * c)) {}
  double* row(std::int64_t r) { return value.data() + r * columns; }
  const double* row(std::int64_t r) const { return value.data() + r * columns; }
  double* spread_row(std::int64_t r) {
    spread.resize(value.size());
    return spread.data() + r * columns;
  }
  const double* spread_row(std::int64_t r) const {
    return spread.empty() ? nullptr : spread.data() + r * columns;
  }
};

/// One batch entry with every layout resolved: query i of head h is q[h].row(i), key j of kv head g is
/// k[g].row(j). With qv, q's rows go on with those of qv and k's with those of v.
struct Sequence {
  std::int64_t batch = 0;
  std::int64_t out_outer = 0, out_row = 0;  ///< query i is row (out_outer, out_row + i) of out and lse
  std::int64_t q_len = 0, k_len = 0;
  std::vector<Matrix> q, k, v;
  std::vector<Matrix> stale_v;  ///< slots after the keys that a careless tile would load; for a variation
};

/// Batch entries of the call.
std::int64_t batch_of(const AttentionArgs& args);

/// Resolves entry b: lengths, slots, pages, appended keys, rotary embedding. Records what an append writes in
/// `expected`.
Sequence unfold(const core::Call& call, const oracle::Variations& vary, std::int64_t b,
                oracle::Expected& expected);

}  // namespace isomer::ops::attention
