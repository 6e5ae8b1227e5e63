#pragma once

#include "lab/bench/bench.hpp"

namespace isomer::lab {

/// Seconds of a clock that never goes back.
double clock_seconds();

Spread spread_of(std::vector<double> values);

/// Whether the reference is quick enough on such a call for a bench to wait for it.
bool quick_to_verify(const core::Work& work);

}  // namespace isomer::lab
