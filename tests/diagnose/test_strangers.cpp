// Kernels that nobody says are ports: which function is judged, how it is called, and what is a convention of
// other houses or formally undefined, beside twins in which the same place is wrong.
#include <gtest/gtest.h>

#include "first_tier.hpp"
#include "lab/ask/trial.hpp"
#include "lab/judge/diagnose.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <unistd.h>

namespace isomer::lab {
namespace {

namespace fs = std::filesystem;

Diagnosis said_of_stranger(const char* file, const char* entry, const char* op) {
  setenv("ISOMER_CACHE", ISOMER_CANDIDATE_CACHE, 1);
  CaseFolder folder;
  folder.folder = ISOMER_CANDIDATES;
  folder.candidates = {fs::path(ISOMER_CANDIDATES) / file};
  folder.op = op;
  folder.entry = entry;
  return diagnose_folder(folder).at(0);
}

std::string words_of(const Diagnosis& said) {
  std::string text = said.verdict() + " " + said.entry + " (" + said.called_with + ") " + said.error;
  for (const Finding& each : said.findings) text += "\n" + said_against(each) + ": " + each.evidence;
  return text;
}

bool has(const Diagnosis& said, Code code) {
  return std::any_of(said.findings.begin(), said.findings.end(),
                     [&](const Finding& each) { return each.code == code; });
}

struct Stranger {
  const char *entry, *op, *verdict;
  Code code;  ///< none: any, or nothing where it passes
  const char* file = "strangers.cu";
};
constexpr Stranger kStrangers[] = {
    {"group_quant_half_mask", "act_quant", "pass", Code::suspicious},
    {"group_quant_whole_mask", "act_quant", "pass", Code::none},
    {"merge_heads_first", "merge_attention", "pass", Code::convention},
    {"merge_weights_swapped", "merge_attention", "fail", Code::none},
    {"wave_flagged", "sin", "pass", Code::benign_race},
    {"wave_raced", "sin", "fail", Code::missing_barrier},
    {"wave_of_eight_blocks", "sin", "fail", Code::tail_mask},
    {"quantise_a_warp_each", "act_quant", "pass", Code::none, "bare_tiles.cu"},
    {"expand_tiles", "weight_dequant", "pass", Code::none, "named.cu"},
    {"expand_turned_tiles", "weight_dequant", "fail", Code::none, "named.cu"},
    {"quantize_tiles", "weight_quant", "pass", Code::none, "named.cu"},
    {"gated_group_quant", "silu_mul_quant", "pass", Code::none, "named.cu"},
    {"gated_group_quant_swapped", "silu_mul_quant", "fail", Code::none, "named.cu"},
    {"merge_states", "merge_attention", "pass", Code::convention, "named.cu"},
    {"merge_states_unweighted", "merge_attention", "fail", Code::none, "named.cu"},
    {"attend_heads_not_rescaled", "attention", "fail", Code::missing_rescale, "few_sizes.cu"},
    {"quantise_lettered_strides", "quantize_copy_kv", "pass", Code::convention, "few_sizes.cu"},
    {"spread_tiles", "weight_dequant", "pass", Code::none, "limits.cu"},
    {"spread_turned_tiles", "weight_dequant", "fail", Code::layout_convention, "limits.cu"},
    {"spread_divided_tiles", "weight_dequant", "fail", Code::missing_scale, "limits.cu"},
    {"spread_unbounded_tiles", "weight_dequant", "fail", Code::out_of_bounds_write, "limits.cu"},
    {"join_heads_first", "merge_attention", "pass", Code::convention, "limits.cu"},
    {"join_mixed", "merge_attention", "fail", Code::layout_convention, "limits.cu"},
    {"shrink_multiplied_first", "act_quant", "pass", Code::convention, "limits.cu"},
    {"shrink_by_narrow_reciprocal", "act_quant", "fail", Code::intermediate_precision, "limits.cu"},
    {"shrink_whole_rows", "act_quant", "pass", Code::convention, "widths.cu"},
    {"shrink_whole_rows_signed", "act_quant", "fail", Code::missing_absolute, "widths.cu"},
    {"parts_of_128", "flash_decode_stage1", "pass", Code::convention, "widths.cu"},
    {"parts_of_128_unscaled", "flash_decode_stage1", "fail", Code::missing_scale, "widths.cu"},
    {"quantise_groups", "act_quant", "pass", Code::none, "tensors.cu"},
    {"wave_and_last_by_address", "sin", "fail", Code::host_touches_device_memory, "tensors.cu"},
    {"wave_and_last_by_copies", "sin", "pass", Code::none, "tensors.cu"},
    {"swing_asserted", "sin", "pass", Code::convention, "limits.cu"},
    {"swing_given_up", "sin", "fail", Code::crash, "limits.cu"},
    {"swing_whole_blocks", "sin", "fail", Code::tail_mask, "limits.cu"},
    {"swing_up_to_100000", "sin", "fail", Code::tail_mask, "limits.cu"},
    {"attend_model_width", "attention", "pass", Code::none, "limits.cu"},
    {"attend_one_head", "attention", "pass", Code::none, "limits.cu"},
    {"swing_later", "sin", "fail", Code::unexplained, "limits.cu"},
    {"attend_one_key_further", "attention", "fail", Code::mask_alignment, "houses.cu"},
    {"attend_guarded_tiles", "attention", "pass", Code::none, "houses.cu"},
    {"attend_with_mask", "attention", "pass", Code::none, "houses.cu"},
    {"attend_unguarded_tiles", "attention", "fail", Code::nan_inf, "houses.cu"},
    {"attend_onto_output", "attention", "fail", Code::uninitialised_read, "houses.cu"},
    {"quantize_tiles_by_factor", "weight_quant", "pass", Code::convention, "houses.cu"},
    {"decode_one_query", "attention", "pass", Code::convention, "decode.cu"},
    {"decode_one_query_unscaled", "attention", "fail", Code::missing_scale, "decode.cu"},
    {"wave_computed_beside", "sin", "fail", Code::no_kernel, "tensors.cu"},
    {"fp8_mm_columns", "fp8_gemm", "pass", Code::convention, "strangers.hip.cpp"},
    {"attend_small_scores", "attention", "fail", Code::missing_max_subtraction, "maxima.cu"},
    {"attend_tiles_summed", "attention", "fail", Code::missing_rescale, "maxima.cu"},
    {"shrink_to_447", "act_quant", "fail", Code::missing_scale, "maxima.cu"},
    {"shrink_to_448", "act_quant", "pass", Code::convention, "maxima.cu"},
    {"spread_by_sides", "weight_dequant", "pass", Code::none, "maxima.cu"},
    {"spread_by_one_side", "weight_dequant", "fail", Code::tail_mask, "maxima.cu"},
    {"swing_asserted_by_kernel", "sin", "pass", Code::convention, "lent.cu"},
    {"swing_asserted_of_threads", "sin", "fail", Code::assertion, "lent.cu"},
    {"swing_asserted_of_values", "sin", "fail", Code::assertion, "lent.cu"},
    {"swing_last_beside_result", "sin", "fail", Code::out_of_bounds_write, "lent.cu"},
    {"attend_num_kv", "attention", "pass", Code::none, "lent.cu"},
    {"shrink_groups", "act_quant", "pass", Code::none, "lent.cu"},
    {"shrink_groups_signed", "act_quant", "fail", Code::missing_absolute, "lent.cu"},
    {"join_of_finite", "merge_attention", "pass", Code::convention, "lent.cu"},
    {"join_without_maximum", "merge_attention", "fail", Code::missing_term, "lent.cu"},
    {"attend_of_64_without_barrier", "attention", "fail", Code::missing_barrier, "narrow.cu"},
    {"decode_seq_len_of_keys_unscaled", "attention", "fail", Code::missing_scale, "narrow.cu"},
    {"decode_parts_of_lanes", "attention", "pass", Code::convention, "narrow.cu"},
    {"shrink_rows_of_groups", "act_quant", "pass", Code::none, "bits.cu"},
    {"shrink_rows_of_groups_signed", "act_quant", "fail", Code::missing_absolute, "bits.cu"},
    {"multiply_whole_blocks", "fp8_gemm", "fail", Code::tail_mask, "bits.cu"},
    {"multiply_ragged_blocks", "fp8_gemm", "pass", Code::none, "bits.cu"},
    {"expand_by_bits", "weight_dequant", "pass", Code::none, "bits.cu"},
    {"expand_by_bits_half_subnormals", "weight_dequant", "fail", Code::dtype_reinterpreted, "bits.cu"},
    {"expand_by_bits_nan_as_zero", "weight_dequant", "fail", Code::nan_inf, "bits.cu"},
    {"engine_at_position_unscaled", "attention", "fail", Code::missing_scale, "engines.cu"},
    {"engine_at_position_in_turn", "attention", "fail", Code::head_mapping, "engines.cu"},
    {"engine_behind_past_half_depth", "attention", "fail", Code::tail_mask, "engines.cu"},
    {"engine_behind_past_squares", "attention", "fail", Code::other_reduction, "engines.cu"},
    {"engine_of_keys", "attention", "pass", Code::convention, "engines.cu"},
    {"engine_of_keys_in_turn", "attention", "fail", Code::head_mapping, "engines.cu"},
    {"pages_of_keys", "attention", "pass", Code::none, "pages.cu"},
    {"pages_of_keys_in_turn", "attention", "fail", Code::head_mapping, "pages.cu"},
    {"pages_of_keys_unscaled", "attention", "fail", Code::missing_scale, "pages.cu"},
    {"pages_of_keys_without_last", "attention", "fail", Code::off_by_one, "pages.cu"},
    {"shrink_by_largest", "act_quant", "pass", Code::none, "reduced.cu"},
    {"shrink_by_square", "act_quant", "fail", Code::other_reduction, "reduced.cu"},
    {"shrink_by_magnitudes", "act_quant", "fail", Code::other_reduction, "reduced.cu"},
    {"shrink_by_mean", "act_quant", "fail", Code::other_reduction, "reduced.cu"},
    {"shrink_by_sum", "act_quant", "fail", Code::other_reduction, "reduced.cu"},
    {"gated_by_signed", "silu_mul_quant", "fail", Code::missing_absolute, "reduced.cu"},
    {"pages_of_split_keys", "attention", "pass", Code::convention, "pages.cu"},
    {"caches_of_keys_unscaled", "attention", "fail", Code::missing_scale, "pages.cu"},
    {"attend_by_own_maxima", "attention", "fail", Code::other_reduction, "reduced.cu"},
    {"join_by_code_of_two", "merge_attention", "fail", Code::log_base, "guesses.cu"},
    {"multiply_masked_groups", "grouped_fp8_gemm", "pass", Code::none, "guesses.cu"},
    {"multiply_masked_groups_by_first_scales", "grouped_fp8_gemm", "fail", Code::ignores_index, "guesses.cu"},
    {"gate_by_letters_of_two", "silu_mul_quant", "fail", Code::log_base, "guesses.cu"},
    {"cast_tiles_of_four_warps", "weight_quant", "fail", Code::other_reduction, "scaled.cu"},
    {"shrink_with_added_scale", "act_quant", "fail", Code::epsilon, "scaled.cu"},
    {"keep_in_127_steps", "quantize_copy_kv", "pass", Code::none, "scaled.cu"},
    {"keep_by_tokens", "quantize_copy_kv", "fail", Code::layout_convention, "scaled.cu"},
    {"keep_up_to_128_dimensions", "quantize_copy_kv", "pass", Code::convention, "scaled.cu"},
    {"multiply_by_later_scales", "fp8_gemm", "fail", Code::missing_scale, "scaled.cu"},
    {"decode_untyped", "attention", "pass", Code::none, "untyped.cu"},
    {"keep_by_wide_slots_rounded", "quantize_copy_kv", "fail", Code::rounding_mode, "untyped.cu"},
    {"spread_into_weight_by_whole_blocks", "weight_dequant", "fail", Code::tail_mask, "untyped.cu"},
    {"wave_of_given_blocks_but_the_last", "sin", "fail", Code::tail_mask, "untyped.cu"},
    {"shrink_over_others_reads", "act_quant", "fail", Code::missing_barrier, "untyped.cu"},
    {"multiply_of_experts", "grouped_fp8_gemm", "pass", Code::none, "reduced.cu"},
    {"multiply_of_experts_whole_blocks", "grouped_fp8_gemm", "fail", Code::tail_mask, "reduced.cu"},
    {"add_product", "fp8_gemm", "pass", Code::convention, "called.cu"},
    {"attend_by_root", "attention", "pass", Code::none, "called.cu"},
    {"decode_depth", "attention", "pass", Code::convention, "edges.cu"},
    {"decode_depth_unscaled", "attention", "fail", Code::missing_scale, "edges.cu"},
    {"meet_to_base_two", "merge_attention", "pass", Code::convention, "edges.cu"},
    {"meet_to_base_two_at_zero", "merge_attention", "fail", Code::missing_max_subtraction, "edges.cu"},
    {"expand_total", "weight_dequant", "pass", Code::none, "edges.cu"},
    {"expand_total_truncated", "weight_dequant", "fail", Code::rounding_mode, "edges.cu"},
    {"multiply_by_warpgroups", "fp8_gemm", "pass", Code::none, "warpgroups.cu"},
    {"multiply_by_warpgroups_unfenced", "fp8_gemm", "fail", Code::missing_barrier, "warpgroups.cu"},
};
/// The second tier: what takes long, and whose op, verdict and code one above has that takes less.
constexpr Stranger kMore[] = {
    {"multiply_by_warpgroups_in_flight", "fp8_gemm", "fail", Code::missing_barrier, "warpgroups.cu"},
    {"multiply_by_warpgroups_out_of_step", "fp8_gemm", "fail", Code::missing_barrier, "warpgroups.cu"},
    {"add_product_by_first_scales", "fp8_gemm", "fail", Code::missing_scale, "called.cu"},
    {"attend_by_root_in_turn", "attention", "fail", Code::head_mapping, "called.cu"},
    {"engine_in_pairs", "attention", "pass", Code::convention, "engines.cu"},
    {"engine_in_pairs_in_turn", "attention", "fail", Code::head_mapping, "engines.cu"},
    {"caches_of_keys", "attention", "pass", Code::none, "pages.cu"},
    {"caches_of_heads", "attention", "pass", Code::convention, "pages.cu"},
    {"attend_by_given_maximum", "attention", "pass", Code::none, "reduced.cu"},
    {"attend_tiles_of_any_size", "attention", "pass", Code::none, "guesses.cu"},
    {"attend_tiles_of_any_size_unweighed", "attention", "fail", Code::missing_rescale, "guesses.cu"},
    {"decode_valid_keys", "attention", "pass", Code::convention, "guesses.cu"},
    {"decode_valid_keys_but_the_last", "attention", "fail", Code::off_by_one, "guesses.cu"},
    {"join_by_code", "merge_attention", "pass", Code::convention, "guesses.cu"},
    {"gate_by_letters", "silu_mul_quant", "pass", Code::none, "guesses.cu"},
    {"pages_of_tensors", "attention", "pass", Code::convention, "guesses.cu"},
    {"pages_of_tensors_in_turn", "attention", "fail", Code::head_mapping, "guesses.cu"},
    {"cast_tiles_of_all_warps", "weight_quant", "pass", Code::none, "scaled.cu"},
    {"shrink_with_floor", "act_quant", "pass", Code::none, "scaled.cu"},
    {"shrink_with_added_maximum", "act_quant", "fail", Code::epsilon, "scaled.cu"},
    {"keep_in_128_steps", "quantize_copy_kv", "fail", Code::missing_scale, "scaled.cu"},
    {"keep_in_128_steps_up_to_128_dimensions", "quantize_copy_kv", "fail", Code::missing_scale, "scaled.cu"},
    {"wave_of_unset_sum", "sin", "fail", Code::uninitialised_read, "unset.cu"},
    {"wave_of_set_sum", "sin", "pass", Code::none, "unset.cu"},
    {"multiply_by_own_scales", "fp8_gemm", "pass", Code::none, "scaled.cu"},
    {"pages_by_steps", "attention", "pass", Code::convention, "pages.cu"},
    {"pages_by_steps_in_turn", "attention", "fail", Code::head_mapping, "pages.cu"},
    {"decode_untyped_in_turn", "attention", "fail", Code::head_mapping, "untyped.cu"},
    {"keep_by_wide_slots", "quantize_copy_kv", "pass", Code::none, "untyped.cu"},
    {"spread_into_weight", "weight_dequant", "pass", Code::none, "untyped.cu"},
    {"wave_of_given_blocks", "sin", "pass", Code::none, "untyped.cu"},
    {"shrink_over_its_own_reads", "act_quant", "pass", Code::none, "untyped.cu"},
    {"wave_by_arch", "sin", "pass", Code::none},
    {"wave_of_eight_blocks_that_go_on", "sin", "pass", Code::none},
    {"wave_on_the_host", "sin", "fail", Code::no_kernel},
    {"wave_with_headers", "sin", "pass", Code::none, "strangers.hip.cpp"},
    {"quantize_1x128", "act_quant", "pass", Code::convention, "named.cu"},
    {"quantize_1x128_signed", "act_quant", "fail", Code::missing_absolute, "named.cu"},
    {"attend_heads_first", "attention", "pass", Code::convention, "few_sizes.cu"},
    {"attend_of_64", "attention", "pass", Code::convention, "few_sizes.cu"},
    {"widen_whole_rows", "weight_dequant", "fail", Code::tail_mask, "limits.cu"},
    {"attend_model_width_unscaled", "attention", "fail", Code::missing_scale, "limits.cu"},
    {"attend_one_head_unscaled", "attention", "fail", Code::missing_scale, "limits.cu"},
    {"attend_heads_in_groups", "attention", "pass", Code::convention, "houses.cu"},
    {"attend_heads_in_turn", "attention", "fail", Code::head_mapping, "houses.cu"},
    {"attend_always_causal", "attention", "pass", Code::convention, "houses.cu"},
    {"attend_up_to_last_key", "attention", "pass", Code::convention, "maxima.cu"},
    {"attend_rows_of_keys", "attention", "pass", Code::none, "maxima.cu"},
    {"attend_tiles_weighed", "attention", "pass", Code::convention, "maxima.cu"},
    {"swing_last_beside", "sin", "fail", Code::out_of_bounds_write, "lent.cu"},
    {"attend_in_lent_scores", "attention", "pass", Code::convention, "lent.cu"},
    {"attend_in_workspace", "attention", "pass", Code::convention, "lent.cu"},
    {"attend_in_workspace_unscaled", "attention", "fail", Code::missing_scale, "lent.cu"},
    {"attend_num_kv_unscaled", "attention", "fail", Code::missing_scale, "lent.cu"},
    {"attend_all_tokens", "attention", "pass", Code::none, "lent.cu"},
    {"attend_all_tokens_in_turn", "attention", "fail", Code::head_mapping, "lent.cu"},
    {"decode_from_cache", "attention", "pass", Code::convention, "lent.cu"},
    {"decode_from_cache_unscaled", "attention", "fail", Code::missing_scale, "lent.cu"},
    {"decode_in_splits", "attention", "pass", Code::convention, "lent.cu"},
    {"decode_in_splits_unscaled", "attention", "fail", Code::missing_scale, "lent.cu"},
    {"attend_widened", "attention", "pass", Code::convention, "lent.cu"},
    {"attend_of_64_in_turn", "attention", "fail", Code::head_mapping, "narrow.cu"},
    {"attend_eight_warps", "attention", "pass", Code::convention, "narrow.cu"},
    {"decode_seq_len_of_keys", "attention", "pass", Code::convention, "narrow.cu"},
    {"attend_query_of_keys", "attention", "pass", Code::convention, "narrow.cu"},
    {"attend_causal_shift", "attention", "pass", Code::convention, "narrow.cu"},
    {"attend_causal_shift_in_turn", "attention", "fail", Code::head_mapping, "narrow.cu"},
    {"attend_one_head_of_64", "attention", "pass", Code::convention, "narrow.cu"},
    {"attend_by_atomics", "attention", "pass", Code::none, "narrow.cu"},
    {"engine_at_position", "attention", "pass", Code::convention, "engines.cu"},
    {"engine_at_position_without_last", "attention", "fail", Code::off_by_one, "engines.cu"},
    {"engine_behind_past", "attention", "pass", Code::convention, "engines.cu"},
    {"engine_behind_past_without_own", "attention", "fail", Code::mask_alignment, "engines.cu"},
    {"engine_of_graph", "attention", "pass", Code::none, "engines.cu"},
    {"engine_of_graph_unscaled", "attention", "fail", Code::missing_scale, "engines.cu"},
    {"pages_of_heads", "attention", "pass", Code::convention, "pages.cu"},
    {"gated_by_largest", "silu_mul_quant", "pass", Code::none, "reduced.cu"},
    {"attend_whole_tiles", "attention", "pass", Code::convention, "tensors.cu"},
    {"attend_widened_unscaled", "attention", "fail", Code::missing_scale, "lent.cu"},
    {"attend_equal_lengths_unscaled", "attention", "fail", Code::missing_scale, "tensors.cu"},
    {"swing_last_in_place", "sin", "pass", Code::none, "lent.cu"},
    {"attend_of_64_unscaled", "attention", "fail", Code::missing_scale, "narrow.cu"},
    {"attend_eight_warps_in_one_place", "attention", "fail", Code::missing_barrier, "narrow.cu"},
    {"attend_given_up_in_turn", "attention", "fail", Code::head_mapping, "maxima.cu"},
    {"quantize_tiles_through_half", "weight_quant", "fail", Code::intermediate_precision, "named.cu"},
    {"attend_equal_lengths", "attention", "pass", Code::convention, "tensors.cu"},
    {"attend_given_up", "attention", "pass", Code::convention, "maxima.cu"},
    {"attend_from_first_key", "attention", "fail", Code::mask_alignment, "maxima.cu"},
    {"attend_without_batch", "attention", "pass", Code::convention, "tensors.cu"},
    {"quantize_tiles_by_signed_factor", "weight_quant", "fail", Code::missing_absolute, "houses.cu"},
    {"quantise_groups_neighbours_exchanged", "act_quant", "fail", Code::layout_convention, "tensors.cu"},
    {"swing_of_copies", "sin", "pass", Code::none, "limits.cu"},
    {"attend_lettered", "attention", "pass", Code::convention, "few_sizes.cu"},
    {"attend_lettered_but_v", "attention", "fail", Code::none, "few_sizes.cu"},
    {"quantise_groups_by_own_maxima", "act_quant", "fail", Code::other_reduction, "tensors.cu"},
    {"fp8_mm_mixed", "fp8_gemm", "fail", Code::none, "strangers.hip.cpp"},
    {"attend_rows_of_dimension", "attention", "fail", Code::unexplained, "maxima.cu"},
    {"decode_parts_of_each_lane", "attention", "fail", Code::unexplained, "narrow.cu"},
    {"decode_kv_len", "attention", "fail", Code::unexplained, "narrow.cu"},
    {"quantise_squares", "weight_quant", "pass", Code::convention, "bare_tiles.cu"},
    {"multiply_squares", "fp8_gemm", "pass", Code::none, "bare_tiles.cu"},
    {"multiply_squares_unscaled", "fp8_gemm", "fail", Code::missing_scale, "bare_tiles.cu"},
    {"attend_rows_of_64", "attention", "pass", Code::convention, "bare_tiles.cu"},
    {"attend_by_four_warps", "attention", "pass", Code::convention, "one_warp.cu"},
    {"attend_by_the_first_warp", "attention", "fail", Code::other_reduction, "one_warp.cu"},
    {"expand_total_turned", "weight_dequant", "fail", Code::out_of_bounds_read, "edges.cu"},
    {"expand_by_fours", "weight_dequant", "pass", Code::convention, "edges.cu"},
    {"expand_by_fours_unbounded", "weight_dequant", "fail", Code::out_of_bounds_write, "edges.cu"},
    {"expand_moved_bits", "weight_dequant", "pass", Code::none, "edges.cu"},
    {"expand_moved_bits_alone", "weight_dequant", "fail", Code::missing_scale, "edges.cu"},
    {"shrink_zeros_by_one", "act_quant", "pass", Code::convention, "edges.cu"},
    {"shrink_zeros_by_one_to_240", "act_quant", "fail", Code::saturation, "edges.cu"},
    {"shrink_and_store_reciprocals", "act_quant", "fail", Code::missing_scale, "edges.cu"},
    {"prefill_with_own", "attention", "pass", Code::none, "edges.cu"},
    {"prefill_before_own", "attention", "fail", Code::mask_alignment, "edges.cu"},
    {"attend_one_query_of_keys", "attention", "pass", Code::convention, "tensors.cu"},
    {"attend_one_query_of_heads", "attention", "pass", Code::convention, "tensors.cu"},
    {"attend_one_query_unweighed", "attention", "fail", Code::missing_rescale, "tensors.cu"},
    {"attend_one_query_in_turn", "attention", "fail", Code::head_mapping, "tensors.cu"},
    {"decode_over_heads", "attention", "pass", Code::convention, "causes.cu"},
    {"decode_over_heads_in_turn", "attention", "fail", Code::head_mapping, "causes.cu"},
    {"decode_over_heads_to_base_two", "attention", "fail", Code::log_base, "causes.cu"},
    {"pages_of_eight_queries", "attention", "pass", Code::convention, "causes.cu"},
    {"pages_of_eight_queries_in_turn", "attention", "fail", Code::head_mapping, "causes.cu"},
    {"decode_by_processors", "attention", "pass", Code::convention, "causes.cu"},
    {"decode_by_processors_unweighed", "attention", "fail", Code::missing_rescale, "causes.cu"},
    {"spread_by_blocks", "weight_dequant", "pass", Code::none, "causes.cu"},
    {"spread_by_wide_blocks", "weight_dequant", "fail", Code::layout_convention, "causes.cu"},
    {"spread_by_steps_of_rows", "weight_dequant", "fail", Code::layout_convention, "causes.cu"},
    {"shrink_and_store_448ths", "act_quant", "pass", Code::convention, "causes.cu"},
    {"shrink_and_store_127ths", "act_quant", "fail", Code::missing_scale, "causes.cu"},
    {"attend_over_tiles", "attention", "pass", Code::convention, "causes.cu"},
    {"attend_over_tiles_of_next_head", "attention", "fail", Code::head_mapping, "causes.cu"},
    {"attend_over_whole_tiles_of_keys", "attention", "fail", Code::tail_mask, "causes.cu"},
    {"attend_over_tiles_from_zero", "attention", "fail", Code::missing_max_subtraction, "causes.cu"},
    {"attend_over_tiles_without_maximum", "attention", "fail", Code::missing_term, "causes.cu"},
    {"attend_over_tiles_to_log_two", "attention", "fail", Code::log_base, "causes.cu"},
    {"shrink_by_all_of_a_block", "act_quant", "pass", Code::convention, "causes.cu"},
    {"shrink_by_all_but_the_last", "act_quant", "fail", Code::other_reduction, "causes.cu"},
    {"keep_rows_at_fours", "quantize_copy_kv", "pass", Code::convention, "causes.cu"},
    {"keep_rows_side_by_side", "quantize_copy_kv", "fail", Code::crash, "causes.cu"},
};
void PrintTo(const Stranger& row, std::ostream* out) { *out << row.entry; }

class Strangers : public testing::TestWithParam<Stranger> {};

TEST_P(Strangers, AreJudgedByWhatTheyDo) {
  const Stranger& row = GetParam();
  const Diagnosis said = said_of_stranger(row.file, row.entry, row.op);
  EXPECT_EQ(said.verdict(), row.verdict) << words_of(said);
  EXPECT_EQ(said.entry, row.entry);
  // Tensors say their sizes themselves; of a call that an assertion ends nothing was judged.
  if (row.code != Code::assertion &&
      (std::string(row.entry).find("attend_") != 0 || row.file != std::string("tensors.cu"))) {
    EXPECT_FALSE(said.called_with.empty());
  }
  if (row.code != Code::none) EXPECT_TRUE(has(said, row.code)) << words_of(said);
  if (std::string(row.verdict) == "pass")
    for (const Finding& each : said.findings) EXPECT_TRUE(is_remark(each)) << words_of(said);
  if (std::string(row.verdict) == "pass" && row.code == Code::none) {
    EXPECT_TRUE(said.findings.empty()) << words_of(said);
  }
  // What is said of a fault that has a name is this, and not what it comes to besides.
  const std::string file = row.file;
  if ((file == "limits.cu" || file == "tensors.cu" || file == "lent.cu" || file == "narrow.cu" ||
       file == "bits.cu" || file == "engines.cu" || file == "reduced.cu" || file == "untyped.cu" ||
       file == "edges.cu" || file == "causes.cu") &&
      std::string(row.verdict) == "fail")
    for (const Finding& each : said.findings)
      EXPECT_TRUE(is_remark(each) || each.code == row.code || each.code == Code::out_of_bounds_read)
          << words_of(said);
  // How its pages lie, which sizes it takes and that its tensors are compact: no more is to be said of any.
  EXPECT_LE(std::count_if(said.findings.begin(), said.findings.end(), is_remark), 3) << words_of(said);
}

INSTANTIATE_TEST_SUITE_P(Of, Strangers, testing::ValuesIn(tests::every_nth(kStrangers, 3)),
                         [](const auto& info) { return std::string(info.param.entry); });
INSTANTIATE_TEST_SUITE_P(More, Strangers,
                         testing::ValuesIn(tests::in_second_tier(std::vector(std::begin(kMore),
                                                                             std::end(kMore)))),
                         [](const auto& info) { return std::string(info.param.entry); });

TEST(WhatIsSeen, IsToldWithItsLineWhereCandidatesMayStartNoProcess) {
  const Diagnosis said = said_of_stranger("strangers.cu", "wave_raced", "sin");
  ASSERT_TRUE(has(said, Code::missing_barrier)) << words_of(said);
  for (const Finding& each : said.findings) EXPECT_GT(each.location.line, 0) << words_of(said);
}

TEST(WhatIsSeen, IsOneDecodingBesideAnotherFault) {
  const Diagnosis said = said_of_stranger("bits.cu", "expand_by_bits_truncated", "weight_dequant");
  EXPECT_EQ(said.findings.size(), 2u) << words_of(said);
  EXPECT_TRUE(has(said, Code::rounding_mode) && has(said, Code::nan_inf)) << words_of(said);
}

TEST(WhatIsJudged, IsWhatIsExportedAndNeverAStaticTwin) {
  const Diagnosis said = said_of_stranger("hidden_twin.cu", "", "sin");
  EXPECT_EQ(said.entry, "run_sine");
  EXPECT_EQ(said.verdict(), "fail") << words_of(said);
  EXPECT_EQ(said.called_with, "n=1000");
}

TEST(WhatIsJudged, IsNothingWhereTwoFunctionsCanBeMeant) {
  const Diagnosis said = said_of_stranger("two_entries.cu", "", "sin");
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_NE(
      said.error.find("2 functions can be meant, wave_a(x, y, n) at line 8 and wave_b(x, y, n) at line 9: "
                      "name one with --entry"),
      std::string::npos)
      << said.error;
  EXPECT_EQ(said_of_stranger("two_entries.cu", "wave_a", "sin").entry, "wave_a");
}

TEST(WhatIsJudged, IsFoundWithoutItsNamespaces) {
  const Diagnosis said = said_of_stranger("limits.cu", "swing_within", "sin");
  EXPECT_EQ(said.entry, "waves::swing_within");
  EXPECT_EQ(said.verdict(), "pass") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
}

/// A candidate that is not judged, with the sentence that says why.
struct NotJudged {
  const char *name, *file, *entry, *op, *because;
};
void PrintTo(const NotJudged& row, std::ostream* out) { *out << row.file << ' ' << row.entry; }

class WhatIsNotJudged : public testing::TestWithParam<NotJudged> {};

TEST_P(WhatIsNotJudged, GetsASentenceAndNoFinding) {
  const NotJudged& row = GetParam();
  const Diagnosis said = said_of_stranger(row.file, row.entry, row.op);
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
  EXPECT_NE(said.error.find(row.because), std::string::npos) << said.error;
}

const NotJudged kNotJudged[] = {
    {"takes_nothing_for_an_input", "tensors.cu", "multiply_by_weights", "fp8_gemm",
     "takes nothing for a_s of fp8_gemm: it is another operation"},
    {"finds_its_keys_in_pages", "narrow.cu", "decode_from_pages", "attention",
     "finds keys through block_table"},
    {"gives_nothing_for_an_output", "lent.cu", "join_outputs_alone", "merge_attention",
     "gives nothing for lse of merge_attention"},
    {"is_unlike_the_op_and_has_other_sizes", "limits.cu", "swing_of_noise", "sin",
     "nothing like an answer of sin"},
    {"reads_a_larger_input", "called.cu", "product_by_scales_of_rows", "fp8_gemm",
     "reads b_s (f32[2, 3]) beyond its end"},
    {"includes_a_toolkit_that_is_not_here", "of_a_toolkit.cu", "", "sin",
     "it includes cutlass/numeric_types.h, which is not here"},
    {"takes_memory_of_the_host", "limits.cu", "swing_of_host", "sin", "takes pointers of the host"},
};

/// The second tier: calls of attention, of which many are tried.
const NotJudged kMoreNotJudged[] = {
    {"has_pages_that_lie_otherwise", "pages.cu", "pages_of_swizzled_keys", "attention",
     "its pages may lie otherwise"},
    {"takes_a_real_number_that_no_name_explains", "narrow.cu", "attend_with_slopes", "attention",
     "the meaning of alpha=1 is not known"},
    {"depends_on_no_value", "called.cu", "attend_without_values", "attention",
     "nothing that attend_without_values gives depends on v"},
};

INSTANTIATE_TEST_SUITE_P(Of, WhatIsNotJudged, testing::ValuesIn(kNotJudged),
                         [](const auto& info) { return std::string(info.param.name); });
INSTANTIATE_TEST_SUITE_P(More, WhatIsNotJudged,
                         testing::ValuesIn(tests::in_second_tier(std::vector(std::begin(kMoreNotJudged),
                                                                             std::end(kMoreNotJudged)))),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(WhatIsJudged, IsNothingThatTakesANumberForATensorAndHasNoLaunch) {
  const Diagnosis said = said_of_stranger("static_scale.cu", "quantise_by_number", "act_quant");
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
}

TEST(WhatIsJudged, IsNothingThatReadsMemoryThatTheOpDoesNotHave) {
  const Diagnosis said = said_of_stranger("houses.cu", "attend_scaled_keys", "attention");
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_NE(said.error.find("also reads or writes k_norms (const float*)"), std::string::npos) << said.error;
}

TEST(WhatIsPassed, ForATensorThatTheOpDoesNotHaveIsOneWithoutElementsWhereOneIsWanted) {
  Entry entry;
  entry.form = Entry::Form::extension;
  for (const auto kind :
       {Parameter::Kind::tensor, Parameter::Kind::tensor, Parameter::Kind::optional_tensor}) {
    entry.parameters.emplace_back();
    entry.parameters.back().kind = kind;
  }
  Form form;
  form.entry = &entry;
  form.passings.resize(3);
  form.passings[0].what = Passing::What::role;
  form.passings[0].role = 0;
  const std::vector<Value> values = {tensor_value("q", DType::f16, {2, 3})};
  const std::vector<Value> given = passed(form, values);
  ASSERT_TRUE(given[1].is_tensor());
  EXPECT_EQ(given[1].tensor.describe(), "f16[0]");
  EXPECT_EQ(given[2].kind, Value::Kind::none);
  entry.form = Entry::Form::function;  // who takes pointers is given null
  EXPECT_EQ(passed(form, values)[1].kind, Value::Kind::none);
}

TEST(WhatIsJudged, IsNothingWhereTheMachineLacksRoom) {
  const std::string cache = testing::TempDir() + "no_cache_" + std::to_string(getpid());
  std::ofstream(cache) << "a file where a folder is wanted";
  setenv("ISOMER_CACHE", cache.c_str(), 1);
  CaseFolder folder;
  folder.folder = ISOMER_CANDIDATES;
  folder.candidates = {fs::path(ISOMER_CANDIDATES) / "hidden_twin.cu"};
  folder.op = "sin";
  const Diagnosis said = diagnose_folder(folder).at(0);
  fs::remove(cache);
  EXPECT_EQ(said.verdict(), "error") << words_of(said);
  EXPECT_TRUE(said.findings.empty()) << words_of(said);
  EXPECT_NE(said.error.find("ISOMER_CACHE"), std::string::npos) << said.error;
}

}  // namespace
}  // namespace isomer::lab
