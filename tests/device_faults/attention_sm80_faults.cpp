#include "planted.hpp"

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/attention/kernels/attention_sm80.cu";
constexpr std::string_view kTile = "ops/attention/kernels/attention_sm80_tile.cuh";
constexpr std::string_view kSoftmax = "ops/attention/kernels/attention_sm80_softmax.cuh";
constexpr std::string_view kWayOut = "ops/attention/kernels/attention_sm80_way_out.cuh";
/// Two stages, each used twice; a masked tail, blocks that only some warps see, a tile that is not full.
constexpr std::string_view kCase =
    "attention sq=150 sk=230 hq=2 hkv=1 d=96 causal lse num_splits=1 pack_gqa=never seed=7";
/// One stage.
constexpr std::string_view kOneStage =
    "attention sq=70 sk=150 hq=1 d=256 causal num_splits=1 pack_gqa=never seed=7";
/// A value of v is infinite at a key that most rows do not see.
constexpr std::string_view kInf =
    "attention sq=70 hq=1 d=64 left=20 right=0 num_splits=1 pack_gqa=never regime=inf seed=7";
constexpr std::string_view kPaged =
    "attention b=2 sq=40 sk=100 hq=4 hkv=2 d=64 causal page=16 num_splits=1 pack_gqa=always seed=7";
constexpr std::string_view kWindow =
    "attention sq=100 sk=200 hq=1 d=64 left=40 right=3 num_splits=1 pack_gqa=never seed=7";
constexpr std::string_view kSplit = "attention sq=40 sk=200 hq=2 d=64 num_splits=2 pack_gqa=never seed=7";

}  // namespace

Planted attention_sm80_faults() {
  static constexpr Fault kFaults[] = {
      {"keys_not_waited_for", kKernel,
       "copies.template wait<0>();\n      __syncthreads();\n      if constexpr",
       "copies.template wait<1>();\n      __syncthreads();\n      if constexpr", "race"},
      {"no_barrier_behind_the_copies", kKernel, "      __syncthreads();\n      if constexpr",
       "      if constexpr", "race"},
      {"stage_refilled_while_it_is_read", kKernel, "copy_k(begin - kKeys, stage ^ 1);",
       "copy_k(begin - kKeys, stage);", "race"},
      {"values_not_waited_for", kKernel,
       "copies.template wait<0>();\n        __syncthreads();\n        if (begin > 0)",
       "copies.template wait<1>();\n        __syncthreads();\n        if (begin > 0)", "race", kOneStage},
      {"keys_refilled_while_they_are_read", kKernel,
       "        __syncthreads();\n        if (begin > 0) copy_k", "        if (begin > 0) copy_k", "race",
       kOneStage},
      {"mask_ends_a_key_late", kSoftmax, "key >= high)", "key > high)", "expected"},
      {"half_masked_block_taken_for_clear", kKernel, "begin + kKeys > limits.clear_high",
       "begin > limits.clear_high", "expected"},
      {"block_left_out_that_one_row_sees", kKernel, "return begin < limits.high",
       "return begin + kKeys <= limits.high", "expected"},
      {"sums_keep_the_reference_before", kSoftmax, "f32 sum = state.sum[m][r] * factor;",
       "f32 sum = state.sum[m][r];", "expected", kWindow},
      {"sums_that_are_not_finite_kept", kWayOut,
       "if (is) broken |=", "if (is && false) broken |=", "expected", kInf},
      {"row_of_nobody_stored", kWayOut, "row >= t.tile.rows || piece * 8", "piece * 8", "out"},
      {"keys_of_the_first_page_alone", kTile, "place = attention::place_of(p, t.entry, t.begin + key);",
       "place = attention::place_of(p, t.entry, key % 16);", "expected", kPaged},
      {"part_without_its_reference", kWayOut,
       "sum[m][r] == 0.0f ? -infinity() : state.reference[m][r] * scale.log2;",
       "sum[m][r] == 0.0f ? -infinity() : 0.0f;", "expected", kSplit},
  };
  return {kKernel, "emulated/sm80", kCase, kFaults};
}

}  // namespace isomer::planted
