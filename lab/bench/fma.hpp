#pragma once

#include "cpu/target.hpp"

namespace isomer::lab {

/// Runs `rounds` of as many independent multiply-adds as hide the latency, leaves their sum in *keep, gives
/// the FLOP done.
using FmaFunction = double (*)(std::int64_t rounds, float* keep);
const cpu::PerTarget<FmaFunction>& fma_function();

}  // namespace isomer::lab
