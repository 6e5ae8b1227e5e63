#pragma once

#include "core/plan.hpp"
#include "lab/check/outcome.hpp"
#include "oracle/expected.hpp"
#include "oracle/variation.hpp"

#include <string>

namespace isomer::lab {

/// What the reference lets an implementation do that another may not.
struct Allowance {
  bool division = false;    ///< differ by `lenient`: it divides approximately
  bool order = false;       ///< hold one of `others`: its threads write in any order
  bool short_sums = false;  ///< sum FP8 products as Hopper's tensor cores do, in fewer bits than f32 has
};
Allowance allowance_of(const core::Implementation& implementation);
/// How the reference is asked for its values and bounds under that allowance.
oracle::Variations asked_with(Allowance allowance);

/// Holds a CPU output against what it must be: adds its errors to `outcome` and returns a sentence for the
/// first element that is wrong, with their number; empty where none is. Elements that the op does not write
/// are not looked at.
std::string compare(const oracle::ExpectedTensor& expected, const Tensor& got, Allowance allowance,
                    Outcome& outcome);

}  // namespace isomer::lab
