#pragma once

#include "core/plan.hpp"

#include <cstdint>
#include <string>

namespace isomer::ops::attention {

/// What FlashAttention-3 would choose for a call on a Hopper GPU, by the rules of its C++ code (hopper/ of
/// Dao-AILab/flash-attention, August 2026): block_m, block_n, pack_gqa, num_splits, scheduler, stages and
/// cluster, by the names that our own plans use. In batches of varying lengths num_splits is its upper bound.
struct LikeFa3 {
  core::Named choices;  ///< empty where it does not take the call
  std::string reason;   ///< why it does not
};
LikeFa3 like_fa3(const core::Call& call, std::int64_t multiprocessors);

}  // namespace isomer::ops::attention
