#include "planted.hpp"

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/fp8_gemm/kernels/fp8_gemm_sm90.cu";
constexpr std::string_view kBring = "ops/fp8_gemm/kernels/sm90_bring.cuh";
constexpr std::string_view kResult = "ops/fp8_gemm/kernels/sm90_result.cuh";
/// More blocks of K than stages and a ragged tail, ragged rows and columns, more tiles than multiprocessors.
constexpr std::string_view kCase = "fp8_gemm m=40 n=392 k=1168 bf16 seed=7";
/// Two warpgroups that take turns.
constexpr std::string_view kTwo = "fp8_gemm m=100 n=136 k=656 bf16 seed=7";
constexpr std::string_view kMasked = "grouped_fp8_gemm rows=masked g=3 r=40 n=72 k=256 bf16 seed=7";
constexpr std::string_view kContiguous = "grouped_fp8_gemm rows=contiguous g=2 r=40 n=72 k=256 bf16 seed=7";

}  // namespace

Planted fp8_gemm_faults() {
  static constexpr Fault kFaults[] = {
      {"promotion_skipped_once", kKernel, "      promote_chunk(tile, c, scale);",
       "      if (block != 1) promote_chunk(tile, c, scale);", "expected"},
      {"scale_of_the_next_block_of_k", kKernel, "kBytesSlot + in_slot * 4;",
       "kBytesSlot + (in_slot ^ 1) * 4;", "expected", "fp8_gemm m=40 n=72 k=512 bf16 seed=7"},
      {"scale_of_the_next_columns", kBring, "column = tile.column / kScaleBlock + lane() / kScalesAtOnce;",
       "column = tile.column / kScaleBlock + 1 + lane() / kScalesAtOnce;", "expected"},
      {"stage_given_back_before_its_products_end", kKernel,
       "      sm90::warpgroup_wait<0>();\n      sm90::pin(temporary_);\n      if (c == kChunks - 1) {\n"
       "        leave(ring_.stage, ends_slot);",
       "      if (c == kChunks - 1) leave(ring_.stage, ends_slot);\n      sm90::warpgroup_wait<0>();\n"
       "      sm90::pin(temporary_);\n      if (c == kChunks - 1) {",
       "early-reuse"},
      {"scales_brought_into_a_slot_in_use", kBring, "      memory.read[slots.stage].wait(slots.phase ^ 1);\n",
       "", "waits for ever"},
      {"scales_not_waited_for", kKernel, "memory_.brought[number].wait(slot_ / kSlots % 2);", ";", "race"},
      {"producer_begins_with_the_other_parity", kBring,
       "memory.full[ring.stage];\n      memory.empty[ring.stage].wait(ring.phase ^ 1);",
       "memory.full[ring.stage];\n      memory.empty[ring.stage].wait(ring.phase);", "waits for ever"},
      {"fresh_barriers_unseen", kKernel, "    sm90::fence_barriers<kBeginsLightly>();\n", "",
       "unseen-barrier"},
      {"next_stage_not_waited_for", kKernel,
       "    if (kAhead && (!kLast || more)) memory_.full[ring_.stage].wait(ring_.phase);\n", "", "in-flight"},
      {"announced_with_too_few_bytes", kBring, "if (!has_b) full.arrive_expect(bytes)",
       "if (!has_b) full.arrive_expect(bytes - 128)", "byte-count"},
      {"rows_that_no_copy_brings_left_as_they_were", kKernel,
       "        sm90::store_shared(memory_.a + stage * kBytesA + at, kZeros);", "        ;",
       "uninitialised-read"},
      {"zeros_unfenced", kKernel, "    sm90::fence_async_shared();\n    sm90::sync_threads<128>(kCleared",
       "    sm90::sync_threads<128>(kCleared", "missing-proxy-fence"},
      {"zeros_over_rows_that_are_brought", kKernel, "first * 128 + threadIdx.x % 128 * 16; at <",
       "mine * 128 + threadIdx.x % 128 * 16; at <", "planted"},
      {"products_without_a_fence", kKernel, "    sm90::warpgroup_fence();\n", "", "missing-fence"},
      {"promoted_in_flight", kKernel,
       "      sm90::warpgroup_wait<0>();\n      sm90::pin(temporary_);\n      if",
       "      sm90::warpgroup_wait<1>();\n      sm90::pin(temporary_);\n      if", "in-flight"},
      {"b_read_with_another_swizzle", kKernel, "b_(SharedMatrix::of(memory.b, 16, 1024))",
       "b_(SharedMatrix::of(memory.b, 16, 1024, sm90::Swizzle::bytes_64))", "wrong-swizzle"},
      {"sums_of_the_tile_before", kKernel, "    clear(chunk);\n  }", "  }", "expected"},
      {"slot_given_back_by_the_first_warp", kKernel, "memory.read[i].init(kWarpgroups * 128);",
       "memory.read[i].init(1);", "race"},
      {"c_written_while_it_is_stored", kKernel, "        memory_.stored[at].wait(result_phase_ ^ 1);\n", "",
       "early-reuse"},
      {"c_stored_before_it_is_written", kKernel,
       "      memory.written[number * kParts + part].wait(phase);\n", "", "uninitialised-read"},
      {"c_stored_unfenced", kKernel, "        sm90::fence_async_shared();\n", "", "missing-proxy-fence"},
      {"ends_before_its_stores", kKernel,
       "      sm90::wait_stores_read<0>();\n      memory.stored[number * kParts + part].arrive();\n    }\n"
       "    phase ^= 1;\n  }\n  sm90::wait_stores<0>();\n",
       "      memory.stored[number * kParts + part].arrive();\n    }\n    phase ^= 1;\n  }\n", "unfinished",
       "fp8_gemm m=40 n=64 k=512 bf16 seed=7"},
      {"turn_never_given", kKernel, "    if (kTurns && number_ == 1) sm90::arrive_threads<256>(kTurn + 0);\n",
       "", "waits for ever", kTwo, "128x128"},
      {"second_scale_of_192_columns_too_early", kKernel, "promote<64>(chunk, temporary_",
       "promote<0>(chunk, temporary_", "expected", "fp8_gemm m=40 n=328 k=272 bf16 seed=7", "64x192"},
      {"third_scale_of_176_columns_left_out", kKernel, "j < change + kScaleBlock / 8 ? 1 : 2",
       "j < change + kScaleBlock / 8 ? 1 : 1", "expected", "fp8_gemm m=40 n=528 k=272 bf16 seed=7",
       "128x176"},
      {"scales_of_176_columns_change_too_late", kKernel, "    if (offset < kMiddle)",
       "    if (offset <= kMiddle)", "expected", "fp8_gemm m=40 n=528 k=272 bf16 seed=7", "128x176"},
      {"stage_of_a_cluster_left_by_one_block", kKernel, "if (lane() < kCluster) memory_.empty",
       "if (lane() < 1) memory_.empty", "waits for ever", "fp8_gemm m=256 n=72 k=1040 bf16 seed=7",
       "128x192 cluster 2"},
      {"parts_added_before_they_are_handed", kKernel,
       "      sm90::cluster_sync();\n      f32 sum[kOwn] = {};", "      f32 sum[kOwn] = {};", "planted",
       "fp8_gemm m=20 n=72 k=512 bf16 seed=7", "64x64 split 2"},
      {"rows_behind_the_count_stored", kKernel,
       "return kLayout != GemmRows::masked || tile.row + warpgroup * 64 + 64 <= tile.end;", "return true;",
       "must stay untouched", kMasked},
      {"weights_of_the_expert_before", kBring,
       "{{block * kScaleBlock, tile.column, tile.expert}}, b, full, keep)",
       "{{block * kScaleBlock, tile.column, tile.expert > 0 ? tile.expert - 1 : 0}}, b, full, keep)",
       "expected", kMasked},
      {"padding_not_cleared", kKernel,
       "    if constexpr (kLayout == GemmRows::contiguous) clear_padding(g, rows, sum);\n", "", "expected",
       kContiguous},
      {"first_blocks_of_b_brought_twice", kBring, "const bool has_b = kBReady && begun > 0;",
       "const bool has_b = false;", "planted", "fp8_gemm m=7 n=72 k=1536 bf16 b_ready=1 seed=7"},
  };
  return {kKernel, "emulated/sm90", kCase, kFaults};
}

}  // namespace isomer::planted
