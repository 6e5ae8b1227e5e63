// A group of lanes takes one run at a time: the maximum by shuffles, then the quotients. Runs that are short
// enough stay in registers, several under way in a thread; longer ones are read twice. Vectors are 16 bytes
// of k where every run of k and out is aligned for them, else single elements at any distance. A warp has
// adjacent runs, mostly those of a token, and writes their scales at once.
#include "gpu/device/async_copy.cuh"
#include "gpu/device/integer.cuh"
#include "gpu/device/overlap.cuh"
#include "gpu/device/pairs.cuh"
#include "gpu/device/portable.cuh"
#include "gpu/device/quotient.cuh"
#include "ops/quantize_copy_kv/kernels/quantize_copy_kv.h"

namespace isomer::device {

constexpr int kThreads = ISOMER_THREADS, kVector = ISOMER_VECTOR, kLanes = ISOMER_LANES_PER_RUN;
constexpr bool kEmpty = ISOMER_VECTORS == 0;           // runs have no channels: their scale is that of zeros
constexpr int kVectors = kEmpty ? 1 : ISOMER_VECTORS;  // of a run, in one lane at once
constexpr int kUnroll = ISOMER_UNROLL, kDims = ISOMER_DIMS;
constexpr bool kInPieces = ISOMER_IN_PIECES;                                // of kLanes × kVectors vectors
constexpr int kWarps = kThreads / kWarpSize, kGroups = kWarpSize / kLanes;  // of a warp
constexpr int kRuns = kGroups * kUnroll;                                    // of a warp
constexpr bool kGathered = kLanes > 1;  // scales of adjacent lanes need no gathering
/// The runs of a warp are of one token, or of one head, and fill the lanes' vectors.
constexpr bool kWhole = ISOMER_WHOLE;
// Blocks on a multiprocessor: mostly 64 KB or more under way.
constexpr int kResident = !kWhole ? 1 : kUnroll * kVectors <= 2 ? 10 : kGathered ? 9 : 8;
using Element = ISOMER_ELEMENT;
using Scale = ISOMER_SCALE_ELEMENT;
using Index = ISOMER_INDEX;
using Values = Vector<Element, kVector>;

template <bool kWide>
struct ChannelIndex {
  using Type = int;
};
template <>
struct ChannelIndex<true> {
  using Type = i64;
};
/// Runs that stay in registers have few channels.
using Channel = ChannelIndex<kInPieces>::Type;

template <int kBytes>
struct UnsignedOf {
  using Type = u16;
};
template <>
struct UnsignedOf<4> {
  using Type = u32;
};

/// Where a run is: its token, and how far into the token's row.
struct Run {
  Index token;
  i64 k, out, scale;
};

ISOMER_DEVICE Run run_of(Index index, const QuantizeCopyKvParameters& p) {
  Run run{index, 0, 0, 0};
#pragma unroll
  for (int d = 0; d < kDims - 1; ++d) {
    const Index outer = quotient_of(run.token, p.size[d]);
    const i64 inside = static_cast<i64>(run.token - outer * static_cast<Index>(p.size[d].value));
    run.k += inside * p.k_stride[d];
    run.out += inside * p.out_stride[d];
    run.scale += inside * p.scale_stride[d];
    run.token = outer;
  }
  run.k += static_cast<i64>(run.token) * p.k_stride[kDims - 1];
  return run;
}

/// The row of out; anything may stand there.
ISOMER_DEVICE i64 row_of(Index token, const QuantizeCopyKvParameters& p) {
  const i64 at = static_cast<i64>(token) * p.dest_stride;
  return p.dest_is_i64 ? static_cast<const i64*>(p.dest)[at] : static_cast<const i32*>(p.dest)[at];
}

/// Element `channel` and its neighbours of a vector.
ISOMER_DEVICE Values read(const Element* k, Channel channel, const QuantizeCopyKvParameters& p) {
  if constexpr (kVector > 1)
    return load_once<kVector>(k + channel);
  else
    return load_once<kVector>(k + channel * p.k_channel);
}
template <int N>
ISOMER_DEVICE void write(i8* out, Channel channel, const f32 (&values)[N],
                         const QuantizeCopyKvParameters& p) {
  if constexpr (N > 1)
    store_unordered<N / 4>(reinterpret_cast<u32*>(out + channel), truncate_to_bytes(values));
  else
    store_unordered(out + channel * p.out_channel, static_cast<i8>(truncate_to_i8(values[0])));
}

ISOMER_DEVICE void write_scale(i64 row, const Run& run, Scale scale, const QuantizeCopyKvParameters& p) {
  using Bits = UnsignedOf<sizeof(Scale)>::Type;
  store_unordered_to_stay(static_cast<Bits*>(p.out_scale) + row * p.scale_stride[kDims - 1] + run.scale,
                          bit_cast<Bits>(scale));
}

/// The largest magnitude so far, NaN above all. Those of 16 bits are compared as they are, two at once:
/// unconverted they wait in half as many registers for their quotients.
constexpr bool kPairs = sizeof(Element) == 2 && kVector > 1;
template <bool kIsPair>
struct Largest {
  f32 value = 0;
  ISOMER_DEVICE void take(const Values& in) {
    f32 values[kVector];
    to_f32(in, values);
#pragma unroll
    for (int i = 0; i < kVector; ++i) value = max_with_nan(value, fabsf(values[i]));
  }
  ISOMER_DEVICE f32 of_lanes() const { return max_with_nan_lanes<kLanes>(value); }
};
template <>
struct Largest<true> {
  u32 pair = 0;
  ISOMER_DEVICE void take(const Values& in) {
    constexpr int kWords = sizeof(Values) / 4 > 0 ? sizeof(Values) / 4 : 1;
    u32 words[kWords] = {};
    copy_bytes(words, &in, sizeof in);
#pragma unroll
    for (int i = 0; i < kWords; ++i) pair = max_of_halves(pair, words[i] & 0x7fff7fffu);
  }
  ISOMER_DEVICE f32 of_lanes() const {
    const u32 most = reduce_lanes<kLanes>(pair, [](u32 a, u32 b) { return max_of_halves(a, b); });
    const u32 low = most & 0xffffu, high = most >> 16;
    const auto bits = static_cast<u16>(low > high ? low : high);
    Element largest{};  // of 16 bits where this is used
    copy_bytes(&largest, &bits, sizeof bits);
    return to_f32(largest);
  }
};

/// amax / 127, correctly rounded for 0, NaN and what is between the bounds; then in the scale's type.
ISOMER_DEVICE Scale usual_scale(f32 amax) {
  constexpr f32 kReciprocal = 1.0f / 127.0f;
  return from_f32<Scale>(Quotient::correct(amax, amax * kReciprocal, 127.0f, kReciprocal));
}
/// True where amax / 127 or a quotient must be divided out. A scale that is NaN or inf gives zeros without
/// that.
ISOMER_DEVICE bool is_unusual(f32 amax, f32 scale) {
  return (amax > 0) & !((amax >= 0x1p-70f) & (amax <= 0x1p100f) & (scale > 0));
}

extern "C" __global__ void __launch_bounds__(kThreads, kResident)
    isomer_quantize_copy_kv(const QuantizeCopyKvParameters p) {
  wait_for_previous();
  let_next_begin();
  __shared__ Scale scales[kWarps][kRuns];
  const int group = lane() / kLanes, member = lane() % kLanes;
  const Index begin = (static_cast<Index>(blockIdx.x) * kWarps + static_cast<Index>(warp())) * kRuns;
  const auto last = static_cast<Index>(p.runs - 1);
  const auto index_of = [&](int u) { return begin + static_cast<Index>(u * kGroups + group); };
  if (kWhole && begin > last) return;
  const Run warp_run = kWhole ? run_of(begin, p) : Run{};
  const i64 warp_row = kWhole ? row_of(warp_run.token, p) : 0;
  const Run lane_run{warp_run.token, warp_run.k + group * p.k_stride[0],
                     warp_run.out + group * p.out_stride[0], warp_run.scale + group * p.scale_stride[0]};
  // Past the end the last one is read again, and so is a run's last vector: no branch stands between the
  // reads.
  const auto run_at = [&](int u) {
    if constexpr (kWhole) {
      const int on = u * kGroups;
      return Run{lane_run.token, lane_run.k + on * p.k_stride[0], lane_run.out + on * p.out_stride[0],
                 lane_run.scale + on * p.scale_stride[0]};
    } else {
      const Index index = index_of(u);
      return run_of(index < last ? index : last, p);
    }
  };
  const auto length = static_cast<Channel>(p.length);
  const auto channel_at = [&](int v) { return static_cast<Channel>((v * kLanes + member) * kVector); };
  const auto read_at = [&](const Element* k, Channel channel) {
    if constexpr (kEmpty) return Values{};
    return read(k, kWhole || channel < length ? channel : length - kVector, p);
  };
  const auto is_written = [&](int u, i64 row) {
    return (kWhole || index_of(u) <= last) && row >= 0 && row < p.out_rows;
  };
  const auto put_scale = [&](int u, i64 row, const Run& run, Scale scale) {
    if (member != 0) return;
    if constexpr (kGathered)
      scales[warp()][u * kGroups + group] = scale;
    else
      write_scale(row, run, scale, p);
  };
  constexpr int kPiece = kLanes * kVectors * kVector;

  Values in[kUnroll][kVectors];
  i64 row[kUnroll];
  f32 amax[kUnroll];
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    const Run run = run_at(u);
    row[u] = kWhole ? warp_row : row_of(run.token, p);
    const Element* k = static_cast<const Element*>(p.k) + run.k;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) in[u][v] = read_at(k, channel_at(v));
  }

  // Asked of all runs together, before anything is written: else the compiler reads a run when the one before
  // is done.
  bool unusual = false;
#pragma unroll
  for (int u = 0; u < kUnroll; ++u) {
    Largest<kPairs> most;
#pragma unroll
    for (int v = 0; v < kVectors; ++v) most.take(in[u][v]);
    if constexpr (kInPieces) {
      const Element* k = static_cast<const Element*>(p.k) + run_at(u).k;
#pragma unroll 1
      for (Channel from = kPiece; from < length; from += kPiece) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          in[u][v] = read_at(k, from + channel_at(v));
          most.take(in[u][v]);
        }
      }
    }
    amax[u] = most.of_lanes();
    unusual |= is_unusual(amax[u], to_f32(usual_scale(amax[u])));
  }
  if (!unusual) {
#pragma unroll
    for (int u = 0; u < kUnroll; ++u) {
      const Run run = run_at(u);
      const Scale stored = usual_scale(amax[u]);
      const Quotient quotient(to_f32(stored));
      if (!is_written(u, row[u])) continue;
      put_scale(u, row[u], run, stored);
      const Element* k = static_cast<const Element*>(p.k) + run.k;
      i8* out = static_cast<i8*>(p.out) + row[u] * p.out_stride[kDims - 1] + run.out;
      const auto quantize = [&](Channel from) {
#pragma unroll
        for (int v = 0; v < kVectors; ++v) {
          const Channel channel = from + channel_at(v);
          if (!kWhole && channel >= length) break;
          f32 values[kVector];
          to_f32(in[u][v], values);
#pragma unroll
          for (int i = 0; i < kVector; ++i) values[i] = quotient.of(values[i]);
          write(out, channel, values, p);
        }
      };
      if constexpr (kInPieces) {
#pragma unroll 1
        for (Channel from = 0; from < length; from += kPiece) {
#pragma unroll
          for (int v = 0; v < kVectors; ++v) in[u][v] = read_at(k, from + channel_at(v));
          quantize(from);
        }
      } else {
        quantize(0);
      }
    }
  } else {
    // Quotients are divided out, of the lane's other runs too.
#pragma unroll 1
    for (int u = 0; u < kUnroll; ++u) {
      f32 most = amax[0];
      i64 to = row[0];
#pragma unroll
      for (int w = 1; w < kUnroll; ++w) {
        most = w == u ? amax[w] : most;
        to = w == u ? row[w] : to;
      }
      if (!is_written(u, to)) continue;
      const Run run = run_at(u);
      const Scale stored = from_f32<Scale>(most / 127.0f);
      put_scale(u, to, run, stored);
      const f32 scale = to_f32(stored);
      const Element* k = static_cast<const Element*>(p.k) + run.k;
      i8* out = static_cast<i8*>(p.out) + to * p.out_stride[kDims - 1] + run.out;
#pragma unroll 1
      for (Channel from = member * kVector; from < length; from += kLanes * kVector)
#pragma unroll 1
        for (Channel channel = from; channel < from + kVector; ++channel) {
          const f32 quotient = to_f32(k[channel * p.k_channel]) / scale;
          store_unordered(out + channel * p.out_channel, static_cast<i8>(truncate_to_i8(quotient)));
        }
    }
  }
  if constexpr (kGathered) {
    warp_barrier();
    for (int i = lane(); i < kRuns && begin + static_cast<Index>(i) <= last; i += kWarpSize) {
      Run run{warp_run.token, 0, 0, warp_run.scale + i * p.scale_stride[0]};
      if constexpr (!kWhole) run = run_of(begin + static_cast<Index>(i), p);
      const i64 to = kWhole ? warp_row : row_of(run.token, p);
      if (to >= 0 && to < p.out_rows) write_scale(to, run, scales[warp()][i], p);
    }
  }
}

}  // namespace isomer::device
