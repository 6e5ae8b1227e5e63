#pragma once

#include <isomer/dtype.hpp>

#include "cpu/target.hpp"

#include <cstddef>
#include <cstdint>

/// The vector code of attention, in f32 whatever the element type.
namespace isomer::ops::attention {

/// Key ranges of the kernels begin and end at multiples of this: a whole vector of the widest target.
inline constexpr int kKeyStep = 16;

/// The query rows of one kernel call and what the online softmax carries for them.
///
/// Prefill: one row per lane, `width` lanes of one to three vectors; q is [head_dim][width], scores
/// [key][width], o [head_dim_v][width]. Keys and values enter as broadcasts, so that nothing is transposed
/// and the softmax needs no horizontal step.
///
/// Decode: one, two or four rows, vectors run along the head dimension, because most lanes of rows
/// would be empty. q is [row][q_stride], scores [row][score_stride], o [row][o_stride].
struct Strip {
  int width = 0;             ///< rows; prefill: rounded up to whole vectors
  const float* q = nullptr;  ///< times the scale, so that q·k is the logit (over the cap under softcap)
  float* scores = nullptr;   ///< logits, then P
  float* o = nullptr;        ///< Σ P·v so far
  float* max = nullptr;      ///< row maximum so far, −inf before the first key
  float* sum = nullptr;      ///< row sum of P so far
  const int* key_begin = nullptr;  ///< the row sees keys [key_begin, key_end) of the block
  const int* key_end = nullptr;
  std::ptrdiff_t q_stride = 0, o_stride = 0, score_stride = 0;  ///< floats; decode only
  float softcap = 0;                                            ///< logits = softcap·tanh(q·k); 0 off
  int head_dim = 0, head_dim_v = 0;
};

/// Prefill: keys and values of one block as f32, row j at k + j·k_stride.
struct PackedKeys {
  const float* k = nullptr;
  const float* v = nullptr;
  std::ptrdiff_t k_stride = 0, v_stride = 0;  ///< floats
};

/// Decode: where the rows of one block lie, in their own type. Each is read once, so converting it in passing
/// beats writing it down.
struct KeyRows {
  DType dtype = DType::none;
  const std::byte* const* k = nullptr;
  const std::byte* const* v = nullptr;
  std::ptrdiff_t k_offset = 0, v_offset = 0;  ///< bytes from each of those to the head's row
  /// Memory sets the pace: the values are fetched while the scores are computed, and these keys, which come
  /// next, while the values are summed. Null: neither.
  const std::byte* const* next = nullptr;
  std::ptrdiff_t next_offset = 0;
};

/// Rows of an int8 cache and where their scales lie: element c of a row is int8 · scale[c / 8 · step], in
/// f32.
struct Int8Rows {
  const std::byte* const* rows = nullptr;
  const std::byte* const* scales = nullptr;
  DType scale_type = DType::none;
  std::ptrdiff_t step = 0;  ///< elements from the scale of 8 channels to that of the next; 0: one for the row
};

/// Keys [first, last) of the block join the strip's softmax; `masked` where some row does not see all of
/// them.
struct Kernels {
  int lanes;         ///< f32 lanes of a vector
  int prefill_rows;  ///< rows of a full prefill strip
  int decode_rows;   ///< most rows of a decode strip
  int few_rows;      ///< up to so many rows of one kv head are decoded
  void (*prefill)(const Strip& strip, const PackedKeys& keys, int first, int last, bool masked);
  void (*decode)(const Strip& strip, const KeyRows& keys, int first, int last, bool masked);
  /// `number` rows of `count` elements into rows of f32, zero from there up to `padded`. The target is
  /// written in whole vectors.
  void (*load)(DType dtype, const std::byte* const* rows, int number, int count, float* to,
               std::ptrdiff_t stride, int padded);
  /// As load, of int8 rows.
  void (*load_int8)(const Int8Rows& rows, int number, int count, float* to, std::ptrdiff_t stride,
                    int padded);
  /// One row, rounded to nearest even.
  void (*store)(DType dtype, const float* from, std::byte* to, int count);
};

/// The kernels of a target.
Kernels kernels(cpu::Target target);

/// Their two halves, each in a file of its own.
struct PrefillKernels {
  int lanes, rows;
  decltype(Kernels::prefill) run;
  decltype(Kernels::load) load;
  decltype(Kernels::load_int8) load_int8;
  decltype(Kernels::store) store;
};
struct DecodeKernels {
  int rows, few_rows;
  decltype(Kernels::decode) run;
};
const cpu::PerTarget<PrefillKernels (*)()>& prefill_kernels();
const cpu::PerTarget<DecodeKernels (*)()>& decode_kernels();

}  // namespace isomer::ops::attention
