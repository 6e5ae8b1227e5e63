#pragma once

#include "core/plan.hpp"
#include "oracle/oracle.hpp"

#include <functional>
#include <memory>
#include <string>

namespace isomer::lab {

/// An implementation that writes what `compute` makes of the call: faults on purpose, to show that the cases
/// see them.
std::unique_ptr<core::Implementation> plant(std::string name, std::function<void(const core::Call&)> compute);

/// `planted/<variation>`: the op's reference with one variation on.
std::unique_ptr<core::Implementation> plant_variation(const oracle::Oracle& oracle,
                                                      const oracle::Variation& variation);

/// What the reference gives for a call: several plants may share one run of it.
using Expectation = std::function<const oracle::Expected&(const core::Call&)>;

/// The reference itself; `planted/zero`: every output 0; `planted/mean`: every output its correct mean;
/// `planted/copy`: the elements of the first input, over and over.
std::unique_ptr<core::Implementation> plant_reference(Expectation answer);
std::unique_ptr<core::Implementation> plant_zero();
std::unique_ptr<core::Implementation> plant_mean(Expectation answer);
std::unique_ptr<core::Implementation> plant_copy();

}  // namespace isomer::lab
