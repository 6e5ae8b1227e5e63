#pragma once

namespace isomer::oracle {

/// How far, of the sum of absolute products, Hopper's tensor cores may be with FP8, since they align products
/// to the largest of 32: cuBLASLt 13.1's block-scaled products on an H200 are up to 2^-9.9 away where K is
/// 512, ours of one block 2^-9.4. Logits of attention were 2^-11.7 away. No way to get it wrong: a reference
/// that is asked with "sums=short" makes room for it.
constexpr double kShortSums = 0x1p-9;

}  // namespace isomer::oracle
