// Rows of 16-bit elements that lie anywhere in memory, multiplied by tensor cores as a warp of 32 lanes reads
// them:
//   Sᵀ (16 rows × 8) = K (16 × D) · Qᵀ,   Oᵀ (D × 8) += Vᵀ (D × 16) · Pᵀ.
// Which element of D, and which row of Oᵀ, a lane has is free as long as both sides agree, so a lane reads 16
// bytes of its rows where they lie. With g = lane / 4 and t = lane % 4:
//   K: rows g and g + 8, elements 32i + 8t … + 7;   V: rows 2t, 2t + 1, 2t + 8, 2t + 9, elements 64i + 8g …
//   + 7.
#pragma once

#include "gpu/device/mma.cuh"
#include "gpu/device/words.cuh"

namespace isomer::device {

/// s += K·Qᵀ: s[0] and s[1] are row g, columns 2t and 2t + 1; s[2] and s[3] row g + 8. q is column g,
/// elements as of K.
template <class T, int kSteps>
ISOMER_DEVICE void add_products(f32 (&s)[4], const Words (&k)[2][kSteps], const Words (&q)[kSteps]) {
#pragma unroll
  for (int i = 0; i < kSteps; ++i)
#pragma unroll
    for (int w = 0; w < 4; w += 2)
      multiply_add<T>(s, {k[0][i].of[w], k[1][i].of[w], k[0][i].of[w + 1], k[1][i].of[w + 1]},
                      {q[i].of[w], q[i].of[w + 1]});
}

/// The same for all columns of q, with rows of e4m3fn that become T: pieces of 16 bytes, which are elements
/// 64i
/// + 16t … + 15 of a row; q has as many in two pieces. Each element is converted once.
template <class T, int kColumns, int kPieces>
ISOMER_DEVICE void add_byte_products(f32 (&s)[kColumns][4], const Words (&k)[2][kPieces],
                                     const Words (&q)[kColumns][2 * kPieces]) {
#pragma unroll
  for (int i = 0; i < kPieces; ++i)
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      u32 a[4];
      e4m3fn_to<T>(k[0][i].of[w], a[0], a[2]);
      e4m3fn_to<T>(k[1][i].of[w], a[1], a[3]);
#pragma unroll
      for (int n = 0; n < kColumns; ++n) {
        const Words& columns = q[n][2 * i + w / 2];
        multiply_add<T>(s[n], a, {columns.of[w % 2 * 2], columns.of[w % 2 * 2 + 1]});
      }
    }
}

/// The weights of rows 0…7 (or 8…15) as add_rows takes them, from those that a lane has of row g, columns 2t
/// and 2t + 1.
template <class T>
ISOMER_DEVICE u32 weights_of(f32 first, f32 second) {
  return transpose_8x8(pack<T>(first, second));
}

/// Word w of piece i of the rows of V as the left factor of a product with their weights.
template <int kChunks>
ISOMER_DEVICE Words columns_of(const Words (&v)[4][kChunks], int i, int w) {
  return {{lows_of(v[0][i].of[w], v[1][i].of[w]), highs_of(v[0][i].of[w], v[1][i].of[w]),
           lows_of(v[2][i].of[w], v[3][i].of[w]), highs_of(v[2][i].of[w], v[3][i].of[w])}};
}

/// out += Vᵀ·Pᵀ: out[n][i][w] holds elements 64i + 8g + 2w (0 and 1) and the next one (2 and 3) of columns 8n
/// + 2t and 8n + 2t + 1.
template <class T, int kColumns, int kChunks>
ISOMER_DEVICE void add_rows(f32 (&out)[kColumns][kChunks][4][4], const Words (&v)[4][kChunks],
                            const u32 (&weights)[kColumns][2]) {
#pragma unroll
  for (int i = 0; i < kChunks; ++i)
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      const Words rows = columns_of(v, i, w);
#pragma unroll
      for (int n = 0; n < kColumns; ++n) multiply_add<T>(out[n][i][w], rows.of, weights[n]);
    }
}

}  // namespace isomer::device
