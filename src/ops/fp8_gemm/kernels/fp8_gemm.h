#pragma once

#include "gpu/device/types.h"

namespace isomer::device {

/// How rows belong to experts.
enum class GemmRows : i32 { single, contiguous, masked };
/// The type of bias.
enum class GemmBias : i32 { none, f32, f16, bf16 };

/// A product of either op. Strides are in elements; `rows` are those of one entry of a (masked), else all of
/// them.
struct Fp8GemmParameters {
  static constexpr int kOuter = 7;
  /// Where the rows of a tensor begin: strides of the flattened dimensions, innermost first, and of an entry
  /// (masked).
  struct Rows {
    i64 stride[kOuter];
    i64 expert;
  };

  const u8* a;
  const f32* a_s;
  const u8* b;
  const f32* b_s;
  void* c;
  const void* bias;
  const void* addend;  ///< null where there is none
  const i32* expert_ids;
  const i32* row_counts;
  GemmRows layout;
  GemmBias bias_type;
  i32 dims;      ///< of `outer` that are used
  i32 in_pairs;  ///< c and addend may be read and written two columns at a time
  i64 rows, columns, depth, blocks, experts;
  i64 outer[kOuter];
  Rows a_rows, a_s_rows, c_rows, addend_rows;
  i64 a_s_block;
  i64 b_expert, b_row;
  i64 b_s_expert, b_s_row, b_s_block;
  i64 bias_expert, bias_step;
  i64 id_step, count_step;
  u32 row_tiles, column_tiles;  ///< of one expert's product
};

}  // namespace isomer::device
