// What the kernels keep in shared memory, in bytes: the plan's numbers, which the kernels hold theirs
// against.
#pragma once

namespace isomer::device {

/// Elements of K, and rows of b, under one scale.
constexpr int kScaleBlock = 128;

/// Dynamic, of a stage of fp8_gemm_tile: rows of a and of b, a scale for each row of a, and b's, padded.
constexpr int tile_stage_bytes(int tile_m, int tile_n) {
  return (tile_m + tile_n) * kScaleBlock + 4 * tile_m + 128;
}
/// Dynamic, of a stage of one warp of fp8_gemm_skinny: rows of b and of a, and the scales, padded.
constexpr int skinny_stage_bytes(int tokens, int columns) { return (columns + tokens) * kScaleBlock + 128; }

/// Static, of a table of rows: four offsets and a byte for each.
constexpr int row_table_bytes(int rows) { return (rows * 33 + 7) / 8 * 8; }
/// Static, of what the warps of fp8_gemm_skinny add up.
constexpr int skinny_sums_bytes(int warps, int tokens, int columns) {
  return warps * tokens * (columns + 1) * 4;
}
/// Dynamic, of fp8_gemm_sm90 beside its stages: c for bulk copies with two barriers for each chunk of a
/// warpgroup, and sums that blocks that divide K are handed.
constexpr int sm90_fixed_bytes(int tile_m, int tile_n, int split, int chunks, bool bulk_store) {
  return (bulk_store ? 2 * tile_m * (tile_n / split) + tile_m / 64 * (split > 1 ? 1 : chunks) * 2 * 8 : 0) +
         (split > 1 ? 4 * tile_m * tile_n : 0);
}
/// Slots for scales, `at_once` blocks of K each: a power of two, of as many blocks as there are stages (at
/// most eight). More at once would come in front of the first bytes of b.
constexpr int sm90_slots(int stages, int at_once) {
  return stages <= 2 * at_once ? 2 : stages <= 4 * at_once ? 4 : 8;
}
/// Blocks of 128 columns that a tile meets at most: a tile of 192 begins at a multiple of 64, one of 176 at
/// any multiple of 16.
constexpr int sm90_scale_columns(int tile_n) { return tile_n % 64 == 0 ? 2 : 3; }
/// Of a slot: a_s of the tile's rows, b_s of its blocks of columns, padded.
constexpr int sm90_slot_bytes(int tile_m, int tile_n, int at_once) {
  return tile_m * at_once * 4 + (4 * sm90_scale_columns(tile_n) * at_once + 15) / 16 * 16;
}
/// Dynamic, of its stages and slots: rows of a and of b, scales, two barriers each.
constexpr int sm90_staged_bytes(int tile_m, int tile_n, int stages, int at_once) {
  return stages * ((tile_m + tile_n) * kScaleBlock + 2 * 8) +
         sm90_slots(stages, at_once) * (sm90_slot_bytes(tile_m, tile_n, at_once) + 2 * 8);
}
/// Between two variables that lie beside each other, at most.
constexpr int kGapBytes = 64;

}  // namespace isomer::device
