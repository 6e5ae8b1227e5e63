#include "planted.hpp"

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/attention/kernels/attention_sm90.cu";
constexpr std::string_view kWarpgroup = "ops/attention/kernels/attention_sm90_warpgroup.cuh";
constexpr std::string_view kBlocks = "ops/attention/kernels/attention_sm90_blocks.cuh";
constexpr std::string_view kWayOut = "ops/attention/kernels/attention_sm90_way_out.cuh";
constexpr std::string_view kProducer = "ops/attention/kernels/attention_sm90_producer.cuh";
constexpr std::string_view kPieces = "ops/attention/kernels/attention_sm90_pieces.cuh";
constexpr std::string_view kPieceTiles = "ops/attention/kernels/attention_sm90_piece_tiles.cuh";
constexpr std::string_view kSoftmax = "ops/attention/kernels/attention_sm90_softmax.cuh";
constexpr std::string_view kConvert = "ops/attention/kernels/attention_sm90_convert.cuh";
constexpr std::string_view kTurn = "ops/attention/kernels/attention_sm90_turn.cuh";
/// Blocks that use all stages twice, three warpgroups, two kv heads with factors of their own.
constexpr std::string_view kBytes =
    "attention sq=130 sk=600 hq=6 hkv=2 d=96 e4m3fn causal descale lse num_splits=1 pack_gqa=never seed=7";
/// Queries of 16 bits over them.
constexpr std::string_view kMixed =
    "attention sq=40 sk=600 hq=2 d=64 f16 kv=e4m3fn causal descale lse num_splits=1 pack_gqa=never seed=7";
/// Several blocks of keys and a masked tail, two tiles for a block, both warpgroups with rows.
constexpr std::string_view kCase =
    "attention b=2 sq=300 sk=300 hq=4 hkv=2 d=128 causal num_splits=1 pack_gqa=never seed=7";
/// Slots behind an entry's keys hold NaN.
constexpr std::string_view kUsed =
    "attention b=2 sq=140 sk=300 hq=2 d=64 seqused_k num_splits=1 pack_gqa=never seed=7";
/// Four warpgroups at a tile, which pass over blocks at both of its ends; all stages used twice.
constexpr std::string_view kFour =
    "attention sq=200 sk=460 hq=8 d=64 left=150 right=0 num_splits=1 pack_gqa=never seed=7";
/// Of bytes, whose references rise.
constexpr std::string_view kFourOfBytes =
    "attention b=2 sq=130 sk=270 hq=4 hkv=2 d=64 e4m3fn scale=3 descale lse num_splits=1 pack_gqa=never "
    "seed=7";
/// A NaN among the second entry's values, which not all rows see.
constexpr std::string_view kHidden =
    "attention b=2 sq=70 sk=140 hq=2 d=128 regime=nan causal num_splits=1 pack_gqa=never seed=7";
constexpr std::string_view kCombine = "ops/attention/kernels/attention_combine.cu";
constexpr std::string_view kAppend = "ops/attention/kernels/attention_append.cu";
/// Three heads share a tile, which leaves two of its rows to nobody; keys lie in pages.
constexpr std::string_view kPaged =
    "attention b=2 sq=50 sk=200 hq=6 hkv=2 d=64 causal page=16 pack_gqa=always num_splits=1 seed=7";
constexpr std::string_view kSplit =
    "attention b=2 sq=50 sk=300 hq=4 hkv=2 d=64 causal pack_gqa=always num_splits=2 seed=7";
/// Two heads of the second entry have tiles in parts, the others whole ones.
constexpr std::string_view kLastDivided = "attention b=2 sq=70 sk=700 hq=5 d=64 e4m3fn descale lse seed=7";
constexpr std::string_view kAppended =
    "attention b=2 sq=20 sk=200 hq=4 hkv=2 d=64 append=5 page=16 num_splits=1 seed=7";
/// The kernel for wide values.
constexpr std::string_view kWide = "ops/attention/kernels/attention_sm90_wide.cu";
constexpr std::string_view kWideBlocks = "ops/attention/kernels/attention_sm90_wide_blocks.cuh";
constexpr std::string_view kWideWayOut = "ops/attention/kernels/attention_sm90_wide_way_out.cuh";
/// Both stages used twice, references that rise, keys behind the entry's that hold NaN, two tiles for a
/// block.
constexpr std::string_view kLatent =
    "attention b=2 sq=2 sk=300 hq=24 hkv=2 d=64 dv=256 qv seqused_k scale=2 lse num_splits=1 seed=7";

}  // namespace

Planted attention_wide_faults() {
  static constexpr Fault kFaults[] = {
      {"p_unfenced", kWideBlocks, "    fence_async_shared();\n    arrive_threads", "    arrive_threads",
       "missing-proxy-fence"},
      {"p_over_k_that_others_still_read", kWideBlocks,
       "    sync_threads<128>(kOne + group);\n    has_v = kQv;", "    has_v = kQv;", "early-reuse"},
      {"references_kept", kWideBlocks, "rows.reference[r] = its[r];", "", "expected"},
      {"sums_not_lowered_with_their_references", kWideBlocks, "rows.sum[r] *= factor[r];", "", "expected"},
      {"half_of_v_given_back_before_it_is_read", kWideBlocks,
       "    issue_own();\n    warpgroup_wait<0>();\n    pin(o);\n    free_half();",
       "    issue_own();\n    free_half();\n    warpgroup_wait<0>();\n    pin(o);", "early-reuse"},
      {"first_half_of_qv_left_out", kWideBlocks, "      multiply_half(group, true);\n",
       "      shared.v_full(turn.stage(), group).wait(turn.parity());\n      for (f32& x : s) x = 0;\n",
       "expected"},
      {"sums_of_one_warpgroup", kWideWayOut, "rows.sum[r] += load_shared_f32(", "load_shared_f32(",
       "expected"},
      {"a_used_value_cleared", kWideBlocks, "i / 8 < used) continue;", "i / 8 < used - 1) continue;",
       "expected"},
  };
  return {kWide, "emulated/sm90_wide", kLatent, kFaults};
}

Planted attention_piece_faults() {
  static constexpr Fault kFaults[] = {
      {"split_ends_a_key_late", kPieceTiles, "end = least(begin + size, length);",
       "end = least(begin + size + 1, length);", "expected", kSplit},
      {"split_begins_a_key_late", kPieceTiles, "      begin = tile.part * size;",
       "      begin = tile.part * size + (tile.part > 0);", "expected", kSplit},
      {"divided_tiles_begin_one_late", kPieceTiles, "static_cast<int>(number) - of.whole_tiles;",
       "static_cast<int>(number) - of.whole_tiles - 1;", "uninitialised-read", kLastDivided},
      {"parts_of_the_last_heads_behind_their_room", kWayOut, "query - p.pieces.partial_first", "query",
       "out-of-bounds-write", kLastDivided},
      {"whole_tile_taken_for_a_part", kWayOut, " && tile.part != kAllKeys", "", "out-of-bounds-write",
       kLastDivided},
      {"row_of_the_page_off_by_one_box", kPieceTiles, "kPanelColumns, spot.row, head, spot.outer}}",
       "kPanelColumns, spot.row ^ 1, head, spot.outer}}", "expected"},
      {"pages_of_the_first_entry", kPieceTiles, "p.kv_batch_idx ? p.kv_batch_idx[b] : b;", "0;", "expected"},
      {"q_announced_with_rows_that_no_copy_brings", kPieces,
       "arrive_expect(static_cast<u32>(kPanelsQuery * 128 * p.pieces.tile_rows))",
       "arrive_expect(static_cast<u32>(kPanelsQuery * 128 * kRows))", "byte-count"},
      {"spare_rows_left_as_they_are", kKernel, "clear_spare_rows(p, shared);", "{}", "uninitialised"},
      {"cleared_values_unfenced", kBlocks,
       "    fence_async_shared();\n    sync_threads<128>(1 + kGroups + group);\n",
       "    sync_threads<128>(1 + kGroups + group);\n", "missing-proxy-fence"},
      {"appended_keys_not_counted", kPieceTiles, "length = position + added", "length = position", "expected",
       kAppended},
  };
  return {kKernel, "emulated/sm90", kPaged, kFaults};
}

Planted attention_combine_faults() {
  static constexpr Fault kFaults[] = {
      {"weight_left_out", kCombine, "some[u][c / 4].of[c % 4] * weight", "some[u][c / 4].of[c % 4]",
       "expected"},
      {"sum_not_weighed", kCombine, "all.sum += weight * states[u].of[1];", "all.sum += states[u].of[1];",
       "expected"},
      {"last_part_left_out", kCombine, "if (begin + u >= parts) continue;",
       "if (begin + u >= parts - 1) continue;", "expected"},
      {"parts_of_the_next_head", kCombine, "const i64 row = at.head * p.partial_rows",
       "const i64 row = (at.head ^ 1) * p.partial_rows", "expected"},
  };
  return {kCombine, "emulated/sm90", kSplit, kFaults};
}

Planted attention_append_faults() {
  static constexpr Fault kFaults[] = {
      {"appended_a_slot_early", kAppend, "e.k_len - e.new_len + t);", "e.k_len - e.new_len + t - 1);",
       "expected"},
      {"last_key_is_not_appended", kAppend, "if (t >= e.new_len) return;", "if (t + 1 >= e.new_len) return;",
       "expected"},
  };
  return {kAppend, "emulated/sm90", kAppended, kFaults};
}

Planted attention_faults() {
  static constexpr Fault kFaults[] = {
      {"fresh_barriers_unseen", kKernel, "    fence_barriers();\n", "", "unseen-barrier"},
      {"producer_begins_with_the_other_parity", kProducer, "k_empty()[key.stage].wait(key.phase ^ 1)",
       "k_empty()[key.stage].wait(key.phase)", "waits for ever in phase 0 (parity 0) of the barrier"},
      {"k_not_waited_for", kWarpgroup, "      shared.k_full()[key.stage].wait(key.phase);\n",
       "      static_cast<void>(0);\n", "in-flight"},
      {"v_of_the_phase_before", kWarpgroup, ".wait(key.phase ^ (key.stage == 0));",
       ".wait(key.phase ^ (key.stage == 0) ^ 1);", "in-flight"},
      {"k_given_back_before_it_is_read", kBlocks, "    warpgroup_wait<1>();\n    pin(x);\n    free_k();",
       "    free_k();\n    warpgroup_wait<1>();\n    pin(x);", "early-reuse"},
      {"k_announced_with_too_few_bytes", kProducer, "arrive_expect(kLayout.k_bytes)",
       "arrive_expect(kLayout.k_bytes - 128)", "byte-count"},
      {"v_announced_with_too_many_bytes", kProducer, "arrive_expect(kLayout.v_bytes)",
       "arrive_expect(kLayout.v_bytes + 128)", "byte-count"},
      {"s_without_a_fence", kBlocks, "    warpgroup_fence();\n#pragma unroll\n    for (int d = 0;",
       "#pragma unroll\n    for (int d = 0;", "missing-fence"},
      {"waits_once_more_where_rows_rise", kBlocks, "        use(weights);\n",
       "        use(weights);\n        warpgroup_wait<0>();\n", "warpgroup-divergence", kBytes},
      {"s_touched_in_flight", kBlocks, "    warpgroup_wait<1>();\n    pin(x);",
       "    warpgroup_wait<2>();\n    pin(x);", "in-flight"},
      {"sums_touched_in_flight", kBlocks,
       "      warpgroup_wait<0>();\n      pin(o);\n      if (grown) use(in);",
       "      rows.sum[0] += o[0];\n      warpgroup_wait<0>();\n      pin(o);\n      if (grown) use(in);",
       "in-flight"},
      {"q_read_with_another_swizzle", kWarpgroup, "static_cast<u32>(which * 64 * 128), 16, 1024)",
       "static_cast<u32>(which * 64 * 128), 16, 1024, Swizzle::bytes_64)", "wrong-swizzle"},
      {"more_registers_than_there_are", kKernel, "take_registers<kWorkRegisters>()",
       "take_registers<kWorkRegisters + 8>()", "register-pool"},
      {"nobody_begins", kKernel, "if (kInTurn && group == kGroups - 1) arrive_threads<256>(1);", "",
       "waits in a named barrier"},
      {"out_written_while_it_is_stored", kWayOut, "if (first_thread()) wait_stores_read<0>();", "",
       "early-reuse"},
      {"out_stored_unfenced", kWayOut, "      fence_async_shared();\n", "", "missing-proxy-fence"},
      {"ends_before_its_stores", kKernel, "    if (first_thread()) wait_stores<0>();\n", "", "unfinished"},
      {"q_buffer_given_back_twice", kBlocks, "    if (n == begin) free_q();\n    prepare(clear);",
       "    free_q();\n    prepare(clear);", "barrier"},
      {"last_block_of_the_tile_before", kWarpgroup, "    n = range.end - 1;", "    n = range.end;",
       "waits for ever"},
      {"short_first_tile_stored_whole", kWayOut, "(!p.lengths && tile.end(p) == tile.q_len)", "!p.lengths",
       "race", "attention b=1 sq=300 sk=340 hq=1 d=128 causal num_splits=1 pack_gqa=never seed=7"},
      {"a_used_slot_cleared", kBlocks, "i / 8 < used) continue;", "i / 8 < used - 1) continue;", "expected",
       kUsed},
      {"cleared_slots_unfenced", kBlocks,
       "    fence_async_shared();\n    sync_threads<128>(1 + kGroups + group);\n",
       "    sync_threads<128>(1 + kGroups + group);\n", "missing-proxy-fence", kUsed},
      {"cleared_while_the_other_multiplies", kKernel,
       "    if constexpr (kClearsHere) {\n      sync_threads<256>(1 + group);",
       "    if constexpr (kClearsHere) {", "race", kUsed},
      {"blocks_passed_over_before_they_are_there", kWarpgroup,
       "      wait_k();\n      free_k();\n      wait_v();\n", "      free_k();\n", "early-reuse", kFour},
      {"values_kept_where_blocks_are_passed_over", kWarpgroup, "      wait_v();\n      free_v(0);\n", "",
       "waits for ever", kFour},
      {"a_block_too_many_passed_over", kWarpgroup, "ahead = shuffle(range.end - own_end, 0);",
       "ahead = shuffle(range.end - own_end, 0) + (n - begin > 4);", "expected", kFour},
      {"rows_out_of_range_not_counted_again", kWayOut, "(kFp8 || kOneP) &&", "kFp8 &&", "expected",
       "attention sq=190 sk=140 hq=4 d=16 scale=30 lse num_splits=1 pack_gqa=never seed=7"},
      {"values_of_the_first_entry_summed_again", kWayOut, "    tile.kv_outer = shuffle(its.kv_outer, 0);\n",
       "", "expected", kHidden},
      {"descale_of_another_head", kPieces, "k_descale, tile.entry, head);", "k_descale, tile.entry, 0);",
       "expected", kBytes},
      {"lse_keeps_the_shift_of_p", kWayOut, "if constexpr (kFp8) base -= kShift;", "", "expected", kBytes},
      {"saturated_weights_unseen", kSoftmax, "return any_lane(largest_of(rows.most[0]",
       "return false && any_lane(largest_of(rows.most[0]", "expected", kBytes},
      {"largest_weights_kept_where_references_rise", kSoftmax, "    rows.most[r] = 0;\n    bits = largest_of",
       "    bits = largest_of", "expected", kBytes},
      {"values_not_raised_with_their_references", kBlocks, "      if (raised) raise_out();\n", "", "expected",
       kFourOfBytes},
      {"sums_raised_in_flight", kBlocks,
       "      warpgroup_wait<0>();\n      pin(o);\n      if (!kRaisesLate && grown) {",
       "      if (grown) raise_out();\n      warpgroup_wait<0>();\n      pin(o);\n      if (!kRaisesLate && "
       "grown) {",
       "in-flight", kBytes},
      {"reference_stays_where_weights_fall", kSoftmax,
       "      rows.reference[r] += rise * reciprocal_fast(p.scale_log2);\n", "", "expected", kBytes},
      {"weights_fall_with_the_other_row", kSoftmax, "x[i] *= rows.factor[i / 2 % 2]",
       "x[i] *= rows.factor[0]", "expected", kBytes},
      {"columns_from_any_key_on", kPieceTiles, "of.v_colmajor ? slot % 16 : 0", "0", "copy-misuse",
       "attention b=2 sq=9 sk=80 hq=2 d=64 e4m3fn v_colmajor leftpad_k seed=7"},
      {"v_not_turned", kTurn, "odd_bytes(words[0], words[1]),\n", "words[1],\n", "expected", kBytes},
      {"turned_v_unfenced", kTurn, "      fence_async_shared();\n", "", "missing-proxy-fence", kBytes},
      {"v_turned_before_it_is_there", kTurn, "      shared.v_rows_full()[rows].wait(blocks >> 1 & 1);\n", "",
       "in-flight", kBytes},
      {"v_turned_into_two_of_four_stages", kTurn, "blocks % kStages)", "blocks % 2)", "wrong-phase", kBytes},
      {"v_announced_by_one_of_three_warps", kTurn, "        shared.v_full()[turned].arrive();\n",
       "        for (int i = 0; which == 0 && i < kTurners; ++i) shared.v_full()[turned].arrive();\n", "race",
       kBytes},
      {"one_key_too_many_cleared", kTurn, "first + i >= used)", "first + i >= used - 1)", "expected",
       "attention sq=40 sk=5 hq=2 d=64 e4m3fn seed=7"},
      {"columns_in_the_order_of_memory", kTurn, "words[0] & 0xffff | words[2] << 16,", "words[0],",
       "expected", "attention sq=40 sk=160 hq=2 d=64 e4m3fn v_colmajor seed=7"},
      {"v_looked_at_a_block_too_early", kWarpgroup, "if (behind == 1) next.advance();", "", "race", kBytes},
      {"k_looked_at_in_another_round", kWarpgroup, "k_full()[key.stage].is_over(key.phase)",
       "k_full()[key.stage].is_over(key.phase ^ 1)", "in-flight", kBytes},
      {"bytes_of_v_announced_too_few", kPieces, "arrive_expect(kPanelsV * kPanelKeys)",
       "arrive_expect(kPanelsV * kPanelKeys - 128)", "byte-count", kBytes},
      {"bytes_of_k_into_a_stage_in_use", kPieces,
       "    k_freed(shared)[stage].wait((index / kStages & 1) ^ 1);\n", "", "barrier-misuse", kBytes},
      {"two_of_three_warpgroups_give_k_back", kKernel, "shared.k_empty()[i].init(4 * kGroups);",
       "shared.k_empty()[i].init(8);", "early-reuse", kBytes},
      {"converted_block_unfenced", kConvert, "    fence_async_shared();\n", "", "missing-proxy-fence",
       kMixed},
      {"k_converted_before_it_is_there", kConvert, "      shared.k_rows_full()[stage].wait(parity);\n", "",
       "in-flight", kMixed},
      {"v_converted_into_a_stage_in_use", kConvert, "      shared.v_empty()[stage].wait(parity ^ 1);\n", "",
       "early-reuse", kMixed},
      {"a_used_row_of_v_zeroed", kConvert, "its >= used.used)", "its >= used.used - 1)", "expected", kMixed},
      {"second_panel_of_bytes_left_out", kConvert, "to + static_cast<u32>(2 * kPanelKeys)", "to", "race",
       "attention sq=40 sk=50 hq=2 d=192 bf16 kv=e4m3fn seed=7"},
      {"queries_of_the_first_warp_held_by_all", kWarpgroup, "static_cast<u32>(warp * 16 + lane % 16)",
       "static_cast<u32>(lane % 16)", "expected",
       "attention sq=190 sk=800 hq=4 hkv=2 d=64 e4m3fn descale lse num_splits=1 pack_gqa=never seed=7"},
      {"q_given_back_by_fewer_lanes_than_are_counted", kKernel, "(kAllRead ? 128 : 4)",
       "(kAllRead ? 129 : 4)", "waits for ever", kBytes},
      {"mask_ends_a_block_late", kWarpgroup, "k_len), 0) / kKeys;", "k_len), 0) / kKeys + 1;", "expected"},
  };
  return {kKernel, "emulated/sm90", kCase, kFaults};
}

}  // namespace isomer::planted
