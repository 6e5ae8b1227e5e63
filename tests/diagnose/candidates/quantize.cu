// destindex_copy_quantize_kv with one fault each, by a number that says which.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>

#include "dlpack.h"

enum Fault {
  kNone,
  kRounds,
  kKeepsScale,
  kNarrowQuotient,
  kReciprocal,
  kClamps,
  kGuards,
  kIgnoresDest,
  kNarrowRow,
  kSigned,
};

struct Strides {
  int64_t k[3], out[3], scale[2];
};

template <class Key, class Scale>
__global__ void quantize(const Key* k, const int* dest, int8_t* out, Scale* scales, int head_num, int dim,
                         Strides strides, int fault) {
  const int64_t token = blockIdx.x, row = fault == kIgnoresDest ? token : dest[token];
  for (int head = threadIdx.x; head < head_num; head += blockDim.x) {
    const Key* from = k + token * strides.k[0] + head * strides.k[1];
    int8_t* to = out + row * strides.out[0] + head * strides.out[1];
    if (fault == kNarrowRow)
      to = out + static_cast<int>(row) * static_cast<int>(strides.out[0]) + head * strides.out[1];
    float largest = 0.0f;
    for (int d = 0; d < dim; ++d) {
      const float x = static_cast<float>(from[d * strides.k[2]]), a = fault == kSigned ? x : fabsf(x);
      if (!(a <= largest)) largest = a;
    }
    float exact = largest / 127.0f;
    if (fault == kGuards && largest < 1e-6f) exact = 1.0f;
    const Scale stored = static_cast<Scale>(exact);
    const float scale = fault == kKeepsScale ? exact : static_cast<float>(stored);
    for (int d = 0; d < dim; ++d) {
      const float x = static_cast<float>(from[d * strides.k[2]]);
      float q = fault == kReciprocal ? x * (1.0f / scale) : x / scale;
      if (fault == kNarrowQuotient) q = static_cast<float>(static_cast<__half>(q));
      q = fault == kRounds ? roundf(q) : truncf(q);
      if (!(q == q)) q = 0.0f;
      const float least = fault == kClamps ? -127.0f : -128.0f;
      to[d * strides.out[2]] = static_cast<int8_t>(fminf(fmaxf(q, least), 127.0f));
    }
    scales[row * strides.scale[0] + head * strides.scale[1]] = stored;
  }
}

template <class Key, class Scale>
void compact(const Key* k, const int* dest, int8_t* out, Scale* scales, int tokens, int head_num, int dim,
             int fault) {
  const int64_t row = static_cast<int64_t>(head_num) * dim;
  const Strides strides = {{row, dim, 1}, {row, dim, 1}, {head_num, 1}};
  if (tokens > 0) quantize<<<tokens, 32>>>(k, dest, out, scales, head_num, dim, strides, fault);
}

#define CANDIDATE(NAME, KEY, SCALE, FAULT)                                                           \
  extern "C" void NAME(const KEY* K, const int* DestLoc, int8_t* Out, SCALE* Out_scale, int seq_len, \
                       int head_num, int head_dim) {                                                 \
    compact(K, DestLoc, Out, Out_scale, seq_len, head_num, head_dim, FAULT);                         \
  }
CANDIDATE(quantize_right, __half, __half, kNone)
CANDIDATE(quantize_right_f32, float, float, kNone)
CANDIDATE(quantize_rounds, __half, __half, kRounds)
CANDIDATE(quantize_keeps_scale, __half, __half, kKeepsScale)
CANDIDATE(quantize_narrow_quotient, __half, __half, kNarrowQuotient)
CANDIDATE(quantize_reciprocal, float, float, kReciprocal)
CANDIDATE(quantize_clamps, __half, __half, kClamps)
CANDIDATE(quantize_guards, float, float, kGuards)
CANDIDATE(quantize_signed, __half, __half, kSigned)
CANDIDATE(quantize_ignores_dest, __half, __half, kIgnoresDest)

static bool is_f32(const DLTensor* t) { return t->dtype.code == 2 && t->dtype.bits == 32; }
static bool is_f16(const DLTensor* t) { return t->dtype.code == 2 && t->dtype.bits == 16; }

static Strides strides_of(const DLTensor* k, const DLTensor* out, const DLTensor* scale) {
  return {{k->strides[0], k->strides[1], k->strides[2]},
          {out->strides[0], out->strides[1], out->strides[2]},
          {scale->strides[0], scale->strides[1]}};
}

template <class Key, class Scale>
void strided(const DLTensor* k, const DLTensor* dest, DLTensor* out, DLTensor* scale, const Strides& strides,
             int fault = kNone) {
  if (k->shape[0] > 0)
    quantize<<<k->shape[0], 32>>>(data_of<Key>(k), data_of<int>(dest), data_of<int8_t>(out),
                                  data_of<Scale>(scale), static_cast<int>(k->shape[1]),
                                  static_cast<int>(k->shape[2]), strides, fault);
}

extern "C" void tensors_right(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                              DLTensor* Out_scale) {
  if (!is_f16(K) || !is_f16(Out_scale)) throw std::runtime_error("K and Out_scale must be float16");
  strided<__half, __half>(K, DestLoc, Out, Out_scale, strides_of(K, Out, Out_scale));
}
extern "C" void tensors_narrow_row(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                                   DLTensor* Out_scale) {
  strided<__half, __half>(K, DestLoc, Out, Out_scale, strides_of(K, Out, Out_scale), kNarrowRow);
}
extern "C" void tensors_want_f32(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                                 DLTensor* Out_scale) {
  if (!is_f32(K)) throw std::runtime_error("K must be float32");
  strided<float, __half>(K, DestLoc, Out, Out_scale, strides_of(K, Out, Out_scale));
}
extern "C" void tensors_read_f32(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                                 DLTensor* Out_scale) {
  // Half of the rows lie behind the buffer's end: only as many as it holds.
  Strides strides = strides_of(K, Out, Out_scale);
  if (!is_f32(K)) strides.k[0] /= 2;
  strided<float, __half>(K, DestLoc, Out, Out_scale, strides);
}
extern "C" void tensors_want_rank_2(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                                    DLTensor* Out_scale) {
  if (Out_scale->ndim != 2) throw std::runtime_error("Out_scale must have 2 dimensions");
  strided<__half, __half>(K, DestLoc, Out, Out_scale, strides_of(K, Out, Out_scale));
}
extern "C" void tensors_want_64(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                                DLTensor* Out_scale) {
  if (K->shape[2] > 64) throw std::runtime_error("head_dim must be at most 64");
  tensors_right(K, DestLoc, Out, Out_scale);
}
extern "C" void tensors_are_compact(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                                    DLTensor* Out_scale) {
  const int64_t dim = K->shape[2], row = K->shape[1] * dim;
  strided<__half, __half>(K, DestLoc, Out, Out_scale, {{row, dim, 1}, {row, dim, 1}, {K->shape[1], 1}});
}
extern "C" void tensors_have_no_offset(const DLTensor* K, const DLTensor* DestLoc, DLTensor* Out,
                                       DLTensor* Out_scale) {
  DLTensor from_begin = *K;
  from_begin.byte_offset = 0;
  tensors_right(&from_begin, DestLoc, Out, Out_scale);
}
