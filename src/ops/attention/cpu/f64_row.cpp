#include "core/codec.hpp"
#include "ops/attention/cpu/tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::attention {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

}  // namespace

void Tile::one_row(const RowView& rows, const RowView& scales, const KeyRun& at, std::int64_t head_kv,
                   std::int64_t count) const {
  const std::byte* row = rows.at(at.outer, at.row, head_kv);
  if (scales.defined()) {
    const std::byte* scale = scales.at(at.outer, at.row, head_kv);
    kernels_.load_int8({&row, &scale, scales.dtype, scales.d_stride}, 1, static_cast<int>(count),
                       scratch_.row, 0, 0);
  } else if (rows.d_stride == 1) {
    kernels_.load(rows.dtype, &row, 1, static_cast<int>(count), scratch_.row, 0, 0);
  } else {
    for (std::int64_t c = 0; c < count; ++c)
      scratch_.row[c] = static_cast<float>(core::decode(rows.dtype, rows.at(at.outer, at.row, head_kv, c)));
  }
}

void Tile::f64_row(std::int64_t r) const {
  const std::int64_t d = g_.head_dim, dv = g_.head_dim_v, head_kv = kv_head(r);
  double q[256], qv[512], o[512] = {};
  query(r, scratch_.row);
  std::copy_n(scratch_.row, d, q);
  if (g_.has_qv()) std::copy_n(scratch_.row + t_.qv_begin, dv, qv);
  const double scale = g_.scale * g_.logit_descale(b_, head_kv), v_scale = g_.v_descale(b_, head_kv);
  const auto logit = [&](std::int64_t j) {
    const KeyRun at = g_.run(entry_, j);
    one_row(g_.k, g_.k_scale, at, head_kv, d);
    double dot = 0;
    for (std::int64_t c = 0; c < d; ++c) dot += q[c] * static_cast<double>(scratch_.row[c]);
    if (g_.has_qv()) one_row(g_.v, g_.v_scale, at, head_kv, dv);
    for (std::int64_t c = 0; g_.has_qv() && c < dv; ++c) dot += qv[c] * static_cast<double>(scratch_.row[c]);
    return g_.softcap > 0 ? g_.softcap * std::tanh(scale * dot / g_.softcap) : scale * dot;
  };
  const double sink = g_.has_sink() ? g_.sink(head(r)) : kHidden;
  const std::int64_t begin = scratch_.visible_begin[r], end = scratch_.visible_end[r];
  double max = sink;
  bool any = sink != kHidden;
  for (std::int64_t j = begin; j < end; ++j) {
    const double s = logit(j);
    any = any || s != kHidden;
    max = std::max(max, s);
  }
  double sum = sink == kHidden ? 0 : std::exp(sink - max);
  for (std::int64_t j = begin; j < end; ++j) {
    const double s = logit(j);
    // Weighs nothing, whatever its value holds.
    if (s == kHidden) continue;
    const double p = std::exp(s - max);
    sum += p;
    const KeyRun at = g_.run(entry_, j);
    one_row(g_.v, g_.v_scale, at, head_kv, dv);
    for (std::int64_t c = 0; c < dv; ++c) o[c] += p * (static_cast<double>(scratch_.row[c]) * v_scale);
  }
  for (std::int64_t c = 0; c < dv; ++c) scratch_.row[c] = any ? static_cast<float>(o[c] / sum) : 0.0f;
  write_row(r, any ? static_cast<float>(max + std::log(sum)) : static_cast<float>(kHidden));
}

}  // namespace isomer::ops::attention
