// Rows of one scale block of K in shared memory: 128 codes a row, its eight pieces of 16 bytes permuted by
// the row's number, so that ldmatrix meets no bank twice.
#pragma once

#include "gpu/device/async_copy.cuh"
#include "gpu/device/mma.cuh"
#include "ops/fp8_gemm/kernels/tile.cuh"

namespace isomer::device {

/// Where a piece of a row lies.
ISOMER_DEVICE int place(int row, int piece) { return row * kScaleBlock + ((piece ^ (row & 7)) * 16); }

/// 16 codes of a row that begins at a multiple of kCopy bytes (16, 4 or 1); zeros behind the first `valid`.
template <int kCopy>
ISOMER_DEVICE void copy_piece(u8* to, const u8* from, int valid) {
  if constexpr (kCopy == 16) {
    copy_async<16>(to, from, valid);
  } else if constexpr (kCopy == 4) {
#pragma unroll 1
    for (int byte = 0; byte < 16; byte += 4)
      copy_async<4>(to + byte, from + byte, valid < byte ? 0 : valid - byte < 4 ? valid - byte : 4);
  } else {
#pragma unroll 4
    for (int byte = 0; byte < 16; ++byte) to[byte] = byte < valid ? from[byte] : u8{0};
  }
}

/// kRows rows of codes that kThreads threads bring together, each one piece of every kStep-th row. An address
/// for each row is kept, for whatever is asked anew at every scale block stands beside the products.
template <int kRows, int kThreads, int kCopy>
struct RowCopies {
  static constexpr int kCount = kRows * 8 / kThreads, kStep = kThreads / 8;
  const u8* source[kCount];
  int first, piece;

  /// `thread` is this one's number among them; row(r) is where row r begins.
  template <class Row>
  ISOMER_DEVICE RowCopies(int thread, Row row) : first(thread / 8), piece(thread % 8) {
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      source[i] = row(first + i * kStep) + piece * 16;
      keep_computed(source[i]);
    }
  }

  /// A bit for each of this thread's rows.
  template <class There>
  ISOMER_DEVICE u32 rows_where(There there) const {
    u32 bits = 0;
#pragma unroll
    for (int i = 0; i < kCount; ++i) bits |= there(first + i * kStep) ? 1u << i : 0u;
    return bits;
  }

  /// One scale block, with zeros behind `depth` and for the rows that are not `present`.
  ISOMER_DEVICE void copy(u8* to, i64 block, i64 depth, u32 present = ~0u) const {
    const i64 begin = block * kScaleBlock, left = depth - begin - piece * 16;
    const int whole = static_cast<int>(left < 0 ? 0 : left < 16 ? left : 16);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      copy_piece<kCopy>(to + place(first + i * kStep, piece), source[i] + begin,
                        (present >> i & 1u) != 0 ? whole : 0);
  }
};

/// Two steps of K of 16 rows as ldmatrix gives them, from piece `piece` on.
ISOMER_DEVICE void load_rows(u32 (&to)[4], const u8* from, int first_row, int piece) {
  load_matrices(to, from + place(first_row + lane() % 16, piece + lane() / 16));
}

/// The left factor of a step (0 or 1) in f16. The dot product does not care for the order of K: of each word
/// of a row the two lower codes go to columns 2t and 2t+1 and the upper ones to 2t+8 and 2t+9, here and in
/// columns_of_step() alike.
ISOMER_DEVICE void rows_of_step(u32 (&to)[4], const u32 (&loaded)[4], int step) {
  e4m3fn_to_f16(loaded[2 * step], to[0], to[2]);
  e4m3fn_to_f16(loaded[2 * step + 1], to[1], to[3]);
}
ISOMER_DEVICE void columns_of_step(u32 (&to)[2], u32 loaded) { e4m3fn_to_f16(loaded, to[0], to[1]); }

}  // namespace isomer::device
