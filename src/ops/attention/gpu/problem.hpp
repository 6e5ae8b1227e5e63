#pragma once

#include "core/plan.hpp"
#include "ops/attention/contract/geometry.hpp"

#include <array>

namespace isomer::ops::attention {

inline Geometry geometry_of(const core::Call& call) {
  return Geometry(call.args<AttentionArgs>(), call.options<AttentionOptions>());
}

/// What a GPU plan keeps of a call to say what it is: numbers, no addresses.
struct GpuProblem {
  explicit GpuProblem(const Geometry& geometry);

  struct Layout {
    int rank = 0;
    std::array<std::int64_t, Tensor::kMaxRank> strides{};
  };

  bool causal = false, local = false, softcap = false, varlen = false, varlen_q = false, varlen_k = false;
  bool paged = false, append = false, v_colmajor = false;
  std::int64_t batch = 0, heads = 0, heads_kv = 0, head_dim = 0, head_dim_v = 0;
  std::int64_t seqlen_q = 0, seqlen_k = 0, total_q = 0, total_k = 0;
  double scale = 0;
  Layout q, k, v, out;

  /// The parameters of a description, by FlashAttention-3's names.
  core::Named parameters(bool pack_gqa, std::int64_t splits) const;
};

}  // namespace isomer::ops::attention
