#pragma once

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

/// The vector code of attention: everything in f32, whatever the element type.
namespace isomer::ops::attention {

/// Key ranges of the kernels begin and end at multiples of this: a whole vector of the widest target.
inline constexpr int kKeyStep = 16;

/// Query rows that one kernel call advances over keys of one block.
///
/// Across: one row per lane, `width` lanes of one to three vectors; q is [head_dim][width], scores
/// [key][width], o [head_dim_v][width]. Keys and values enter as broadcasts, so that nothing is transposed
/// and the softmax needs no horizontal step.
///
/// Along: up to four rows, vectors run along the head dimension: for decode, where most lanes of rows would
/// be empty. q is [row][k_stride], scores [row][score_stride], o [row][v_stride].
struct Strip {
  int width = 0;             ///< rows; across: rounded up to whole vectors
  const float* q = nullptr;  ///< times the scale, so that q·k is the logit (over the cap under softcap)
  float* scores = nullptr;   ///< logits, then P
  float* o = nullptr;        ///< Σ P·v so far
  float* max = nullptr;      ///< row maximum so far, −inf before the first key
  float* sum = nullptr;      ///< row sum of P so far
  const int* key_begin = nullptr;  ///< the row sees keys [key_begin, key_end) of the block
  const int* key_end = nullptr;
};

/// Keys and values of one block: row j at k + j·k_stride, zero from head_dim up to a whole vector.
struct KeyBlock {
  const float* k = nullptr;
  const float* v = nullptr;
  std::ptrdiff_t k_stride = 0, v_stride = 0;  ///< floats
  std::ptrdiff_t score_stride = 0;            ///< along: floats between the scores of two rows
  int head_dim = 0, head_dim_v = 0;
  float softcap = 0;  ///< logits = softcap·tanh(q·k); 0 off
};

/// Keys [first, last) of the block join the strip's online softmax; `masked` where some row does not see all
/// of them.
using AdvanceFunction = void (*)(const Strip& strip, const KeyBlock& block, int first, int last, bool masked);

struct Kernels {
  int lanes;        ///< f32 lanes of a vector
  int across_rows;  ///< rows of a full strip across
  int along_rows;   ///< most rows of a strip along
  int few_rows;     ///< up to so many rows of one kv head go along
  AdvanceFunction across, along;
  /// `number` rows of `count` elements into rows of f32, zero from there up to `padded`. The target is
  /// written in whole vectors.
  void (*load)(DType dtype, const std::byte* const* rows, int number, int count, float* to,
               std::ptrdiff_t stride, int padded);
  /// One row, rounded to nearest even.
  void (*store)(DType dtype, const float* from, std::byte* to, int count);
};

using KernelsFunction = const Kernels& (*)();
const cpu::PerTarget<KernelsFunction>& kernels();

}  // namespace isomer::ops::attention
