#include "core/codec.hpp"
#include "ops/attention/cpu/tile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace isomer::ops::attention {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();

}  // namespace

void Tile::f64_row(std::int64_t r) const {
  const std::int64_t d = g_.head_dim, dv = g_.head_dim_v, head_kv = kv_head(r);
  double q[256], o[512] = {};
  query(r, scratch_.row);
  std::copy_n(scratch_.row, d, q);
  const double scale = g_.scale * g_.logit_descale(b_, head_kv), v_scale = g_.v_descale(b_, head_kv);
  const auto logit = [&](std::int64_t j) {
    const KeyRun at = g_.run(entry_, j);
    const std::byte* k = g_.k.at(at.outer, at.row, head_kv);
    kernels_.load(g_.k.dtype, &k, 1, static_cast<int>(d), scratch_.row, 0, 0);
    double dot = 0;
    for (std::int64_t c = 0; c < d; ++c) dot += q[c] * static_cast<double>(scratch_.row[c]);
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
    for (std::int64_t c = 0; c < dv; ++c)
      o[c] += p * (core::decode(g_.v.dtype, g_.v.at(at.outer, at.row, head_kv, c)) * v_scale);
  }
  for (std::int64_t c = 0; c < dv; ++c) scratch_.row[c] = any ? static_cast<float>(o[c] / sum) : 0.0f;
  write_row(r, any ? static_cast<float>(max + std::log(sum)) : static_cast<float>(kHidden));
}

}  // namespace isomer::ops::attention
