#include "planted.hpp"

namespace isomer::planted {
namespace {

constexpr std::string_view kKernel = "ops/fp8_gemm/kernels/fp8_gemm_sm90.cu";
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
      {"scale_of_the_next_block_of_k", kKernel, "static_cast<u32>(block) % kScalesAtOnce * 4;",
       "static_cast<u32>(block ^ 1) % kScalesAtOnce * 4;", "expected",
       "fp8_gemm m=40 n=72 k=512 bf16 seed=7"},
      {"scale_of_the_next_columns", kKernel, "column = tile.column / kScaleBlock + lane();",
       "column = tile.column / kScaleBlock + 1 + lane();", "expected"},
      {"stage_given_back_before_its_products_end", kKernel,
       "      sm90::warpgroup_wait<0>();\n      sm90::pin(temporary_);\n      if (c == kChunks - 1) {\n"
       "        leave(ring_.stage);",
       "      if (c == kChunks - 1) leave(ring_.stage);\n      sm90::warpgroup_wait<0>();\n"
       "      sm90::pin(temporary_);\n      if (c == kChunks - 1) {",
       "early-reuse"},
      {"scales_brought_into_a_stage_in_use", kKernel,
       "      memory.empty[ring.stage].wait(ring.phase ^ 1);\n      if (begins_slot", "      if (begins_slot",
       "once more than"},
      {"producer_begins_with_the_other_parity", kKernel,
       "memory.full[ring.stage];\n      memory.empty[ring.stage].wait(ring.phase ^ 1);",
       "memory.full[ring.stage];\n      memory.empty[ring.stage].wait(ring.phase);", "waits for ever"},
      {"fresh_barriers_unseen", kKernel, "    sm90::fence_barriers();\n", "", "missing-proxy-fence"},
      {"next_stage_not_waited_for", kKernel, "      if (more) memory_.full[ring_.stage].wait(ring_.phase);\n",
       "", "race"},
      {"announced_with_too_few_bytes", kKernel, "arrive_expect(kBytesA + kBytesB)",
       "arrive_expect(kBytesA + kBytesB - 128)", "byte-count"},
      {"products_without_a_fence", kKernel, "    sm90::warpgroup_fence();\n", "", "missing-fence"},
      {"promoted_in_flight", kKernel,
       "      sm90::warpgroup_wait<0>();\n      sm90::pin(temporary_);\n      if",
       "      sm90::warpgroup_wait<1>();\n      sm90::pin(temporary_);\n      if", "in-flight"},
      {"b_read_with_another_swizzle", kKernel, "b_(SharedMatrix::of(memory.b, 16, 1024))",
       "b_(SharedMatrix::of(memory.b, 16, 1024, sm90::Swizzle::bytes_64))", "wrong-swizzle"},
      {"sums_of_the_tile_before", kKernel, "for (int i = 0; i < kChunk / 2; ++i) sum_[c][i] = 0;",
       "for (int i = 0; i < kChunk / 2; ++i) sum_[c][i] = tile.column == 0 ? 0 : sum_[c][i];", "expected"},
      {"a_slot_of_scales_too_few", kKernel, "slot_ = slot_ + 1 == kSlots ? 0 : slot_ + 1;",
       "slot_ = slot_ + 1 >= kSlots - 1 ? 0 : slot_ + 1;", "race"},
      {"c_written_while_it_is_stored", kKernel, "if (leads) sm90::wait_stores_read<0>();\n", "",
       "early-reuse"},
      {"c_stored_unfenced", kKernel, "        sm90::fence_async_shared();\n", "", "missing-proxy-fence"},
      {"ends_before_its_stores", kKernel,
       "    if (kBulkStore && threadIdx.x % 128 == 0) sm90::wait_stores<0>();\n", "", "unfinished"},
      {"turn_never_given", kKernel, "    if (kTurns && number_ == 1) sm90::arrive_threads<256>(kTurn + 0);\n",
       "", "waits for ever", kTwo, "128x128"},
      {"second_scale_of_192_columns_too_early", kKernel, "promote<64>(chunk, temporary_",
       "promote<0>(chunk, temporary_", "expected", "fp8_gemm m=40 n=328 k=272 bf16 seed=7", "64x192"},
      {"stage_of_a_cluster_left_by_one_block", kKernel, "if (lane() < kCluster) memory_.empty",
       "if (lane() < 1) memory_.empty", "waits for ever", "fp8_gemm m=256 n=72 k=1040 bf16 seed=7",
       "128x192 cluster 2"},
      {"parts_added_before_they_are_handed", kKernel,
       "      sm90::cluster_sync();\n      f32 sum[1][kOwn] = {};", "      f32 sum[1][kOwn] = {};", "planted",
       "fp8_gemm m=20 n=72 k=512 bf16 seed=7", "64x64 split 2"},
      {"rows_behind_the_count_stored", kKernel,
       "if (kLayout != GemmRows::masked || first + 64 <= tile.end) {", "if (true) {", "must stay untouched",
       kMasked},
      {"weights_of_the_expert_before", kKernel,
       "{{block * kScaleBlock, tile.column, tile.expert}}, b, full, keep)",
       "{{block * kScaleBlock, tile.column, tile.expert > 0 ? tile.expert - 1 : 0}}, b, full, keep)",
       "expected", kMasked},
      {"padding_not_cleared", kKernel,
       "      for (int c = 0; c < kArrays; ++c) clear_padding(g, rows, sum[c]);",
       "      for (int c = 0; c < 0; ++c) clear_padding(g, rows, sum[c]);", "expected", kContiguous},
  };
  return {kKernel, "emulated/sm90", kCase, kFaults};
}

}  // namespace isomer::planted
