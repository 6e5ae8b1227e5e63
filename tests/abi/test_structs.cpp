// The structs of the C ABI grow only at their ends, so none may end in padding, and their _INIT macros hold
// the defaults of C++.
#include <isomer/isomer.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace isomer {
namespace {

struct Layout {
  std::string name;
  std::size_t size_offset, end_of_last, bytes;
  isomer_uint64 initial_size;
};

#define LAYOUT(type, init, last)                                                                         \
  Layout {                                                                                               \
#type, offsetof(type, size), offsetof(type, last) + sizeof(type::last), sizeof(type), type init.size \
  }

const Layout kLayouts[] = {
    LAYOUT(isomer_executor, ISOMER_EXECUTOR_INIT, parallel_for),
    LAYOUT(isomer_queue_options, ISOMER_QUEUE_OPTIONS_INIT, checked),
    LAYOUT(isomer_device_info, ISOMER_DEVICE_INFO_INIT, architecture),
    LAYOUT(isomer_plan_run_options, ISOMER_PLAN_RUN_OPTIONS_INIT, workspace_bytes),
    LAYOUT(isomer_sin_args, ISOMER_SIN_ARGS_INIT, y),
    LAYOUT(isomer_sin_options, ISOMER_SIN_OPTIONS_INIT, size),
    LAYOUT(isomer_act_quant_args, ISOMER_ACT_QUANT_ARGS_INIT, s),
    LAYOUT(isomer_act_quant_options, ISOMER_ACT_QUANT_OPTIONS_INIT, scale_layout),
    LAYOUT(isomer_silu_mul_quant_args, ISOMER_SILU_MUL_QUANT_ARGS_INIT, row_counts),
    LAYOUT(isomer_silu_mul_quant_options, ISOMER_SILU_MUL_QUANT_OPTIONS_INIT, scale_layout),
    LAYOUT(isomer_weight_dequant_args, ISOMER_WEIGHT_DEQUANT_ARGS_INIT, y),
    LAYOUT(isomer_weight_dequant_options, ISOMER_WEIGHT_DEQUANT_OPTIONS_INIT, block_size),
    LAYOUT(isomer_weight_quant_args, ISOMER_WEIGHT_QUANT_ARGS_INIT, s),
    LAYOUT(isomer_weight_quant_options, ISOMER_WEIGHT_QUANT_OPTIONS_INIT, scale_layout),
    LAYOUT(isomer_expert_layer_args, ISOMER_EXPERT_LAYER_ARGS_INIT, row_counts),
    LAYOUT(isomer_expert_layer_options, ISOMER_EXPERT_LAYER_OPTIONS_INIT, amax_floor),
    LAYOUT(isomer_quantize_copy_kv_args, ISOMER_QUANTIZE_COPY_KV_ARGS_INIT, out_scale),
    LAYOUT(isomer_quantize_copy_kv_options, ISOMER_QUANTIZE_COPY_KV_OPTIONS_INIT, group),
    LAYOUT(isomer_flash_decode_args, ISOMER_FLASH_DECODE_ARGS_INIT, v_scale),
    LAYOUT(isomer_flash_decode_options, ISOMER_FLASH_DECODE_OPTIONS_INIT, scale),
    LAYOUT(isomer_flash_decode_stage1_args, ISOMER_FLASH_DECODE_STAGE1_ARGS_INIT, v_scale),
    LAYOUT(isomer_flash_decode_stage1_options, ISOMER_FLASH_DECODE_STAGE1_OPTIONS_INIT, scale),
    LAYOUT(isomer_flash_decode_stage2_args, ISOMER_FLASH_DECODE_STAGE2_ARGS_INIT, out),
    LAYOUT(isomer_flash_decode_stage2_options, ISOMER_FLASH_DECODE_STAGE2_OPTIONS_INIT, block_seq),
    LAYOUT(isomer_fp8_gemm_args, ISOMER_FP8_GEMM_ARGS_INIT, addend),
    LAYOUT(isomer_fp8_gemm_options, ISOMER_FP8_GEMM_OPTIONS_INIT, b_ready),
    LAYOUT(isomer_fp8_linear_args, ISOMER_FP8_LINEAR_ARGS_INIT, addend),
    LAYOUT(isomer_fp8_linear_options, ISOMER_FP8_LINEAR_OPTIONS_INIT, b_ready),
    LAYOUT(isomer_grouped_fp8_gemm_args, ISOMER_GROUPED_FP8_GEMM_ARGS_INIT, addend),
    LAYOUT(isomer_grouped_fp8_gemm_options, ISOMER_GROUPED_FP8_GEMM_OPTIONS_INIT, size),
    LAYOUT(isomer_attention_args, ISOMER_ATTENTION_ARGS_INIT, qv),
    LAYOUT(isomer_attention_options, ISOMER_ATTENTION_OPTIONS_INIT, attention_chunk),
    LAYOUT(isomer_merge_attention_args, ISOMER_MERGE_ATTENTION_ARGS_INIT, lse),
    LAYOUT(isomer_merge_attention_options, ISOMER_MERGE_ATTENTION_OPTIONS_INIT, size),
};

TEST(CStructs, BeginWithTheirSizeAndEndWithTheirLastField) {
  for (const Layout& layout : kLayouts) {
    EXPECT_EQ(layout.size_offset, 0u) << layout.name;
    EXPECT_EQ(layout.end_of_last, layout.bytes) << layout.name;
    EXPECT_EQ(layout.initial_size, layout.bytes) << layout.name;
  }
}

TEST(CStructs, AreAllInTheTable) {
  std::ifstream file(ISOMER_INCLUDE_DIR "/isomer/isomer.h");
  std::stringstream text;
  text << file.rdbuf();
  const std::string header = text.str();
  const std::regex regex("typedef struct (isomer_\\w+) \\{\\s*isomer_uint64 size;");
  std::set<std::string> in_header, in_table;
  for (std::sregex_iterator match(header.begin(), header.end(), regex), end; match != end; ++match)
    in_header.insert((*match)[1]);
  for (const Layout& layout : kLayouts) in_table.insert(layout.name);
  EXPECT_EQ(in_table, in_header);
}

TEST(CStructs, HaveTheDefaultsOfCxx) {
  const isomer_flash_decode_options decode = ISOMER_FLASH_DECODE_OPTIONS_INIT;
  EXPECT_EQ(decode.block_seq, FlashDecodeOptions().block_seq);
  EXPECT_EQ(decode.max_len, FlashDecodeOptions().max_len);
  EXPECT_EQ(decode.scale, FlashDecodeOptions().scale);
  const isomer_flash_decode_stage1_options stage1 = ISOMER_FLASH_DECODE_STAGE1_OPTIONS_INIT;
  EXPECT_EQ(stage1.block_seq, FlashDecodeStage1Options().block_seq);
  EXPECT_EQ(stage1.max_len, FlashDecodeStage1Options().max_len);
  EXPECT_EQ(stage1.scale, FlashDecodeStage1Options().scale);
  const isomer_flash_decode_stage2_options stage2 = ISOMER_FLASH_DECODE_STAGE2_OPTIONS_INIT;
  EXPECT_EQ(stage2.block_seq, FlashDecodeStage2Options().block_seq);
  const isomer_act_quant_options quant = ISOMER_ACT_QUANT_OPTIONS_INIT;
  EXPECT_EQ(quant.block_size, ActQuantOptions().block_size);
  EXPECT_EQ(static_cast<float>(quant.amax_floor), ActQuantOptions().amax_floor);
  EXPECT_EQ(quant.scale_format, static_cast<int>(ActQuantOptions().scale_format));
  EXPECT_EQ(quant.scale_layout, static_cast<int>(ActQuantOptions().scale_layout));
  EXPECT_EQ(int{ISOMER_SCALE_FORMAT_UE8M0}, static_cast<int>(ScaleFormat::ue8m0));
  EXPECT_EQ(int{ISOMER_SCALE_LAYOUT_COLUMN_MAJOR}, static_cast<int>(ScaleLayout::column_major));
  const isomer_weight_dequant_options dequant = ISOMER_WEIGHT_DEQUANT_OPTIONS_INIT;
  EXPECT_EQ(dequant.block_size, WeightDequantOptions().block_size);
  const isomer_quantize_copy_kv_options scatter = ISOMER_QUANTIZE_COPY_KV_OPTIONS_INIT;
  EXPECT_EQ(scatter.group, QuantizeCopyKvOptions().group);
  const isomer_attention_options c = ISOMER_ATTENTION_OPTIONS_INIT;
  const AttentionOptions cxx;
  EXPECT_EQ(c.window_left, cxx.window_left);
  EXPECT_EQ(c.window_right, cxx.window_right);
  EXPECT_EQ(c.max_seqlen_q, cxx.max_seqlen_q);
  EXPECT_EQ(c.max_seqlen_k, cxx.max_seqlen_k);
  EXPECT_EQ(c.num_splits, cxx.num_splits);
  EXPECT_EQ(c.split_size, cxx.split_size);
  EXPECT_EQ(c.attention_chunk, cxx.attention_chunk);
  EXPECT_EQ(c.scale, cxx.scale);
  EXPECT_EQ(c.softcap, cxx.softcap);
  EXPECT_EQ(c.causal != 0, cxx.causal);
  EXPECT_EQ(c.rotary_interleaved != 0, cxx.rotary_interleaved);
  EXPECT_EQ(c.v_colmajor != 0, cxx.v_colmajor);
  EXPECT_EQ(c.pack_gqa, static_cast<int>(cxx.pack_gqa));
  EXPECT_EQ(int{ISOMER_CHOICE_NEVER}, static_cast<int>(AttentionOptions::Choice::never));
  EXPECT_EQ(int{ISOMER_CHOICE_ALWAYS}, static_cast<int>(AttentionOptions::Choice::always));
}

TEST(Status, HasTheNumbersOfErrorCode) {
  EXPECT_EQ(int{ISOMER_BAD_ARGUMENT}, static_cast<int>(ErrorCode::bad_argument));
  EXPECT_EQ(int{ISOMER_UNSUPPORTED}, static_cast<int>(ErrorCode::unsupported));
  EXPECT_EQ(int{ISOMER_OUT_OF_MEMORY}, static_cast<int>(ErrorCode::out_of_memory));
  EXPECT_EQ(int{ISOMER_DEVICE}, static_cast<int>(ErrorCode::device));
  EXPECT_EQ(int{ISOMER_IO}, static_cast<int>(ErrorCode::io));
  EXPECT_EQ(int{ISOMER_INTERNAL}, static_cast<int>(ErrorCode::internal));
}

}  // namespace
}  // namespace isomer
