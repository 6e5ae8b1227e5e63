#pragma once

#include "gpu/device/divisor.h"
#include "gpu/device/types.h"

namespace isomer::device {

/// A run is what shares a scale: a head of a token, or a group of its channels. Runs lie along up to 3
/// dimensions, innermost first and tokens last. Strides are in elements of their tensor.
struct QuantizeCopyKvParameters {
  static constexpr int kDims = 3;
  const void* k;
  const void* dest;
  void* out;
  void* out_scale;
  i64 runs;
  i64 out_rows;  ///< tokens whose dest is not below it are skipped
  i64 length;    ///< channels of a run
  i64 dest_is_i64;
  i64 dest_stride;
  i64 k_channel, out_channel;
  Divisor size[kDims];
  i64 k_stride[kDims];
  i64 out_stride[kDims], scale_stride[kDims];  ///< the last ones between rows of out
};

}  // namespace isomer::device
